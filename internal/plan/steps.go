package plan

import (
	"slices"

	"assay"
)

// maxSteps bounds the statements of an operation, all repetitions counted.
const maxSteps = 5_000

// written is a part of an operation as the plan has it, resolved once: a
// statement, or steps that are repeated.
type written struct {
	assay.Step
	spec  *step
	loops []int // numbers of times of the repeats around it, the outermost first
	// within are the repeats themselves: two steps are repeated together as far as
	// these agree.
	within []*step
	first  int // its first argument, counted over all steps as they are written
	steps  []*written
}

// unroller makes the steps of an operation of what is written. A worker runs them one
// after the other and knows nothing of repeats.
type unroller struct {
	r       *resolver
	args    []assay.Values // of all steps as they are written
	holders []*written     // of each of these arguments
	total   int            // steps when all is repeated
	changes bool
	unclear bool // a step uses what repeated steps have drawn, and it is not known of which repetition
	// owners are where a continued column, or a row of the data, is first drawn: one
	// value for each repetition of that step, for it and the steps within.
	owners map[owned]*written
	// rows are how many rows of each table one repetition draws at most.
	rows map[string]int

	out     []assay.Step
	current []int // by argument as written, its place among the arguments of out
	placed  int   // arguments of out
}

// owned names what the steps of one operation draw together.
type owned struct {
	name string // of a continued column, or of a table
	row  int    // of the table; -1: a continued column
}

// unrolled resolves steps with their repeats, and reports whether they change data.
func (r *resolver) unrolled(steps []step) ([]assay.Step, bool) {
	u := &unroller{r: r, owners: map[owned]*written{}, rows: map[string]int{}}
	all := u.resolve(steps, nil, nil)
	if u.total > maxSteps {
		r.m.at(steps[0].place, "the operation has %d statements when all is repeated, more than %d", u.total, maxSteps)
	}
	if u.total > maxSteps || u.unclear {
		return nil, u.changes
	}
	u.current = make([]int, len(u.args))
	u.emit(all, nil)
	return u.out, u.changes
}

// resolve resolves steps once each, in the order in which they are written.
func (u *unroller) resolve(steps []step, loops []int, within []*step) []*written {
	var all []*written
	for i := range steps {
		s := &steps[i]
		w := &written{spec: s, loops: loops, within: within, first: len(u.args)}
		if s.Repeat.set() {
			times, _ := u.r.env.integer(u.r.m, s.Repeat, "repeat", 1, maxSteps)
			w.loops = append(slices.Clip(loops), int(max(1, times)))
			w.within = append(slices.Clip(within), s)
		}
		all = append(all, w)
		if s.Steps.set() {
			w.steps = u.resolve(s.Steps.items, w.loops, w.within)
			continue
		}
		var changes bool
		w.Step, changes = u.r.step(s, u.args)
		u.changes = u.changes || changes
		u.total = min(u.total+product(w.loops), maxSteps*maxSteps)
		u.own(w)
	}
	return all
}

// own notes what a step draws first, and checks what it uses of steps before it.
func (u *unroller) own(w *written) {
	for i, v := range w.Args {
		u.holders, u.args = append(u.holders, w), append(u.args, v)
		g := w.generator(i)
		switch key, has := ownedBy(g, v); {
		case v.Kind == assay.Derive && v.Of < len(u.holders) && !w.isWithin(u.holders[v.Of]):
			u.unclear = true
			u.r.m.at(g.Derive.Of.place, "argument %d belongs to repeated steps, and this step is not one of them: it is unclear which of its values is meant", v.Of+1)
		case !has:
		case u.owners[key] == nil:
			u.owners[key] = w
		case !w.isWithin(u.owners[key]):
			u.unclear = true
			u.r.m.at(g.place, "%s is drawn by earlier, repeated steps, and this step is not one of them: it is unclear which of their values is meant", key.name)
		}
		if v.Kind == assay.From {
			u.rows[v.Table] = max(u.rows[v.Table], v.Of+1)
		}
	}
}

// generator returns how an argument is written: {{rows k}} repeats the arguments.
func (w *written) generator(argument int) *generator {
	generators := w.spec.Args.items
	if len(generators) == 0 { // SQL, which shares nothing
		return &generator{}
	}
	return &generators[argument%len(generators)]
}

// ownedBy names what an argument shares with others of the operation.
func ownedBy(g *generator, v assay.Values) (owned, bool) {
	switch {
	case g.kind == "next":
		return owned{g.continued(), -1}, true
	case v.Kind == assay.From:
		return owned{v.Table, v.Of}, true
	}
	return owned{}, false
}

// isWithin reports whether a step is repeated with every repetition of another.
func (w *written) isWithin(other *written) bool {
	return len(other.within) <= len(w.within) && slices.Equal(other.within, w.within[:len(other.within)])
}

// emit appends the steps, each as often as it is repeated. at are the repetitions that
// are under way, counted from 0.
func (u *unroller) emit(all []*written, at []int) {
	for _, w := range all {
		times := 1
		if len(w.loops) > len(at) {
			times = w.loops[len(at)]
		}
		for i := range times {
			now := at
			if len(w.loops) > len(at) {
				now = append(slices.Clip(at), i)
			}
			if w.steps != nil {
				u.emit(w.steps, now)
				continue
			}
			u.place(w, now)
		}
	}
}

// place appends a step at its repetition.
func (u *unroller) place(w *written, at []int) {
	s := w.Step
	s.Args = slices.Clone(w.Args)
	for i, v := range w.Args {
		g := w.generator(i)
		owner := w
		if key, has := ownedBy(g, v); has {
			owner = u.owners[key]
		}
		index, of := repetition(at, owner.loops)
		switch {
		case v.Kind == assay.Derive && v.Of < len(u.current):
			v.Of = u.current[v.Of]
		case of == 1:
		case v.Kind == assay.Seq, v.Kind == assay.Expression, v.Kind == assay.Row:
			each := max(1, v.Step)
			v.From, v.Step = v.From+index*each, of*each
		case v.Kind == assay.From:
			v.Of += int(index) * u.rows[v.Table]
			if v.Draw == assay.Once {
				each := max(1, v.Step)
				v.From, v.Step = v.From+index*each, of*each
			}
		}
		s.Args[i] = v
		u.current[w.first+i] = u.placed
		u.placed++
	}
	u.out = append(u.out, s)
}

// repetition is the number of a repetition, and of how many, for a step that is
// repeated so many times at each level.
func repetition(at, loops []int) (index, of int64) {
	of = 1
	for level, times := range loops {
		index, of = index*int64(times)+int64(at[level]), of*int64(times)
	}
	return index, of
}

func product(factors []int) int {
	all := 1
	for _, f := range factors {
		all = min(all*f, maxSteps*maxSteps)
	}
	return all
}
