package plan

import "assay"

// maxSteps bounds the statements of an operation, all repetitions counted.
const maxSteps = 5_000

// unrolled resolves steps with their repeats, and reports whether they change data. A worker
// runs them one after the other and knows nothing of repeats.
func (r *resolver) unrolled(steps []step) (all []assay.Step, changes bool) {
	for i := range steps {
		s := &steps[i]
		var once []assay.Step
		var changing bool
		if s.Steps.set() {
			once, changing = r.unrolled(s.Steps.items)
		} else {
			var one assay.Step
			one, changing = r.step(s)
			once = []assay.Step{one}
		}
		changes = changes || changing
		times := int(r.number(s.Repeat, "repeat", 1, maxSteps, 1))
		if n := len(all) + len(once)*times; n > maxSteps {
			r.m.at(steps[0].place, "the operation has %d statements or more when all is repeated, and %d is the most", n, maxSteps)
			return nil, false
		}
		all = append(all, repeated(once, times)...)
	}
	return all, changes
}

// repeated are steps so many times, with the numbers of the operation counting on.
func repeated(once []assay.Step, times int) (all []assay.Step) {
	for i := range times {
		for _, s := range once {
			args := make([]assay.Values, len(s.Args))
			for j, v := range s.Args {
				if times > 1 {
					each := max(1, v.Step)
					v.From, v.Step = v.From+int64(i)*each, int64(times)*each
				}
				args[j] = v
			}
			if s.Args != nil {
				s.Args = args
			}
			all = append(all, s)
		}
	}
	return all
}
