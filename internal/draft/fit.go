package draft

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// triedShare is the share of the time for one bisection in which no new try begins.
const triedShare = 4

// bisections bounds how often the end of a range is moved.
const bisections = 12

// fitting makes a statement of an operation have as many rows as in the log.
type fitting struct {
	*drafter
	o         *operation
	step      int
	st        *statement
	want, got float64 // rows each time: in the log, and as the plan stands
}

// fit changes how arguments are drawn until a statement has as many rows as in the log: a
// range from a value that any row has would, of "expires_at < now", delete most rows
// where the program deletes none. What cannot be tried here is left as it is; trying
// the operation says why. It reports whether it changed anything; the error is the context's.
func (d *drafter) fit(ctx context.Context, o *operation) (moved bool, err error) {
	for i, st := range o.steps {
		step := o.logged(i)
		if step == nil || step.counted == 0 {
			continue
		}
		before := slices.Clone(st.args)
		f := &fitting{drafter: d, o: o, step: i, st: st, want: float64(step.rows) / float64(step.counted)}
		if err := f.statement(ctx); err != nil {
			return false, err
		}
		moved = moved || !slices.Equal(st.args, before)
	}
	return moved, nil
}

// statement tries what can be changed of the statement: from which table keys are drawn,
// and where a range begins and ends.
func (f *fitting) statement(ctx context.Context) error {
	guess := f.st.guess
	parents, low, high := guess.drawnFromParents(), -1, -1
	end := f.st.openEnd()
	if end < 0 {
		low, high = f.st.bothEnds()
	}
	groups := !f.st.changes() && guess.groupSources() != nil
	if parents == nil && end < 0 && low < 0 && !groups {
		return nil
	}
	limited, cancel, _ := f.limited(ctx)
	defer cancel()
	var err error
	f.got, err = f.mean(limited, f.o, f.step)
	fixed := end >= 0 && guess.fixed(end)
	if err != nil || !f.off() && !fixed {
		return ctx.Err()
	}
	if parents != nil && f.off() {
		f.parents(limited, parents)
	}
	if groups && f.off() {
		f.groups(limited)
	}
	switch {
	case fixed: // what it is now is another value each time
		f.got = math.Inf(1)
		f.end(limited, end)
	case !f.off():
	case end >= 0:
		f.end(limited, end)
	case low >= 0:
		f.both(limited, low, high)
	}
	return ctx.Err()
}

// off reports whether the rows are not those of the log.
func (f *fitting) off() bool { return differs(f.got, f.want) }

// fixed reports whether an argument is drawn where the log always has the same value.
func (g *guesser) fixed(i int) bool {
	logged := g.inLog(i)
	return logged != nil && !strings.HasPrefix(g.args[i].yaml, "{const:") && logged.seen >= minTwins && logged.nulls == 0 && len(logged.tags) == 1
}

// drawnFromParents are arguments whose column refers to another table, drawn from that
// table: of those that are drawn from the column itself, rows that many refer to come
// more often. nil where there are none.
func (g *guesser) drawnFromParents() map[int]argument {
	found := map[int]argument{}
	for i, u := range g.all {
		a := g.args[i]
		m := drawnFrom.FindStringSubmatch(a.yaml)
		if m == nil || u.role != equal && u.role != related || u.column == nil || u.function != "" || g.together(u) || !strings.HasPrefix(a.yaml, "{from: "+scalar(u.column.String())) {
			continue
		}
		t := g.schema.table(u.column.parent.table)
		if t == nil || t.column(u.column.parent.column) == nil {
			continue
		}
		c := t.column(u.column.parent.column)
		a.yaml = strings.Replace(a.yaml, scalar(u.column.String()), scalar(c.String()), 1)
		a.note = fmt.Sprintf("%s refers to %s; drawn from there, the rows are nearer to those of the log", u.column, c)
		found[i] = a
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// parents takes arguments from other tables if the rows are nearer to the log then.
func (f *fitting) parents(ctx context.Context, parents map[int]argument) {
	before := slices.Clone(f.st.args)
	for i, a := range parents {
		f.st.args[i] = a
	}
	rows, err := f.mean(ctx, f.o, f.step)
	if err == nil && away(rows, f.want) < away(f.got, f.want) {
		f.got = rows
		return
	}
	copy(f.st.args, before)
}

// fitted is the probe of the plan in which an operation fits the log.
func (d *drafter) fitted(ctx context.Context, b *probe, o *operation) (*probe, error) {
	moved, err := d.fit(ctx, o)
	if err != nil || !moved {
		return b, err
	}
	return d.probe()
}

// openEnd is the argument of a statement that is the only end of a range; -1 where
// there is none, or several.
func (st *statement) openEnd() int {
	end := -1
	for i, u := range st.guess.all {
		if u.role != above && u.role != below || u.column == nil {
			continue
		}
		f := u.column.found
		if end >= 0 || u.function != "" || f == nil || f.values == 0 || f.kind == "mixed" {
			return -1
		}
		end = i
	}
	return end
}

// bothEnds are the arguments between which a column is, of a statement with one such range;
// -1 where there is none.
func (st *statement) bothEnds() (low, high int) {
	low, high = -1, -1
	for i, u := range st.guess.all {
		switch {
		case u.role != above && u.role != below:
			continue
		case u.column == nil || u.function != "" || u.column.found == nil || u.column.found.values == 0 || u.column.found.kind == "mixed":
			return -1, -1
		case u.role == above && low < 0:
			low = i
		case u.role == below && high < 0:
			high = i
		default:
			return -1, -1
		}
	}
	if low < 0 || high < 0 || st.guess.all[low].column != st.guess.all[high].column {
		return -1, -1
	}
	return low, high
}

// end tries values of the column from the least to the greatest: the rows grow or
// shrink with them.
func (f *fitting) end(ctx context.Context, end int) {
	a, u := &f.st.args[end], f.st.guess.all[end]
	f.bisect(ctx, u.column.found.values-1, u.role == below, func(place int64) error {
		value, err := f.schema.at(ctx, u.column, place)
		a.yaml, a.note = constant(value), fmt.Sprintf("%s is %s it; "+asInLog, u.column, u.role)
		return err
	})
}

// both makes a range in the middle of the column wider or narrower.
func (f *fitting) both(ctx context.Context, low, high int) {
	c := f.st.guess.all[low].column
	last := c.found.values - 1
	f.bisect(ctx, last, true, func(width int64) error {
		from := (last - width) / 2
		for i, place := range map[int]int64{low: from, high: from + width} {
			value, err := f.schema.at(ctx, c, place)
			if err != nil {
				return err
			}
			f.st.args[i].yaml, f.st.args[i].note = constant(value), fmt.Sprintf("%s is %s it; "+asInLog, c, f.st.guess.all[i].role)
		}
		return nil
	})
}

// constant reports whether nothing of an operation differs from one time to the next.
func (o *operation) constant() bool {
	return !slices.ContainsFunc(o.steps, func(st *statement) bool {
		return random(st.tokens) || clock(st.tokens) || slices.ContainsFunc(st.args, func(a argument) bool { return !strings.HasPrefix(a.yaml, "{const:") })
	})
}

// bisect looks for the place, from 0 to the last, with which the step has as many rows as are
// wanted. The best one stays; what was there, if none is better.
func (f *fitting) bisect(ctx context.Context, last int64, grows bool, set func(place int64) error) {
	best, nearest := slices.Clone(f.st.args), f.got
	low, high := int64(0), last
	for n := 0; n < bisections+2 && low <= high && f.off(); n++ {
		place := (low + high) / 2
		switch n {
		case 0:
			place = low
		case 1:
			place = high
		}
		if set(place) != nil {
			break
		}
		var err error
		if f.got, err = f.mean(ctx, f.o, f.step); err != nil {
			break
		}
		if away(f.got, f.want) < away(nearest, f.want) {
			best, nearest = slices.Clone(f.st.args), f.got
		}
		if n < 2 {
			continue
		}
		if (f.got < f.want) == grows {
			low = place + 1
		} else {
			high = place - 1
		}
	}
	if differs(nearest, f.want) {
		for i := range best {
			best[i].note = strings.Replace(best[i].note, asInLog, "of what was tried, the rows are the nearest to those of the log", 1)
		}
	}
	copy(f.st.args, best)
}

// asInLog says why a range ends where it does.
const asInLog = "with as many rows as in the log"

// away is how far a number of rows is from another one, in proportion.
func away(got, want float64) float64 {
	const few = 0.1 // rows that are next to none
	return math.Abs(math.Log((got + few) / (want + few)))
}

// mean is how many rows a step has each time, as the plan stands.
func (d *drafter) mean(ctx context.Context, o *operation, step int) (float64, error) {
	b, err := d.probe()
	if err != nil {
		return 0, err
	}
	op := b.cases[o.name].Operation
	times := meant
	switch {
	case o.changes():
		times = tried
	case o.constant():
		times = 1 // it has the same rows each time
	}
	trace, err := d.data.Trace(ctx, op, times)
	if err != nil {
		return 0, err
	}
	found, err := d.data.Try(ctx, op, trace, times, d.options.Timeout/bisections/triedShare)
	if err != nil || found.Times == 0 {
		return 0, err
	}
	return float64(found.Steps[step].Total) / float64(found.Times), nil
}
