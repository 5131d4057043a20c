package sqldb

import (
	"context"
	"database/sql"
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
	db    *database
	spec  wire.Operation
	trace *column.File
	plan  string
	// answers runs operations for Answer.
	answers *client
	served  *served
}

// Prepare checks that the operation's SQL compiles and asks for its plan.
func (d *database) Prepare(spec wire.Operation, trace *column.File) (kit.Operation, error) {
	if spec.Changes && cap(d.writers) == 0 || !spec.Changes && d.readers == nil {
		return nil, wire.Errorf(wire.Invalid, "operation %q has no connection: open asked for none of its kind", spec.Name)
	}
	if !spec.Changes && spec.Transaction > 0 {
		return nil, wire.Errorf(wire.Unsupported, "operation %q changes nothing: transactions of it are not supported", spec.Name)
	}
	o := &operation{db: d, spec: spec, trace: trace, served: &served{}}
	var plans []string
	if d.lazy && !spec.Changes {
		return o, nil // to ask for a plan would open a connection
	}
	for i, step := range spec.Steps {
		plan, err := d.explain(step, o.arguments(i))
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		plans = append(plans, plan)
	}
	o.plan = strings.Join(plans, "\n")
	return o, nil
}

// arguments returns the first arguments of a step.
func (o *operation) arguments(step int) []any {
	first := 0
	for _, before := range o.spec.Steps[:step] {
		first += before.Args
	}
	values := make([]any, o.spec.Steps[step].Args)
	for i := range values {
		if o.trace.Rows() > 0 {
			values[i] = o.trace.Value(first+i, 0)
		}
	}
	return values
}

// explain returns the details of EXPLAIN QUERY PLAN, a line each.
func (d *database) explain(step wire.Step, args []any) (string, error) {
	var lines []string
	err := d.any(func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+step.SQL, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int64
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			lines = append(lines, detail)
		}
		return rows.Err()
	})
	return strings.Join(lines, "\n"), err
}

func (o *operation) QueryPlan() string { return o.plan }

func (o *operation) Close() error {
	err := o.served.close()
	if o.answers == nil {
		return err
	}
	return errors.Join(err, o.answers.Close())
}

// Client returns a client that reads through the pool or changes through a
// writer's connection.
func (o *operation) Client() (kit.Client, error) {
	c, err := o.newClient()
	if err != nil {
		return nil, err
	}
	if o.spec.Changes {
		return &writer{client: c, statements: map[*sql.Conn][]preparedStep{}}, nil
	}
	if c.steps, err = c.prepare(o.db.readers); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return reader{c}, nil
}

// Answer runs the operation and visits its rows.
func (o *operation) Answer(position int, visit func(int, []any) error) error {
	if o.spec.Changes {
		return wire.Errorf(wire.Unsupported, "operation %q changes data: what it changed is verified with SQL", o.spec.Name)
	}
	if o.answers == nil {
		var err error
		if o.answers, err = o.verifying(); err != nil {
			return err
		}
	}
	for i := range o.answers.steps {
		if _, err := o.answers.steps[i].run(position, func(row []any) error { return visit(i, row) }); err != nil {
			return err
		}
	}
	return nil
}

// verifying returns a client whose answers have the values as they are stored.
func (o *operation) verifying() (*client, error) {
	same := *o
	same.spec.Steps = slices.Clone(o.spec.Steps)
	for i := range same.spec.Steps {
		var err error
		if same.spec.Steps[i].SQL, err = stored(o.db.readers, same.spec.Steps[i].SQL, o.arguments(i)); err != nil {
			return nil, err
		}
	}
	c, err := same.newClient()
	if err != nil {
		return nil, err
	}
	for i, step := range same.spec.Steps {
		if c.destinations[i], err = newStored(step.Returns); err != nil {
			return nil, err
		}
	}
	c.steps, err = c.prepare(o.db.readers)
	return c, err
}

func (o *operation) newClient() (*client, error) {
	c := &client{o: o}
	for _, step := range o.spec.Steps {
		dest, err := newDestinations(step.Returns)
		if err != nil {
			return nil, err
		}
		c.destinations = append(c.destinations, dest)
	}
	return c, nil
}

// client runs operations that change nothing.
type client struct {
	o            *operation
	destinations []destinations
	steps        []preparedStep
}

// Do runs all steps.
func (c *client) Do(position int) (int, error) {
	rows := 0
	for i := range c.steps {
		n, err := c.steps[i].run(position, nil)
		rows += n
		if err != nil {
			return rows, c.o.db.busy(err)
		}
	}
	return rows, nil
}

func (c *client) Close() error { return closeSteps(c.steps) }

// handle is what statements run on: a pool or a connection.
type handle interface {
	PrepareContext(context.Context, string) (*sql.Stmt, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

// prepare makes the steps ready on a handle, compiled where the policy is once.
func (c *client) prepare(on handle) ([]preparedStep, error) {
	var steps []preparedStep
	first := 0
	for i, step := range c.o.spec.Steps {
		p := preparedStep{Step: step, on: on, each: c.o.spec.Statement == "each", trace: c.o.trace,
			first: first, args: make([]any, step.Args), dest: c.destinations[i]}
		if c.o.spec.Statement == "" || c.o.spec.Statement == "once" {
			var err error
			if p.statement, err = on.PrepareContext(context.Background(), step.SQL); err != nil {
				return nil, errors.Join(fmt.Errorf("step %d: %w", i+1, err), closeSteps(steps))
			}
		}
		first += step.Args
		steps = append(steps, p)
	}
	return steps, nil
}

func closeSteps(steps []preparedStep) error {
	var errs []error
	for i := range steps {
		if steps[i].statement != nil {
			errs = append(errs, steps[i].statement.Close())
		}
	}
	return errors.Join(errs...)
}

// preparedStep is one statement with the room for its arguments and rows.
type preparedStep struct {
	wire.Step
	on        handle
	statement *sql.Stmt // nil unless compiled once
	each      bool      // compiled for each execution
	trace     *column.File
	first     int // column of the first argument
	args      []any
	dest      destinations
}

// run executes the step with the arguments at a position and returns the
// number of rows answered or changed.
func (p *preparedStep) run(position int, visit func([]any) error) (int, error) {
	for i := range p.args {
		p.args[i] = p.trace.Value(p.first+i, position)
	}
	statement := p.statement
	if p.each {
		var err error
		if statement, err = p.on.PrepareContext(context.Background(), p.SQL); err != nil {
			return 0, err
		}
		defer statement.Close()
	}
	if p.Query {
		rows, err := p.query(statement)
		if err != nil {
			return 0, err
		}
		return p.dest.scan(rows, visit)
	}
	return p.exec(statement)
}

func (p *preparedStep) query(statement *sql.Stmt) (*sql.Rows, error) {
	if statement == nil {
		return p.on.QueryContext(context.Background(), p.SQL, p.args...)
	}
	return statement.QueryContext(context.Background(), p.args...)
}

func (p *preparedStep) exec(statement *sql.Stmt) (int, error) {
	var result sql.Result
	var err error
	if statement == nil {
		result, err = p.on.ExecContext(context.Background(), p.SQL, p.args...)
	} else {
		result, err = statement.ExecContext(context.Background(), p.args...)
	}
	if err != nil {
		return 0, err
	}
	changed, err := result.RowsAffected()
	return int(changed), err
}
