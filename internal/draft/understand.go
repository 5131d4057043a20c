package draft

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/dataset/recording"
)

// understand makes operations of the queries. One that cannot be understood is left
// out, with the reason.
func (d *drafter) understand(ctx context.Context, scripts []*script) error {
	for _, s := range scripts {
		s.unroll()
	}
	for i, s := range scripts {
		if s.leftOut == "" {
			d.progress(fmt.Sprintf("reading what query %s is about (%d of %d)", s.name, i+1, len(scripts)))
			o, err := d.understandOne(ctx, s)
			if err != nil {
				return err
			}
			if s.leftOut == "" || len(o.steps) == len(s.queries) {
				d.operations = append(d.operations, o)
				continue
			}
		}
		d.statements = append(d.statements, s)
	}
	return d.measurable()
}

// understandOne makes an operation of a script. What is wrong with it is why it is
// left out; the error is that of everything else.
func (d *drafter) understandOne(ctx context.Context, s *script) (*operation, error) {
	o := &operation{script: *s}
	err := d.within(ctx, func(ctx context.Context) error {
		if err := d.compileAll(ctx, o); err != nil {
			return err
		}
		return o.finish(ctx, d.schema)
	})
	if err != nil {
		s.leftOut = err.Error()
	}
	o.leftOut = s.leftOut
	return o, ctx.Err()
}

// lateError says which limit a query has met.
type lateError string

func (e lateError) Error() string { return string(e) + " on a copy of the database" }

// within bounds what is tried of a query by the CPU time that it takes, since on a busy machine it
// waits for a processor most of the time; by a third of the time for all queries, since it may
// wait for a disk, too; and by what is left of that time.
func (d *drafter) within(ctx context.Context, try func(context.Context) error) error {
	limited, cancel := context.WithDeadlineCause(ctx, d.until, lateError(fmt.Sprintf("the queries together take longer than %s", d.options.Total)))
	defer cancel()
	own := d.options.Total / 3
	limited, cancelOwn := context.WithTimeoutCause(limited, own, lateError(fmt.Sprintf("it takes longer than %s", own)))
	defer cancelOwn()
	limited, end := context.WithCancelCause(limited)
	defer end(nil)
	d.endAt(limited, d.options.CPU()+d.options.Timeout, end)
	err := try(limited)
	if late, is := errors.AsType[lateError](context.Cause(limited)); is && err != nil && ctx.Err() == nil {
		return late
	}
	return err
}

// endAt ends what is tried as soon as so much CPU time has been used.
func (d *drafter) endAt(ctx context.Context, used time.Duration, end context.CancelCauseFunc) {
	time.AfterFunc(max(minWait, used-d.options.CPU()), func() {
		switch {
		case ctx.Err() != nil:
		case d.options.CPU() < used:
			d.endAt(ctx, used, end)
		default:
			end(lateError(fmt.Sprintf("it takes longer than %s of CPU time", d.options.Timeout)))
		}
	})
}

const minWait = 10 * time.Millisecond // between two looks at the CPU time

// compileAll makes the statements of an operation.
func (d *drafter) compileAll(ctx context.Context, o *operation) error {
	named, newKeys := map[string]string{}, map[*column]string{}
	for _, q := range o.queries {
		st, err := compiled(ctx, d.schema, q)
		if err != nil {
			return fmt.Errorf("%s does not compile: %w", describeQuery(o, q), err)
		}
		st.drawer = &drawer{analysis: analyse(q, d.schema), single: !o.transaction, named: named, newKeys: newKeys, taken: d.taken}
		if st.arguments, err = st.drawer.arguments(ctx); err != nil {
			return err
		}
		if o.shape != nil && o.shape.view != "" {
			st.arguments = fmt.Sprintf("SELECT %s FROM recorded.%s ORDER BY at", recording.Columns(len(q.args)), o.shape.view)
			st.drawer.draw, st.drawer.rows = "in-order", 0
		}
		o.steps = append(o.steps, st)
	}
	return nil
}

// describeQuery names a statement in a reason.
func describeQuery(o *operation, q *query) string {
	if !o.transaction {
		return "it"
	}
	return fmt.Sprintf("%s in line %d", q.verb, q.line)
}

// finish adds what the statements say together.
func (o *operation) finish(ctx context.Context, s *schema) error {
	for _, st := range o.steps {
		if st.changes() {
			continue
		}
		if why := st.doubt(); why != "" {
			return errors.New(why)
		}
	}
	if o.changes() {
		return o.complete(ctx, s)
	}
	return nil
}
