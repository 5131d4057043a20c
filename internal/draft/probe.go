package draft

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/plan"
)

const (
	// traceLength is how many positions a run's trace has, in which it goes
	// round; a number of rows that is stated was the same at all of them.
	traceLength = 1 << 16
	// answered bounds the rows that are read to find that out.
	answered = 1_000_000
	// tried is how many positions of other queries are tried.
	tried = 20
)

// probe runs the operations as a run prepares them, on the private copy, to
// learn what they answer. One that fails is left out.
type probe struct {
	data  *dataset.Data
	cases map[string]assay.Case // by operation, that with the longest block
}

// newProbe resolves the operations as the plan has them.
func newProbe(data *dataset.Data, p *plan.Plan) (*probe, error) {
	cases, err := p.Expand([]string{drivers[0]})
	if err != nil {
		return nil, err
	}
	b := &probe{data: data, cases: map[string]assay.Case{}}
	for _, c := range cases {
		if known, ok := b.cases[c.Cell.Operation]; !ok || known.Operation.Count < c.Operation.Count {
			b.cases[c.Cell.Operation] = c
		}
	}
	return b, nil
}

// learn fills in what running an operation shows. Its error is the context's;
// what fails otherwise is the operation's own.
func (b *probe) learn(ctx context.Context, timeout time.Duration, o *operation) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	op := b.cases[o.name].Operation
	learn := b.reads
	if op.Changes {
		learn = b.changes
	}
	err := learn(limited, o, op)
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it takes longer than %s on a copy of the database", timeout)
	}
	if err != nil && ctx.Err() == nil {
		o.leftOut = err.Error()
		return nil
	}
	return err
}

// reads runs a query that changes nothing.
func (b *probe) reads(ctx context.Context, o *operation, op assay.Operation) error {
	op, err := b.data.Resolve(ctx, op)
	if err != nil {
		return err
	}
	o.returns = typeNames(op.Steps[0].Returns)
	trace, err := b.data.Trace(ctx, op, traceLength)
	if err != nil {
		return err
	}
	sample, err := b.data.Expect(ctx, op, trace, 0, tried)
	if err != nil {
		return err
	}
	if sample.Rows == 0 {
		o.notes = append(o.notes, fmt.Sprintf("None of %d tries found a row: correct the arguments.", tried))
	}
	o.sure = o.aggregate() || o.lookup()
	o.rows = b.always(ctx, o, op, trace, int(sample.Rows/tried))
	return ctx.Err()
}

// always returns the number of rows if the whole trace has it, and otherwise
// -1, also where finding out takes long.
func (b *probe) always(ctx context.Context, o *operation, op assay.Operation, trace *dataset.Trace, rows int) int {
	count := traceLength
	switch {
	case rows == 0:
		return -1
	case o.sure || len(o.args) == 0:
		count = tried // what is true of some is true of all
	case o.scanned > 0 || rows > answered/traceLength:
		return -1
	}
	op = withRows(op, rows)
	for _, n := range []int{tried, count} {
		if _, err := b.data.Expect(ctx, op, trace, 0, n); err != nil {
			return -1
		}
	}
	return rows
}

// changes plays a whole block of a query that changes data, with what comes
// before it to warm up.
func (b *probe) changes(ctx context.Context, o *operation, op assay.Operation) error {
	resolved, err := b.data.Resolve(ctx, op)
	if err != nil && op.Check != nil {
		o.check, op.Check = "", nil // it may be what fails
		resolved, err = b.data.Resolve(ctx, op)
	}
	if err != nil {
		return err
	}
	op = resolved
	if op.Steps[0].Query {
		o.returns = typeNames(op.Steps[0].Returns)
	}
	if op.Check != nil {
		o.checked = typeNames(op.Check.Returns)
	}
	o.sure = o.verb != "UPDATE" || o.lookup()
	length := op.Count + op.Count/10 + 1
	trace, err := b.data.Trace(ctx, op, length)
	if err != nil {
		return err
	}
	if _, err := b.data.Expect(ctx, op, trace, length, 0); err != nil {
		return err
	}
	for _, rows := range []int{1, max(2, o.guess.valueRows())} {
		if _, err := b.data.Expect(ctx, withRows(op, rows), trace, length, 0); err == nil {
			o.rows = rows
			return nil
		}
	}
	return ctx.Err()
}

// valueRows counts the rows of VALUES.
func (g *guesser) valueRows() int {
	rows := 0
	for i, t := range g.tokens {
		if t.Kind == '(' && g.group[i] == -1 && g.clause(i) == "VALUES" {
			rows++
		}
	}
	return rows
}

func withRows(op assay.Operation, rows int) assay.Operation {
	op.Steps = slices.Clone(op.Steps)
	op.Steps[0].Rows = rows
	return op
}

func typeNames(types []assay.Type) []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return names
}

// play plays a mix as a run prepares it.
func (b *probe) play(ctx context.Context, op assay.Operation) error {
	op, err := b.data.Resolve(ctx, op)
	if err != nil {
		return err
	}
	length := op.Count + op.Count/10 + 1
	trace, err := b.data.Trace(ctx, op, length)
	if err != nil {
		return err
	}
	_, err = b.data.Expect(ctx, op, trace, length, 0)
	return err
}
