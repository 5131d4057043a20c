package draft

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// triedShare is the share of the time for one bisection in which no new try begins.
const triedShare = 4

// bisections bounds how often the end of a range is moved.
const bisections = 12

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
		want := float64(step.rows) / float64(step.counted)
		before := slices.Clone(st.args)
		if err := d.fitStatement(ctx, o, i, want); err != nil {
			return false, err
		}
		moved = moved || !slices.Equal(st.args, before)
	}
	return moved, nil
}

// fitStatement tries what can be changed of a statement: from which table keys are drawn,
// and where a range begins and ends.
func (d *drafter) fitStatement(ctx context.Context, o *operation, step int, want float64) error {
	st := o.steps[step]
	parents, low, high := st.guess.drawnFromParents(), -1, -1
	end := st.openEnd()
	if end < 0 {
		low, high = st.bothEnds()
	}
	groups := !st.changes() && st.guess.groupSources() != nil
	if parents == nil && end < 0 && low < 0 && !groups {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, min(d.options.Timeout, time.Until(d.until)))
	defer cancel()
	got, err := d.mean(limited, o, step)
	fixed := end >= 0 && st.guess.fixed(end)
	if err != nil || !differs(got, want) && !fixed {
		return ctx.Err()
	}
	if parents != nil && differs(got, want) {
		got = d.fitParents(limited, o, step, parents, got, want)
	}
	if groups && differs(got, want) {
		got = d.fitGroups(limited, o, step, got, want)
	}
	switch {
	case fixed: // what it is now is another value each time
		d.fitEnd(limited, o, step, end, math.Inf(1), want)
	case !differs(got, want):
	case end >= 0:
		d.fitEnd(limited, o, step, end, got, want)
	case low >= 0:
		d.fitBoth(limited, o, step, low, high, got, want)
	}
	return ctx.Err()
}

// fixed reports whether an argument is drawn where the log always has the same value.
func (g *guesser) fixed(i int) bool {
	if g.logged == nil || g.logged[i] == nil || strings.HasPrefix(g.args[i].yaml, "{const:") {
		return false
	}
	return g.logged[i].seen >= minTwins && g.logged[i].nulls == 0 && len(g.logged[i].tags) == 1
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

// fitParents takes arguments from other tables if the rows are nearer to the log then, and
// returns how many there are.
func (d *drafter) fitParents(ctx context.Context, o *operation, step int, parents map[int]argument, got, want float64) float64 {
	st := o.steps[step]
	before := slices.Clone(st.args)
	for i, a := range parents {
		st.args[i] = a
	}
	rows, err := d.mean(ctx, o, step)
	if err == nil && away(rows, want) < away(got, want) {
		return rows
	}
	copy(st.args, before)
	return got
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

// fitEnd tries values of the column from the least to the greatest: the rows grow or
// shrink with them.
func (d *drafter) fitEnd(ctx context.Context, o *operation, step, end int, got, want float64) {
	st := o.steps[step]
	a, u := &st.args[end], st.guess.all[end]
	d.bisect(ctx, o, step, u.column.found.values-1, u.role == below, got, want, func(place int64) error {
		value, err := d.schema.at(ctx, u.column, place)
		a.yaml, a.note = constant(value), fmt.Sprintf("%s is %s it; "+asInLog, u.column, u.role)
		return err
	})
}

// fitBoth makes a range in the middle of the column wider or narrower.
func (d *drafter) fitBoth(ctx context.Context, o *operation, step, low, high int, got, want float64) {
	st := o.steps[step]
	c := st.guess.all[low].column
	last := c.found.values - 1
	d.bisect(ctx, o, step, last, true, got, want, func(width int64) error {
		from := (last - width) / 2
		for i, place := range map[int]int64{low: from, high: from + width} {
			value, err := d.schema.at(ctx, c, place)
			if err != nil {
				return err
			}
			st.args[i].yaml, st.args[i].note = constant(value), fmt.Sprintf("%s is %s it; "+asInLog, c, st.guess.all[i].role)
		}
		return nil
	})
}

// bisect looks for the place, from 0 to the last, with which a step has as many rows as are
// wanted. The best one stays; what was there, if none is better.
func (d *drafter) bisect(ctx context.Context, o *operation, step int, last int64, grows bool, got, want float64, set func(place int64) error) {
	st := o.steps[step]
	best, off := slices.Clone(st.args), away(got, want)
	low, high, nearest := int64(0), last, got
	for n := 0; n < bisections+2 && low <= high && differs(got, want); n++ {
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
		if got, err = d.mean(ctx, o, step); err != nil {
			break
		}
		if away(got, want) < off {
			off, best, nearest = away(got, want), slices.Clone(st.args), got
		}
		if n < 2 {
			continue
		}
		if (got < want) == grows {
			low = place + 1
		} else {
			high = place - 1
		}
	}
	if differs(nearest, want) {
		for i := range best {
			best[i].note = strings.Replace(best[i].note, asInLog, "of what was tried, the rows are the nearest to those of the log", 1)
		}
	}
	copy(st.args, best)
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
	times := tried
	if !o.changes() {
		times = meant
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
