package draft

import (
	"context"
	"fmt"
	"math"
	"time"
)

// bisections bounds how often the end of a range is moved.
const bisections = 12

// fit moves the end of a range until the statement has as many rows as in the log: a
// range from a value that any row has would, of "expires_at < now", delete most rows
// where the program deletes none. What cannot be tried here is left as it is; trying
// the operation says why. It reports whether it moved one; the error is the context's.
func (d *drafter) fit(ctx context.Context, o *operation) (moved bool, err error) {
	for i, st := range o.steps {
		step := o.logged(i)
		if step == nil || step.counted == 0 {
			continue
		}
		end := st.openEnd()
		if end < 0 {
			continue
		}
		want := float64(step.rows) / float64(step.counted)
		before := st.args[end]
		if err := d.fitEnd(ctx, o, i, end, want); err != nil {
			return false, err
		}
		moved = moved || st.args[end] != before
	}
	return moved, nil
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

// fitEnd tries values of the column from the least to the greatest: the rows grow or
// shrink with them.
func (d *drafter) fitEnd(ctx context.Context, o *operation, step, end int, want float64) error {
	limited, cancel := context.WithTimeout(ctx, min(d.options.Timeout, time.Until(d.until))/2)
	defer cancel()
	st := o.steps[step]
	a, u := &st.args[end], st.guess.all[end]
	best := *a
	got, err := d.mean(limited, o, step)
	if err != nil || !differs(got, want) {
		return ctx.Err()
	}
	off := math.Abs(got - want)
	low, high := int64(0), u.column.found.values-1
	for n := 0; n < bisections+2 && low <= high && off > tolerance*want; n++ {
		place := (low + high) / 2
		switch n {
		case 0:
			place = low
		case 1:
			place = high
		}
		value, err := d.schema.at(limited, u.column, place)
		if err != nil {
			break
		}
		a.yaml = constant(value)
		if got, err = d.mean(limited, o, step); err != nil {
			break
		}
		if math.Abs(got-want) < off {
			off, best = math.Abs(got-want), argument{written: a.written, yaml: a.yaml,
				note: fmt.Sprintf("%s is %s it; with as many rows as in the log", u.column, u.role)}
		}
		if n < 2 {
			continue
		}
		if (got < want) == (u.role == below) {
			low = place + 1
		} else {
			high = place - 1
		}
	}
	*a = best
	return ctx.Err()
}

// mean is how many rows a step has each time, as the plan stands.
func (d *drafter) mean(ctx context.Context, o *operation, step int) (float64, error) {
	b, err := d.probe()
	if err != nil {
		return 0, err
	}
	op := b.cases[o.name].Operation
	trace, err := d.data.Trace(ctx, op, tried)
	if err != nil {
		return 0, err
	}
	found, err := d.data.Try(ctx, op, trace, tried, d.options.Timeout/bisections)
	if err != nil || found.Times == 0 {
		return 0, err
	}
	return float64(found.Steps[step].Total) / float64(found.Times), nil
}
