package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	// meant is how often a fast query is done for its mean number of rows: a few values
	// may have most of the rows.
	meant = 500
	// meanShare is the share of the time for a query that this may take.
	meanShare = 4
)

// probe runs the operations as a run prepares them, on the private copy, to
// learn what they answer. One that fails is left out.
type probe struct {
	data  *dataset.Data
	cases map[string]assay.Case // by operation, that with the longest block
	block time.Duration         // how long a block takes at most
}

// newProbe resolves the operations as the plan has them.
func newProbe(data *dataset.Data, p *plan.Plan, block time.Duration) (*probe, error) {
	cases, err := p.Expand(p.Drivers[:1])
	if err != nil {
		return nil, err
	}
	b := &probe{data: data, cases: map[string]assay.Case{}, block: block}
	for _, c := range cases {
		if known, ok := b.cases[c.Cell.Operation]; !ok || known.Operation.Count < c.Operation.Count {
			b.cases[c.Cell.Operation] = c
		}
	}
	return b, nil
}

// run does an operation a few times to learn its types and its time, and then as
// often as time allows to learn whether its rows stay the same.
func (b *probe) run(ctx context.Context, o *operation, op assay.Operation, limit time.Duration) error {
	op, err := b.resolve(ctx, o, op)
	if err != nil {
		return err
	}
	c := b.cases[o.name]
	c.Operation = op // what comes later need not copy the data to find the types again
	b.cases[o.name] = c
	for _, st := range o.steps {
		st.sure = st.lookup() || st.changes() && st.verb != "UPDATE"
	}
	length := traceLength
	if o.changes() {
		length = op.Count + op.Count/10 + 1
	}
	trace, err := b.data.Trace(ctx, op, length)
	if err != nil {
		return err
	}
	found, err := b.data.Try(ctx, op, trace, min(tried, length), limit, false) // beyond them, new rows come again
	if err != nil {
		return err
	}
	if more := meant / tried * found.Took; !o.changes() && found.Times == tried && more <= limit/meanShare {
		if found, err = b.data.Try(ctx, op, trace, meant, limit, false); err != nil {
			return err
		}
	}
	each := found.Took / time.Duration(max(1, found.Times))
	scans, err := b.data.Scans(ctx, op)
	if err != nil {
		return err
	}
	if (o.changes() || !scans && o.steady(found)) && time.Duration(length)*each <= limit {
		if found, err = b.data.Try(ctx, op, trace, length, limit, true); err != nil {
			return err
		}
	}
	o.pace(each, b.block)
	o.conclude(found, found.Times == length)
	return nil
}

// steady reports whether the rows were the same each time, and few: as often as a run does it,
// they may differ.
func (o *operation) steady(found dataset.Tried) bool {
	return !slices.ContainsFunc(found.Steps, func(rows dataset.TriedStep) bool {
		return rows.Min != rows.Max || rows.Max > answered/traceLength
	})
}

// resolve finds the types of the answers. A check that fails is left out.
func (b *probe) resolve(ctx context.Context, o *operation, op assay.Operation) (assay.Operation, error) {
	resolved, err := b.data.Resolve(ctx, op)
	if err != nil && op.Check != nil {
		o.check, op.Check = "", nil // it may be what fails
		resolved, err = b.data.Resolve(ctx, op)
	}
	return resolved, err
}

// conclude takes over the rows that were the same each time, and says where none
// was found.
func (o *operation) conclude(found dataset.Tried, all bool) {
	for i, st := range o.steps {
		if st.savepoint() {
			continue
		}
		rows := found.Steps[i]
		st.mean = float64(rows.Total) / float64(max(1, found.Times))
		if rows.Found == 0 && (len(st.args) > 0 || st.changes()) {
			st.notes = append(st.notes, fmt.Sprintf("None of %d tries %s a row: correct the arguments.",
				found.Times, map[bool]string{false: "found", true: "changed"}[st.changes()]))
		}
		if rows.Max > 1 && !st.changes() && st.top("ORDER") < 0 {
			st.notes = append(st.notes, "It has no ORDER BY: the order of its rows is up to SQLite, and another one counts as wrong.")
		}
		inserts := st.verb == "INSERT" && !st.upsert()
		certain := all || inserts || !st.changes() && (st.sure || len(st.args) == 0)
		if rows.Min == rows.Max && rows.Min > 0 && certain {
			st.rows = int(rows.Min)
		}
	}
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

// foreignKeys says which operation fails where foreign keys are enforced, which
// SQLite does only when asked; empty where none does. It changes the copy that is kept.
func (b *probe) foreignKeys(ctx context.Context, all []*operation) (reason string, err error) {
	for _, o := range all {
		op := b.cases[o.name].Operation
		if o.leftOut != "" || !op.Changes {
			continue
		}
		op.Check = nil
		err := b.data.Enforce(ctx, op, tried)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil && strings.Contains(err.Error(), "FOREIGN KEY") {
			why, _, _ := strings.Cut(err.Error(), "; the SQL is:")
			return o.name + " fails with them: " + why, nil
		}
	}
	return "", nil
}
