package stepdb

import (
	"errors"

	"assay/kit/opening"
	"assay/kit/proof"
	worker "assay/kit/sql"
	"assay/kit/wire"
)

// api is a driver with what it opens.
type api struct {
	driver Driver
	source Source
	begin  string
	proof  *proof.Proof
}

func (a *api) Connect() (Conn, error) { return a.driver.Open(a.source) }

func (a *api) Pool(connections int) (worker.Pool[Conn], error) {
	if a.driver.Pool == nil {
		return nil, nil
	}
	return a.driver.Pool(a.source, connections)
}

func (a *api) Exec(conn Conn, text string) error { return conn.Exec(text) }
func (a *api) Begin() string                     { return a.begin }
func (a *api) Rollback(conn Conn) error          { return conn.Exec("ROLLBACK") }
func (a *api) Busy(err error) bool               { return a.driver.busy(err) }
func (a *api) Close(conn Conn) error             { return conn.Close() }
func (a *api) CloseAll() error                   { return nil }

func (a *api) Setting(conn Conn, name string) (string, bool, error) {
	settings := opening.Settings{Proof: a.proof, Conn: lent{conn},
		Begin: func() error { return conn.Exec(a.begin) }, Rollback: func() error { return conn.Exec("ROLLBACK") }}
	if a.driver.Mutex != nil {
		settings.Mutex = func() (string, bool) { return a.driver.Mutex(conn) }
	}
	value, known, err := settings.Read(name)
	if name == "read_only" && !known && err == nil {
		return a.readOnly(conn)
	}
	return value, known, err
}

// readOnly goes on where the proof cannot tell because the connection does not
// begin. In older SQLite (3.32) a read-only connection refuses that by its code,
// as others do with query_only only.
func (a *api) readOnly(conn Conn) (string, bool, error) {
	refused := conn.Exec("BEGIN IMMEDIATE")
	if refused == nil {
		return "", false, conn.Exec("ROLLBACK")
	}
	if a.driver.Code(refused)&0xff != codeReadOnly {
		return "", false, nil
	}
	queryOnly, err := plain{conn}.Texts("PRAGMA query_only")
	if err != nil || len(queryOnly) == 0 || queryOnly[0][0] != "0" {
		return "", false, err
	}
	return "1", true, nil
}

// Explain compiles a step, looks for what its statement policy needs, and returns
// the details of EXPLAIN QUERY PLAN.
func (a *api) Explain(conn Conn, step worker.Step) ([]string, error) {
	if step.Script { // only a single statement can be explained
		if _, runs := conn.(Scripter); !runs {
			return nil, wire.Errorf(wire.Unsupported, "driver %s has no form to run several statements in one call", a.driver.Name)
		}
		return nil, nil
	}
	if err := a.check(conn, step); err != nil {
		return nil, err
	}
	stmt, err := conn.Prepare("EXPLAIN QUERY PLAN " + step.SQL)
	if err != nil {
		return nil, err
	}
	var lines []string
	s := newStep(conn, worker.Step{Step: wire.Step{Query: true, Args: step.Args, Returns: []string{"int", "int", "int", "text"}}, // id, parent, unused, detail
		Trace: step.Trace, First: step.First})
	if step.Args == 0 || step.Trace.Rows() > 0 {
		_, err = s.run(stmt, func(row []any) error {
			lines = append(lines, row[3].(string))
			return nil
		}, nil)
	}
	return lines, errors.Join(err, stmt.Close())
}

func (a *api) check(conn Conn, step worker.Step) error {
	stmt, err := conn.Prepare(step.SQL)
	if err != nil {
		return err
	}
	if n := stmt.Columns(); step.Query && n != len(step.Returns) {
		err = wire.Errorf(wire.Invalid, "%s: answers %d columns, declared are %d", step.SQL, n, len(step.Returns))
	}
	_, calls := conn.(Caller)
	_, callsRows := conn.(RowCaller)
	if step.Policy == wire.Never && (step.Query && !callsRows || !step.Query && !calls) {
		err = wire.Errorf(wire.Unsupported, "driver %s has no form to run this statement in one call: %s", a.driver.Name, step.SQL)
	}
	return errors.Join(err, stmt.Close())
}

// Compile leaves the statement in the driver's cache where it has one.
func (a *api) Compile(conn Conn, step worker.Step) (worker.Compiled, error) {
	if cacher, ok := conn.(Cacher); ok {
		_, err := cacher.Cached(step.SQL)
		return nil, err
	}
	return conn.Prepare(step.SQL)
}
