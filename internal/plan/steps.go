package plan

import "assay"

// maxSteps bounds the statements of an operation, all repetitions counted.
const maxSteps = 5_000

// unrolled resolves steps with their repeats, and reports whether they change data. A worker
// runs them one after the other and knows nothing of repeats.
func (r *resolver) unrolled(steps []step) (all []assay.Step, changes bool) {
	if r.repetitions(steps) > maxSteps {
		r.m.at(steps[0].place, "the operation has %d statements when all is repeated, more than %d", r.repetitions(steps), maxSteps)
		return nil, false
	}
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
		all = append(all, repeated(once, r.times(r.m, s))...)
	}
	return all, changes
}

// times is how often a step is done.
func (r *resolver) times(m *mistakes, s *step) int {
	if !s.Repeat.set() {
		return 1
	}
	times, _ := r.env.integer(m, s.Repeat, "repeat", 1, maxSteps)
	return int(max(1, times))
}

// repetitions are how many statements steps are, up to far more than there may be.
func (r *resolver) repetitions(steps []step) (n int) {
	for i := range steps {
		each := 1
		if steps[i].Steps.set() {
			each = r.repetitions(steps[i].Steps.items)
		}
		n = min(n+each*r.times(newMistakes(""), &steps[i]), maxSteps*maxSteps)
	}
	return n
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
