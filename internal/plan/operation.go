package plan

import (
	"slices"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
)

const (
	// The default number of operations of a block: changes are slower, and
	// what they leave behind must fit on the disk.
	defaultChanges = 1_000
	defaultQueries = 10_000
)

// operation resolves an operation that is no mix. Its statement policy and
// transaction are axes, which a cell sets.
func (r *resolver) operation(name string, o *operation) assay.Operation {
	op := assay.Operation{Name: name, RetryBusy: o.Busy.value == "retry", PerRow: o.Per.value == "row"}
	steps := o.Steps.items
	if !o.Steps.set() {
		steps = []step{{place: o.place, SQL: o.SQL, Args: o.Args, Draw: o.Draw, Batch: o.Batch, Rows: o.Rows, Returns: o.Returns}}
	}
	op.Steps, op.Changes = r.unrolled(steps)
	rows := 0
	for _, s := range op.Steps {
		rows += max(s.Rows, 0)
	}
	if op.PerRow && rows == 0 {
		r.m.at(o.Per.place, "per: row needs a number of rows above 0")
	}
	if op.Phases = o.Phases.isTrue(); op.Phases && op.Changes {
		r.m.at(o.Phases.place, "phases are timed only for operations that change nothing")
	}
	op.Count = r.count(o, op.Changes)
	op.Check = r.check(o, op.Changes)
	return op
}

// step resolves a step of one statement, or of several that one call executes, and reports
// whether it changes data.
func (r *resolver) step(s *step) (assay.Step, bool) {
	resolved := assay.Step{Rows: -1}
	if !s.SQL.set() {
		return resolved, false
	}
	tokens, whole := sqltext.Scan(s.SQL.value)
	if statements := sqltext.Statements(tokens); whole && len(statements) > 1 {
		resolved.SQL, _ = r.written(s.SQL)
		resolved.Script = true
		r.script(s, statements)
		return resolved, true
	}
	tokens, ok := r.m.single(s.SQL.place, s.SQL.value)
	if !ok {
		return resolved, false
	}
	kind, ok := r.m.kind(s.SQL.place, tokens)
	resolved.Query, resolved.Returns = kind.query, values[assay.Type](s.Returns)
	resolved.SQL, _ = r.written(s.SQL)
	batch := 1
	if s.Batch.set() {
		resolved.SQL, batch = r.batch(s, resolved.SQL, kind.params)
		resolved.Rows = batch
	}
	switch {
	case s.Args.set():
		values, good := r.valueSQL(s.Args, "args", true, excerpts(s.SQL.value, tokens))
		ok = ok && good
		if ok && values.columns > 0 && values.columns != kind.params {
			r.m.at(s.SQL.place, "the SQL takes %d arguments, and args has %d", kind.params, values.columns)
		}
		if good {
			resolved.Args = r.selected(values, s.Draw, kind.params, batch)
		}
	case s.Draw.set():
		r.m.at(s.Draw.place, "draw says which row of a query is drawn, and args is none")
	case ok && kind.params > 0:
		r.m.at(s.SQL.place, "the SQL takes %d arguments, and args has 0", kind.params)
	}
	resolved.Rows = int(r.number(s.Rows, "the number of rows", 0, maxRows, int64(resolved.Rows)))
	if ok && !kind.query && s.Returns.set() {
		r.m.at(s.Returns.place, "returns belongs to SQL that answers rows")
	}
	return resolved, kind.changes
}

// script checks statements that one call executes.
func (r *resolver) script(s *step, statements [][]sqltext.Token) {
	for _, at := range []place{s.Args.place, s.Draw.place, s.Batch.place, s.Rows.place, s.Returns.place} {
		if at.set() {
			r.m.at(at, "several statements in one SQL take no arguments, and their rows are not counted: use steps")
		}
	}
	for _, tokens := range statements {
		if kind, ok := r.m.kind(s.SQL.place, tokens); ok && kind.params > 0 {
			r.m.at(s.SQL.place, "several statements in one SQL take no arguments: write values into them, or use steps")
		}
	}
}

// batch writes the row of VALUES that has the arguments so many times.
func (r *resolver) batch(s *step, sql string, params int) (string, int) {
	tokens, _ := sqltext.Scan(sql)
	for i, token := range tokens {
		if token.Depth > 0 || !token.Is("VALUES") || i+1 == len(tokens) || tokens[i+1].Kind != '(' {
			continue
		}
		row := sqltext.Call(tokens[i+1:])
		arguments := slices.DeleteFunc(slices.Clone(row), func(t sqltext.Token) bool { return t.Text != "?" })
		if len(row) == 0 || params == 0 || len(arguments) != params {
			break
		}
		rows := r.number(s.Batch, "batch", 1, int64(maxParams/params), 1)
		from, to := tokens[i+1].From, tokens[i+len(row)+2].To
		return sql[:from] + strings.Repeat(sql[from:to]+", ", int(rows)-1) + sql[from:], int(rows)
	}
	r.m.at(s.Batch.place, "batch is for INSERT INTO t VALUES (?, ...), with all arguments in the one row of VALUES")
	return sql, 1
}

func (r *resolver) count(o *operation, changes bool) int {
	fallback := int64(defaultQueries)
	if changes {
		fallback = defaultChanges
	}
	return int(r.number(o.Count.all, "count", 1, maxCount, fallback))
}

func (r *resolver) counts(o *operation) map[string]int {
	counts := map[string]int{}
	for _, e := range o.Count.byName.entries {
		counts[e.key.value] = int(r.number(e.value, "count", 1, maxCount, 0))
	}
	return counts
}

// check resolves what is read after the block.
func (r *resolver) check(o *operation, changes bool) *assay.Query {
	sql, ok := r.query(o.Check.SQL, "a check")
	if ok && !changes {
		r.m.at(o.Check.place, "check belongs to an operation that changes data")
	}
	if sql == "" {
		return nil
	}
	return &assay.Query{SQL: sql, Returns: values[assay.Type](o.Check.Returns)}
}

// query resolves SQL that takes no arguments and changes nothing, and reports whether it is
// such a query; empty where there is none.
func (r *resolver) query(t text, what string) (sql string, ok bool) {
	if !t.set() {
		return "", false
	}
	tokens, ok := r.m.single(t.place, t.value)
	if !ok {
		return "", false
	}
	if sql, ok = r.written(t); !ok {
		return "", false
	}
	kind, ok := r.m.kind(t.place, tokens)
	if ok && (!kind.query || kind.changes || kind.params > 0) {
		r.m.at(t.place, "%s is a query without arguments that changes nothing", what)
		return sql, false
	}
	return sql, ok
}

// mix resolves a weighted mix of the workload's operations.
func (r *resolver) mix(name string, o *operation, others *dict[operation]) assay.Operation {
	op := assay.Operation{Name: name, RetryBusy: o.Busy.value == "retry"}
	var parts []assay.Part
	never := len(o.Mix.entries) > 0
	for _, e := range o.Mix.entries {
		part, ok := others.get(e.key.value)
		if !ok || part.Mix.set() || part.Serve.set() || !r.env.has(part.axes) {
			never = false
			continue // reported where names are checked
		}
		weight := r.number(e.value, "the weight", 0, maxCount, 0)
		never = never && weight == 0
		resolved := r.any(e.key.value, part, others)
		resolved.Check, resolved.PerRow, resolved.RetryBusy = nil, false, op.RetryBusy
		resolved.Transaction = part.atomic()
		op.Changes = op.Changes || resolved.Changes // also where it never comes: the connections are those of the other weights
		if weight > 0 {
			parts = append(parts, assay.Part{Operation: resolved, Weight: int(weight)})
		}
	}
	if never {
		r.m.at(o.Mix.place, "a mix needs a weight above 0")
	}
	op.Parts = r.fieldByField(parts)
	op.Writers = r.writers(o, op.Changes)
	op.Count = r.count(o, op.Changes)
	op.Check = r.check(o, op.Changes)
	if op.Changes && op.KV() {
		op.Check = r.kv.all()
	}
	for i := range op.Parts {
		op.Parts[i].Operation.Count = op.Count
	}
	return op
}

// retries reports an operation that would be applied in part twice: an answer
// of busy after a step that changed data, where each step commits alone.
func (r *resolver) retries(v variant) {
	o, op := v.spec, v.operation
	if !op.RetryBusy || !o.commitsAlone() || o.Only.set() { // in a mix, the mix says what busy does
		return
	}
	if changesEarly(op.Steps) {
		r.m.at(o.Busy.place, "busy: retry would repeat steps that are already done: add transaction: 1, so that all are done or none")
	}
	for _, part := range op.Parts {
		if part.Operation.Transaction == 0 && changesEarly(part.Operation.Steps) {
			r.m.at(o.Busy.place, "busy: retry would repeat steps of %s that are already done: add transaction: 1 to it, so that all are done or none", part.Operation.Name)
		}
	}
}

// commitsAlone reports whether each statement commits alone in some cells.
func (o *operation) commitsAlone() bool {
	return len(o.Transaction.items) == 0 || slices.ContainsFunc(o.Transaction.items, func(s scalar) bool { return s.value == "none" })
}

// changesEarly reports whether data may be changed before the last statement.
func changesEarly(steps []assay.Step) bool {
	if slices.ContainsFunc(steps, func(s assay.Step) bool { return s.Script }) {
		return true
	}
	return slices.ContainsFunc(steps[:max(0, len(steps)-1)], func(s assay.Step) bool {
		tokens, _ := sqltext.Scan(s.SQL)
		kind, _ := newMistakes("").kind(place{}, tokens)
		return kind.changes
	})
}

// atomic is 1 where an operation is a transaction of its own wherever it runs,
// and otherwise 0.
func (o *operation) atomic() int {
	if o.KV.value == rmw {
		return 1
	}
	if own := o.Transaction.items; len(own) == 1 && own[0].value == "1" {
		return 1
	}
	return 0
}

func (r *resolver) writers(o *operation, changes bool) int {
	if changes {
		return int(r.number(o.Writers, "writers", 1, maxClients, 1))
	}
	if o.Writers.set() {
		r.m.at(o.Writers.place, "writers belongs to a mix that changes data")
	}
	return 0
}

// serve checks the keys of an operation that is asked for over HTTP.
func (c checker) serve(o *operation) {
	o.clients(c.m, c.plan)
	o.rates(c.m)
	if !o.Serve.set() {
		return
	}
	for _, s := range o.Transaction.items {
		if s.value != "none" && s.value != "1" {
			c.m.at(s.place, "a request is one operation: with serve, transaction is none or 1")
		}
	}
	for _, e := range o.Mix.entries {
		if part, ok := c.operations.get(e.key.value); ok && part.KV.set() {
			c.m.at(e.key.place, "%s is a kv operation, which does not go with serve", e.key.value)
		}
	}
}

// clients are the numbers of clients of an operation; with a rate, the most that are under
// way.
func (o *operation) clients(m *mistakes, p *Plan) []int {
	return counts(m, o.Clients, "clients", maxClients, p.Clients)
}

// rates are the arrivals a second of an open load; 0 is the closed loop.
func (o *operation) rates(m *mistakes) []int {
	return counts(m, o.Rate, "rate", maxCount, []int{0})
}
