//go:build unix

package runner

import (
	"context"
	"slices"

	"assay"
	"assay/internal/dataset"
	"assay/internal/dataset/oracle"
	"assay/kit/wire"
)

// orderedName is that of an operation whose rows are in the order of their columns.
func orderedName(name string) string { return "ordered " + name }

// rowOrder is how the rows of an operation's answers are compared that are not in the
// oracle's order.
type rowOrder struct {
	ordered assay.Operation // the same in the order of all columns
	want    string          // the digest of its answers
	open    bool            // the SQL leaves an order open
}

// rowOrder asks the oracle for the order of the answers at some positions.
func (j *job) rowOrder(ctx context.Context, e expectation, start int) (o rowOrder, err error) {
	ordered, can := dataset.InOrder(e.operation, false)
	reverse, _ := dataset.InOrder(e.operation, true)
	if !can || e.operation.Call() || e.operation.KV() || dataset.Varies(e.operation) {
		return o, nil
	}
	o.ordered = ordered
	o.want, o.open, err = openOrder(ctx, func(op assay.Operation) (string, error) {
		found, err := j.data.Expect(ctx, op, e.trace, start, e.count)
		return found.Digest, err
	}, ordered, reverse)
	return o, err
}

// sameRows reports whether the answers at some positions hold the right rows though their
// digest is another one: the SQL leaves the order open, and ordered by all columns they are
// what the oracle says. An index, or statistics, may change such an order.
func (in *instance) sameRows(ctx context.Context, j *job, name string, e expectation, start int) (bool, error) {
	order, err := j.rowOrder(ctx, e, start)
	if err != nil || !order.open {
		return false, err
	}
	if _, prepared := in.prepared[orderedName(name)]; !prepared {
		if _, err := in.prepare(ctx, orderedName(name), order.ordered, e.trace, 1); err != nil {
			return false, err
		}
	}
	var found wire.Verified
	err = in.call(ctx, wire.TypeVerify, wire.Verify{Operation: orderedName(name), Start: int64(start), Count: int64(e.count)}, &found)
	return err == nil && found.Digest == order.want, err
}

// openOrder returns the digest of the answers in the order of their columns, and whether the
// opposite order is another: then the SQL leaves it open. What the oracle cannot run so is
// not open.
func openOrder(ctx context.Context, digest func(assay.Operation) (string, error), ordered, reverse assay.Operation) (want string, open bool, err error) {
	if want, err = digest(ordered); err == nil {
		var other string
		if other, err = digest(reverse); err == nil {
			return want, other != want, nil
		}
	}
	return "", false, oracle.SystemError(ctx, err)
}

// sameState is sameRows of the plan's check after a block.
func (in *instance) sameState(ctx context.Context, j *job) (bool, error) {
	ordered, can := dataset.QueryInOrder(*j.Operation.Check, false)
	reverse, _ := dataset.QueryInOrder(*j.Operation.Check, true)
	if !can || j.Operation.KV() {
		return false, nil
	}
	checked := func(q assay.Query) assay.Operation {
		op := j.Operation
		op.Check = &q
		return op
	}
	want, open, err := openOrder(ctx, func(op assay.Operation) (string, error) {
		found, err := j.data.Expect(ctx, op, j.trace, j.warm, op.Count+j.behind)
		return found.State, err
	}, checked(ordered), checked(reverse))
	if err != nil || !open {
		return false, err
	}
	found, err := in.readAll(ctx, j, ordered)
	return err == nil && found.Digest == want, err
}

// acceptReordered takes the answers of clients for right whose rows are only in another
// order: the same as one client gets, whose rows are the right ones. Beside changes one
// client cannot get the same, and an open order is not compared.
func (in *instance) acceptReordered(ctx context.Context, j *job, units []unitAnswer, got, want []string) error {
	for i, u := range units {
		if i >= len(got) || want[i] == "" || got[i] == want[i] {
			continue
		}
		right, err := in.reordered(ctx, j, u, got[i])
		if err != nil || !right {
			return err
		}
		got[i] = want[i]
	}
	return nil
}

func (in *instance) reordered(ctx context.Context, j *job, u unitAnswer, got string) (bool, error) {
	k := slices.IndexFunc(j.expected, func(e expectation) bool { return j.named(e) == u.operation })
	if k < 0 {
		return false, nil
	}
	e := j.expected[k]
	e.count = max(1, j.Operation.Transaction)
	if j.Operation.Changes {
		order, err := j.rowOrder(ctx, e, u.own)
		return order.open, err
	}
	var one wire.Verified
	if err := in.call(ctx, wire.TypeVerify, wire.Verify{Operation: u.operation, Start: int64(u.own), Count: int64(e.count)}, &one); err != nil || one.Digest != got {
		return false, err
	}
	return in.sameRows(ctx, j, u.operation, e, u.own)
}
