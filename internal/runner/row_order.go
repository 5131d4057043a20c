//go:build unix

package runner

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"assay"
	"assay/internal/dataset"
	"assay/internal/dataset/oracle"
	"assay/kit/answer"
	"assay/kit/wire"
)

// orderedName returns the name of an operation whose rows are in the order of their columns.
func orderedName(name string) string { return "ordered " + name }

// rowOrder says how the rows of an operation's answers are compared that are not in the
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
// client cannot get the same: answers in an open order are unknown, and counted.
func (in *instance) acceptReordered(ctx context.Context, j *job, units []unitAnswer, got []string) (unknown int, err error) {
	for i, u := range units {
		if i >= len(got) || u.digest == "" || got[i] == u.digest {
			continue
		}
		right, err := in.reordered(ctx, j, u, got[i])
		if err != nil || !right {
			return unknown, err
		}
		if got[i] = u.digest; j.Operation.Changes {
			unknown++
		}
	}
	return unknown, nil
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

// compareTold compares the answers of clients, from a position on, with those that are told, as
// far as either is known. The trial says what is not compared.
func (in *instance) compareTold(ctx context.Context, j *job, t *assay.Trial, when string, start int64, digests []string) error {
	if j.told == nil {
		return nil
	}
	if digests == nil {
		t.Warnings = append(t.Warnings, notCompared("no answer that it reads beside its changes", "the worker does not tell what its clients are answered",
			"measure what it reads as operations of their own too, whose answers are compared")...)
		return nil
	}
	s := &sample{start: start}
	for i, digest := range j.told {
		position := (int(start) + i) % j.trace.Length
		s.units = append(s.units, unitAnswer{position: position, digest: digest, operation: j.Cell.Peer(), own: position})
	}
	if err := s.findParts(j); err != nil {
		return err
	}
	unknown, err := in.acceptReordered(ctx, j, s.units, digests)
	if err != nil {
		return err
	}
	if unknown > 0 {
		t.Warnings = append(t.Warnings, notCompared(fmt.Sprintf("a part alone of the answers that it reads beside its changes (%d of %d are not)", unknown, len(j.told)),
			"the SQL of the others leaves the order of rows open", "order by all columns what it reads, or measure that as operations of their own too, whose rows are compared in any order")...)
	}
	return compareAnswers(when, j, s, digests)
}

// difference says which row of wrong answers is the first wrong one, and what is wrong in it;
// nothing where the worker does not tell all its rows, or the right ones cannot be found.
func (in *instance) difference(ctx context.Context, j *job, name string, e expectation) (said string) {
	type wanted struct {
		position, number int
		step             assay.Step
		row              []any
	}
	ctx, cancel := in.r.bounded(ctx)
	defer cancel()
	var failed error
	next, stop := iter.Pull(func(yield func(wanted) bool) {
		w, stopped := wanted{position: -1}, false
		failed = j.data.Rows(ctx, e.operation, e.trace, 0, e.count, func(position int, step assay.Step, row []any) error {
			if position != w.position {
				w.number = 0
			}
			w = wanted{position, w.number + 1, step, row}
			if stopped = !yield(w); stopped {
				return context.Canceled
			}
			return nil
		})
		if stopped {
			failed = nil
		}
	})
	private := j.Dataset.File != "" || j.Dataset.Recorded != ""
	told := in.worker.Rows(ctx, wire.Verify{Operation: name, Count: int64(e.count)}, func(row []any) {
		if said != "" {
			return
		}
		if w, more := next(); !more {
			said = "; there is a row behind the last right one"
		} else if what := wrongValue(w.step, row, w.row, private); what != "" {
			said = fmt.Sprintf("; at position %d, row %d is the first that differs: %s", w.position, w.number, what)
		}
	})
	if told && said == "" {
		if w, more := next(); more {
			said = fmt.Sprintf("; at position %d, row %d is missing", w.position, w.number)
		}
	}
	if stop(); !told || failed != nil {
		return ""
	}
	return said
}

// wrongValue says which column of a row is wrong; nothing where none is. What somebody keeps
// in a database is not told.
func wrongValue(step assay.Step, got, want []any, private bool) string {
	types := assay.TypeNames(step.Returns)
	if len(got) != len(types) {
		return fmt.Sprintf("it has %d columns, want %d", len(got), len(types))
	}
	digest := func(i int, value any) string {
		hash := answer.New(types[i : i+1])
		return fmt.Sprint(hash.Row([]any{value}), hash.Sum())
	}
	for i := range got {
		switch {
		case digest(i, got[i]) == digest(i, want[i]):
		case private:
			return fmt.Sprintf("column %d is another %s", i+1, types[i])
		default:
			return fmt.Sprintf("column %d is %s, want %s", i+1, shown(got[i]), shown(want[i]))
		}
	}
	return ""
}

// shown is the beginning of a value.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf("x'%.20x'", v)
	case string:
		return fmt.Sprintf("%.40q", v)
	}
	return fmt.Sprint(value)
}

// verifyKeys reads keys that several clients may have changed, and compares
// each with what was written to it.
func (in *instance) verifyKeys(ctx context.Context, j *job) error {
	if j.keys == nil {
		return nil
	}
	for _, values := range j.keys.Values {
		if err := in.verifyValues(ctx, values); err != nil {
			return err
		}
	}
	return in.countKeys(ctx, j)
}

// verifyRows reads rows of the tables that the block changed, and compares each
// with what it may hold.
func (in *instance) verifyRows(ctx context.Context, j *job) error {
	if j.rows == nil {
		return nil
	}
	for _, values := range j.rows.Values {
		if err := in.verifyValues(ctx, values); err != nil {
			return err
		}
	}
	for _, count := range j.rows.Counts {
		var found wire.Verified
		if err := in.call(ctx, wire.TypeVerify, wire.Verify{SQL: count.Query.SQL, Returns: []string{"int"}}, &found); err != nil {
			return err
		}
		if found.Digest != count.Digest {
			return wrongKeys("%q answers the wrong number of rows", count.Query.SQL)
		}
	}
	return nil
}

func (in *instance) verifyValues(ctx context.Context, v oracle.Values) error {
	get := wireOperation(v.Get.Name, v.Get, &dataset.Trace{Path: v.Path})
	if err := in.call(ctx, wire.TypePrepare, wire.Prepare{Operation: in.say(get), Clients: 1}, nil); err != nil {
		return err
	}
	var found wire.Verified
	if err := in.call(ctx, wire.TypeVerify, wire.Verify{Operation: get.Name, Count: int64(v.Exact)}, &found); err != nil {
		return err
	}
	if found.Digest != v.Digest {
		return wrongKeys("of %d keys whose values are known, at least one holds another value (%s): digest %.12s, want %.12s",
			v.Exact, get.Name, found.Digest, v.Digest)
	}
	wrong := 0
	for i, allowed := range v.Allowed {
		if err := in.call(ctx, wire.TypeVerify, wire.Verify{Operation: get.Name, Start: int64(v.Exact + i), Count: 1}, &found); err != nil {
			return err
		}
		if !slices.Contains(allowed, found.Digest) {
			wrong++
		}
	}
	if wrong > 0 {
		return wrongKeys("%d of %d keys that were written several times hold no value that was written to them (%s)", wrong, len(v.Allowed), get.Name)
	}
	return nil
}

// countKeys looks whether the store has as many keys as it may.
func (in *instance) countKeys(ctx context.Context, j *job) error {
	found, err := in.readAll(ctx, j, j.keys.All)
	if err != nil {
		return err
	}
	if found.Rows < int64(j.keys.Least) || found.Rows > int64(j.keys.Most) {
		return wrongKeys("the store has %d keys, want %d to %d", found.Rows, j.keys.Least, j.keys.Most)
	}
	return nil
}

// readAll asks for what a query over all the data answers.
func (in *instance) readAll(ctx context.Context, j *job, q assay.Query) (wire.Verified, error) {
	request := j.engine.everything(q)
	for _, t := range q.Returns {
		request.Returns = append(request.Returns, string(t))
	}
	var found wire.Verified
	err := in.call(ctx, wire.TypeVerify, request, &found)
	return found, err
}

func wrongKeys(format string, args ...any) error {
	return &failure{assay.WrongAnswer, "after the block, " + fmt.Sprintf(format, args...)}
}

// uncompared is about answers, and about what changes leave, of which nobody knows what is
// right: it follows from the order of the clients, or is something else each time.
func (j *job) uncompared() []assay.Warning {
	op := j.Operation
	reads := slices.ContainsFunc(op.Parts, func(p assay.Part) bool { return !p.Operation.Changes })
	var what []string
	if reads && j.told == nil && (j.behind > 0 || op.Sequence != "") {
		what = append(what, "no answer that it reads beside its changes")
	}
	if op.Changes && !op.Call() && (!j.checksLeft() || j.singleConnection()) {
		what = append(what, "nothing that its changes leave")
	}
	if what == nil {
		return nil
	}
	why, advice := "what is right depends on the order of the clients, on requests that were not done, differs each time, or took too long to find",
		"measure it with one client too, which shows a wrong answer, or give it a check that is the same in every order"
	if j.singleConnection() {
		if j.state != "" {
			what[0] += ", but over the connection that wrote it,"
		}
		why, advice = "the profile lets no other connection read what was committed", "measure it with another profile too, which shows a wrong answer"
	}
	return notCompared(strings.Join(what, ", and "), why, advice)
}

func notCompared(what, why, advice string) []assay.Warning {
	return []assay.Warning{{Code: "not-compared", Evidence: what + " is compared: " + why, Advice: advice}}
}

// sequenceWarning is about an operation whose sequence cannot reach all that it
// draws from.
func (j *job) sequenceWarning() []assay.Warning {
	if j.unreached == 0 {
		return nil
	}
	all := j.unreached + int64(j.trace.Length)
	return []assay.Warning{{Code: "short-sequence",
		Evidence: fmt.Sprintf("the sequence of arguments has %d positions and draws from %d values: at least %.0f %% of them are never used",
			j.trace.Length, all, 100*float64(j.unreached)/float64(all)),
		Advice: "read the figure as one of a working set of that size, or measure a mix, whose sequence is as long as its count"}}
}
