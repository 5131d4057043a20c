package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// never is how long a connection may live, or be idle.
const never = time.Duration(math.MaxInt64)

// ofSavepoint finds the statements about savepoints.
var ofSavepoint = regexp.MustCompile(`(?i)^\s*(SAVEPOINT|RELEASE|ROLLBACK)\b`)

type operation struct {
	db    *database
	spec  wire.Operation
	trace *column.File
	plan  string
	names []string // of the steps' statements; empty unless they are prepared once
	// begin and commit are what pgx is given around a transaction: the SQL, or
	// the name of the statement where it is prepared once.
	begin, commit string
}

// Prepare checks that the server understands the operation, and prepares its
// statements on every connection of its kind where the policy is once.
func (d *database) Prepare(spec wire.Operation, trace *column.File) (kit.Operation, error) {
	if err := kit.CheckConnections(spec, d.count, cap(d.writers)); err != nil {
		return nil, err
	}
	o := &operation{db: d, spec: spec, trace: trace, begin: "BEGIN", commit: "COMMIT"}
	var plans []string
	for i, step := range spec.Steps {
		name, err := step.SQL, error(nil)
		if !step.Script { // only a single statement can be prepared
			name, err = o.prepare(step)
		}
		if err != nil {
			return nil, refusal(fmt.Errorf("step %d: %w", i+1, err))
		}
		if o.spec.Statement.Keeps() {
			o.names = append(o.names, name)
		}
		if step.Script || ofSavepoint.MatchString(step.SQL) {
			continue // the server explains no such statement
		}
		plan, err := o.explain(i)
		if err != nil {
			return nil, refusal(fmt.Errorf("step %d: explain: %w", i+1, err))
		}
		plans = append(plans, plan)
	}
	o.plan = strings.Join(plans, "\n")
	return o, o.prepareTransaction()
}

func (o *operation) prepareTransaction() (err error) {
	if o.spec.Transaction == 0 || !o.spec.Statement.Keeps() {
		return nil
	}
	if o.begin, err = o.prepare(wire.Step{SQL: o.begin}); err == nil {
		o.commit, err = o.prepare(wire.Step{SQL: o.commit})
	}
	return err
}

// refusal tells what cannot be said to PostgreSQL from what failed: an error
// of class 42 (syntax error or access rule violation) or 0A (feature not
// supported), as PostgreSQL's list of error codes has it.
func refusal(err error) error {
	if said, is := errors.AsType[*pgconn.PgError](err); is && (strings.HasPrefix(said.Code, "42") || strings.HasPrefix(said.Code, "0A")) {
		return wire.Errorf(wire.Unsupported, "it cannot be said in PostgreSQL: %v", err)
	}
	return err
}

// prepare has a step's statement compiled: on every connection by the name that
// it returns, or, to see that it can be, on one.
func (o *operation) prepare(step wire.Step) (name string, err error) {
	check := func(conn *pgx.Conn, name string) error {
		found, err := conn.Prepare(context.Background(), name, step.SQL)
		if err == nil && len(found.ParamOIDs) != step.Args {
			err = wire.Errorf(wire.Invalid, "the statement takes %d arguments, %d were said", len(found.ParamOIDs), step.Args)
		}
		if err == nil && step.Query && len(found.Fields) != len(step.Returns) {
			err = wire.Errorf(wire.Invalid, "the statement answers %d columns, %d were said", len(found.Fields), len(step.Returns))
		}
		return err
	}
	if !o.spec.Statement.Keeps() {
		return "", o.db.any(func(conn *pgx.Conn) error { return check(conn, "") })
	}
	o.db.prepared++
	name = fmt.Sprintf("assay_%d", o.db.prepared)
	each := o.db.eachReader
	if o.spec.Changes {
		each = o.db.writers.Each
	}
	return name, each(func(_ string, conn *pgx.Conn) error { return check(conn, name) })
}

// explain returns how the server says that it will run a step.
func (o *operation) explain(step int) (string, error) {
	args := kit.FirstArguments(o.spec.Steps, step, o.trace)
	var lines []string
	err := o.db.any(func(conn *pgx.Conn) error {
		rows, err := conn.Query(context.Background(), "EXPLAIN (COSTS OFF) "+o.spec.Steps[step].SQL, args...)
		if err != nil {
			return err
		}
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return strings.Join(lines, "\n"), err
}

func (o *operation) QueryPlan() string { return o.plan }

// Close has nothing to close: prepared statements end with their connections.
func (o *operation) Close() error { return nil }

// Client returns a client that reads through the pool or changes through a
// writer's connection.
func (o *operation) Client() (kit.Client, error) {
	c := &client{o: o}
	first := 0
	for i, step := range o.spec.Steps {
		dest, err := newDestinations(step.Returns)
		if err != nil {
			return nil, err
		}
		s := execution{Step: step, ctx: context.Background(), text: step.SQL, each: o.spec.Statement == wire.Each && !step.Script, trace: o.trace,
			first: first, args: make([]any, step.Args), dest: dest}
		if len(o.names) > 0 {
			s.text = o.names[i]
		}
		c.steps = append(c.steps, s)
		first += step.Args
	}
	if o.spec.Changes {
		return &writer{c}, nil
	}
	return c, nil
}

// Answer runs the operation and visits its rows.
func (o *operation) Answer(position int, visit func(int, []any) error) error {
	if err := kit.CheckAnswer(o.spec); err != nil {
		return err
	}
	made, err := o.Client()
	if err != nil {
		return err
	}
	c := made.(*client)
	return o.db.any(func(conn *pgx.Conn) error {
		for i := range c.steps {
			if _, err := c.steps[i].run(conn, position, func(row []any) error { return visit(i, row) }, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// Show returns a client of the same pool that shows what it reads.
func (c *client) Show(visit func(int, []any) error) (kit.Client, error) {
	made, err := c.o.Client()
	if err != nil {
		return nil, err
	}
	shown := made.(*client)
	shown.visit = visit
	return shown, nil
}

// client runs operations that change nothing: each takes a connection of the
// pool.
type client struct {
	o     *operation
	steps []execution
	visit func(step int, row []any) error // nil while measuring
}

// Do runs all steps.
func (c *client) Do(position int) (int, error) { return c.DoPhases(position, nil) }

// DoPhases does the same and times the phases of each statement. To take a
// connection is none of them.
func (c *client) DoPhases(position int, phases *kit.Phases) (rows int, err error) {
	var conn *pgxpool.Conn
	if conn, err = c.o.db.readers.Acquire(context.Background()); err != nil {
		return 0, err
	}
	rows, err = c.runAll(conn.Conn(), position, phases)
	conn.Release()
	return rows, busy(err)
}

func (c *client) runAll(conn *pgx.Conn, position int, phases *kit.Phases) (rows int, err error) {
	for i := range c.steps {
		var show func([]any) error
		if c.visit != nil {
			show = func(row []any) error { return c.visit(i, row) }
		}
		n, err := c.steps[i].run(conn, position, show, phases)
		rows += n
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func (c *client) Close() error { return nil }

// busy marks errors after which PostgreSQL's documentation says to try again:
// serialization_failure, deadlock_detected and lock_not_available.
func busy(err error) error {
	var said *pgconn.PgError
	if err != nil && errors.As(err, &said) && (said.Code == "40001" || said.Code == "40P01" || said.Code == "55P03") {
		return fmt.Errorf("%w: %w", kit.ErrBusy, err)
	}
	return err
}
