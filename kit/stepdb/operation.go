package stepdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"
)

// operation is a prepared operation. Reading and changing ones differ in the
// connections they use.
type operation struct {
	db      *database
	spec    wire.Operation
	trace   *column.File
	plan    string
	clients int     // made so far, all before the first one works
	answers *client // for Answer
	// compiled has the statements that were compiled once on each connection of
	// the operation's kind, where the driver does not keep them itself; nil until
	// a client needs them, and never changed after that.
	compiled map[Conn][]Stmt
}

// Prepare checks that the operation's SQL compiles and asks for its plan.
func (d *database) Prepare(spec wire.Operation, trace *column.File) (kit.Operation, error) {
	if err := kit.CheckConnections(spec, d.request.Readers, d.request.Writers); err != nil {
		return nil, err
	}
	o := &operation{db: d, spec: spec, trace: trace}
	o.spec.Steps = slices.Clone(spec.Steps)
	for i := range o.spec.Steps {
		o.spec.Steps[i].SQL = strings.TrimSpace(o.spec.Steps[i].SQL) // what is left behind a statement is an error to some drivers
	}
	steps, err := o.steps()
	if err != nil {
		return nil, err
	}
	err = d.any(func(conn Conn) error { return o.explain(conn, steps) })
	return o, err
}

// steps makes the steps of one client ready.
func (o *operation) steps() ([]step, error) {
	var steps []step
	first := 0
	for _, s := range o.spec.Steps {
		made, err := newStep(s, &Args{trace: o.trace, first: first, values: make([]any, s.Args)})
		if err != nil {
			return nil, err
		}
		steps = append(steps, made)
		first += s.Args
	}
	return steps, nil
}

// transactionSteps are the statements around a transaction: two steps behind
// the others.
func (o *operation) transactionSteps() ([]step, error) {
	if o.spec.Transaction == 0 {
		return nil, nil
	}
	begin, err := newStep(wire.Step{SQL: o.db.begin()}, &Args{})
	if err != nil {
		return nil, err
	}
	commit, err := newStep(wire.Step{SQL: "COMMIT"}, &Args{})
	return []step{begin, commit}, err
}

// compile compiles all steps on every connection that may run them, so that
// none is compiled while measuring. Steps of the same SQL share a statement, as they
// would in a program.
func (o *operation) compile(steps []step) error {
	if o.compiled != nil || !o.spec.Statement.Keeps() {
		return nil
	}
	o.compiled = map[Conn][]Stmt{}
	return o.db.every(func(_ string, writes bool, conn Conn) error {
		if writes != o.spec.Changes {
			return nil
		}
		for i, s := range steps {
			same := slices.IndexFunc(steps[:i], func(before step) bool { return before.SQL == s.SQL && before.Script == s.Script })
			if stmts := o.compiled[conn]; same >= 0 && stmts != nil {
				o.compiled[conn] = append(stmts, stmts[same])
			} else if err := o.compileOn(conn, s); err != nil {
				return fmt.Errorf("step %d: %w", i+1, err)
			}
		}
		return nil
	})
}

// compileOn leaves the statement in the driver's cache where it has one. A script has
// none.
func (o *operation) compileOn(conn Conn, s step) error {
	if s.Script {
		o.compiled[conn] = append(o.compiled[conn], nil)
		return nil
	}
	if cacher, ok := conn.(Cacher); ok {
		_, err := cacher.Cached(s.SQL)
		return err
	}
	stmt, err := conn.Prepare(s.SQL)
	if err == nil {
		o.compiled[conn] = append(o.compiled[conn], stmt)
	}
	return err
}

// explain compiles all steps and keeps the details of EXPLAIN QUERY PLAN, a
// line each.
func (o *operation) explain(conn Conn, steps []step) error {
	var lines []string
	for i, s := range steps {
		if s.Script {
			if _, runs := conn.(Scripter); !runs {
				return wire.Errorf(wire.Unsupported, "driver %s has no form to run several statements in one call", o.db.driver.Name)
			}
			continue // only a single statement can be explained
		}
		err := o.check(conn, s)
		if err == nil {
			lines, err = s.explain(conn, lines)
		}
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	o.plan = strings.Join(lines, "\n")
	return nil
}

// check compiles a step and looks for what its statement policy needs.
func (o *operation) check(conn Conn, s step) error {
	columns := len(s.Returns)
	stmt, err := conn.Prepare(s.SQL)
	if err != nil {
		return err
	}
	if n := stmt.Columns(); s.Query && n != columns {
		err = wire.Errorf(wire.Invalid, "%s: answers %d columns, declared are %d", s.SQL, n, columns)
	}
	_, calls := conn.(Caller)
	_, callsRows := conn.(RowCaller)
	if o.spec.Statement == wire.Never && (s.Query && !callsRows || !s.Query && !calls) {
		err = wire.Errorf(wire.Unsupported, "driver %s has no form to run this statement in one call: %s", o.db.driver.Name, s.SQL)
	}
	return errors.Join(err, stmt.Close())
}

func (s step) explain(conn Conn, lines []string) ([]string, error) {
	stmt, err := conn.Prepare("EXPLAIN QUERY PLAN " + s.SQL)
	if err != nil {
		return lines, err
	}
	if len(s.args.values) > 0 && s.args.trace.Rows() > 0 {
		err = stmt.Bind(s.args)
	}
	dest, _ := newDestinations([]string{"int", "int", "int", "text"}) // id, parent, unused, detail
	if err == nil {
		_, err = dest.all(stmt, func(row []any) error {
			lines = append(lines, row[3].(string))
			return nil
		}, nil)
	}
	return lines, errors.Join(err, stmt.Close())
}

func (o *operation) QueryPlan() string { return o.plan }

func (o *operation) Close() error {
	var errs []error
	for _, stmts := range o.compiled {
		errs = append(errs, closeAll(stmts))
	}
	return errors.Join(errs...)
}

// Client returns a client, which is also a kit.Profiler.
func (o *operation) Client() (kit.Client, error) {
	c, err := o.newClient(o.clients)
	if err != nil {
		return nil, err
	}
	o.clients++
	return c, nil
}

func (o *operation) newClient(number int) (*client, error) {
	steps, err := o.steps()
	if err != nil {
		return nil, err
	}
	around, err := o.transactionSteps()
	if err != nil {
		return nil, err
	}
	steps = append(steps, around...)
	return &client{o: o, number: number, steps: steps}, o.compile(steps)
}

// Answer runs the operation and visits its rows.
func (o *operation) Answer(position int, visit func(int, []any) error) error {
	if err := kit.CheckAnswer(o.spec); err != nil {
		return err
	}
	if o.answers == nil {
		var err error
		if o.answers, err = o.newShowing(0); err != nil {
			return err
		}
	}
	o.answers.visit = visit
	_, err := o.answers.Do(position)
	return err
}

// newShowing returns a client that shows its rows, with values as they are
// stored.
func (o *operation) newShowing(number int) (*client, error) {
	c, err := o.newClient(number)
	if err != nil {
		return nil, err
	}
	for _, step := range c.steps {
		step.dest.stored = true
	}
	return c, nil
}

// Show returns a client on the same connections that shows what it reads.
func (c *client) Show(visit func(int, []any) error) (kit.Client, error) {
	shown, err := c.o.newShowing(c.number)
	if err != nil {
		return nil, err
	}
	shown.visit = visit
	return shown, nil
}

// take returns the connection for one run of a client's operation. A client
// keeps its own where there are enough for all; only then is the index within
// the readers.
func (o *operation) take(client int) (Conn, error) {
	switch {
	case o.spec.Changes:
		return <-o.db.writers, nil
	case o.db.pool != nil:
		return o.db.pool.Take()
	case o.clients > len(o.db.readers):
		return <-o.db.turns, nil
	}
	return o.db.readers[client], nil
}

// give returns what take gave.
func (o *operation) give(conn Conn) {
	switch {
	case o.spec.Changes:
		o.db.writers <- conn
	case o.db.pool != nil:
		o.db.pool.Put(conn)
	case o.clients > len(o.db.readers):
		o.db.turns <- conn
	}
}
