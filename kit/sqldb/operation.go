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
	"assay/kit/sqlrows"
	"assay/kit/wire"
)

// operation is a prepared operation. Reading and changing ones differ in the
// connections they use. What is compiled once is shared by all clients and
// handlers, as in an application.
type operation struct {
	db    *database
	spec  wire.Operation
	trace *column.File
	plan  string
	// reads are the steps' statements of the pool, compiled on every connection
	// of it. They are nil but where the policy is once; the slice is nil until
	// somebody needs it.
	reads []*sql.Stmt
	// writes has what each connection for changes runs; nil until somebody needs
	// it, and never changed after that.
	writes map[*sql.Conn]*unit
	// storing has the steps' SQL whose values come as they are stored; nil until
	// answers are verified.
	storing []string
	// answers runs operations for Answer.
	answers *client
}

// Prepare checks that the operation's SQL compiles and asks for its plan.
func (d *database) Prepare(spec wire.Operation, trace *column.File) (kit.Operation, error) {
	if err := kit.CheckConnections(spec, d.count, cap(d.writers)); err != nil {
		return nil, err
	}
	o := &operation{db: d, spec: spec, trace: trace}
	var plans []string
	if d.lazy && !spec.Changes {
		return o, nil // to ask for a plan would open a connection
	}
	for i, step := range spec.Steps {
		if step.Script {
			continue // only a single statement can be explained
		}
		plan, err := d.explain(step, kit.FirstArguments(spec.Steps, i, trace))
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		plans = append(plans, plan)
	}
	o.plan = strings.Join(plans, "\n")
	return o, nil
}

// explain returns the details of EXPLAIN QUERY PLAN, a line each.
func (d *database) explain(step wire.Step, args []any) (string, error) {
	var lines []string
	err := d.any(func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+step.SQL, args...)
		if err != nil {
			return err
		}
		plan, err := sqlrows.Texts(rows)
		for _, row := range plan { // id, parent, unused, detail
			lines = append(lines, row[3])
		}
		return err
	})
	return strings.Join(lines, "\n"), err
}

func (o *operation) QueryPlan() string { return o.plan }

func (o *operation) Close() error {
	errs := []error{closeStatements(o.reads)}
	for _, u := range o.writes {
		errs = append(errs, u.close())
	}
	if o.answers != nil {
		errs = append(errs, o.answers.Close())
	}
	return errors.Join(errs...)
}

// Client returns a client that reads through the pool or changes through a
// writer's connection.
func (o *operation) Client() (kit.Client, error) {
	if o.spec.Changes {
		return &writer{o}, o.compileWrites()
	}
	if err := o.compileReads(); err != nil {
		return nil, err
	}
	c, err := o.newClient()
	if err == nil {
		c.steps = c.bind(o.db.readers, o.reads)
	}
	return c, err
}

// compileReads compiles the steps on every connection of the pool, so that none
// is compiled while measuring. A pool that opens its connections later compiles
// on them later.
func (o *operation) compileReads() (err error) {
	if o.reads != nil {
		return nil
	}
	if o.reads, err = o.compile(o.db.readers); err != nil || !o.spec.Statement.Keeps() || o.db.lazy {
		return err
	}
	return o.db.onEachReader(func() error { return compileInside(o.db.readers, o.reads) })
}

// compileInside compiles statements of the pool on its one free connection: a
// transaction is how database/sql does that without executing them.
func compileInside(pool *sql.DB, statements []*sql.Stmt) error {
	tx, err := pool.BeginTx(context.Background(), nil)
	if err != nil {
		return fmt.Errorf("compile on every connection: begin: %w", err)
	}
	for _, statement := range statements {
		// The transaction's own handle only borrows what is compiled.
		_ = tx.StmtContext(context.Background(), statement)
	}
	return tx.Rollback()
}

// compileWrites makes ready what each connection for changes runs.
func (o *operation) compileWrites() error {
	if o.writes != nil {
		return nil
	}
	o.writes = map[*sql.Conn]*unit{}
	return o.db.writers.Each(func(_ string, conn *sql.Conn) error {
		u, err := o.newUnit(conn)
		o.writes[conn] = u
		return err
	})
}

// Answer runs the operation and visits its rows.
func (o *operation) Answer(position int, visit func(int, []any) error) error {
	if err := kit.CheckAnswer(o.spec); err != nil {
		return err
	}
	if o.answers == nil {
		var err error
		if o.answers, err = o.verifying(); err != nil {
			return err
		}
	}
	_, err := showing{o.answers, visit}.Do(position)
	return err
}

// verifying returns a client whose answers have the values as they are stored.
// It has the statements that are measured, but for SQL that it has to ask
// otherwise.
func (o *operation) verifying() (*client, error) {
	if err := o.findStoring(); err != nil {
		return nil, err
	}
	same := *o
	same.spec.Steps = slices.Clone(o.spec.Steps)
	asked := o.reads != nil
	for i := range same.spec.Steps {
		asked = asked && same.spec.Steps[i].SQL == o.storing[i]
		same.spec.Steps[i].SQL = o.storing[i]
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
	statements := o.reads
	if !asked {
		if c.own, err = same.compile(o.db.readers); err != nil {
			return nil, err
		}
		statements = c.own
	}
	c.steps = c.bind(o.db.readers, statements)
	return c, nil
}

func (o *operation) findStoring() error {
	if o.storing != nil {
		return nil
	}
	var all []string
	for i, step := range o.spec.Steps {
		text, err := stored(o.db.readers, step.SQL, kit.FirstArguments(o.spec.Steps, i, o.trace))
		if err != nil {
			return err
		}
		all = append(all, text)
	}
	o.storing = all
	return nil
}

// Show returns a client of the same pool that shows what it reads.
func (c *client) Show(visit func(int, []any) error) (kit.Client, error) {
	shown, err := c.o.verifying()
	return showing{shown, visit}, err
}

type showing struct {
	*client
	visit func(step int, row []any) error
}

func (s showing) Do(position int) (rows int, err error) {
	for i := range s.steps {
		n, err := s.steps[i].run(position, func(row []any) error { return s.visit(i, row) }, nil)
		rows += n
		if err != nil {
			return rows, s.o.db.busy(err)
		}
	}
	return rows, nil
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

// client runs operations that change nothing. Their phases can be timed.
type client struct {
	o            *operation
	destinations []destinations
	steps        []preparedStep
	own          []*sql.Stmt // statements that are nobody else's; nil while measuring
}

// Do runs all steps. It does not call DoPhases: between system calls, which leave the
// caches cold, each call of a function costs 10 to 20 ns.
func (c *client) Do(position int) (int, error) {
	rows, err := runAll(c.steps, position, nil, nil)
	return rows, c.o.db.busy(err)
}

// DoPhases does the same and times the phases of each statement.
func (c *client) DoPhases(position int, phases *kit.Phases) (int, error) {
	rows, err := runAll(c.steps, position, phases, nil)
	return rows, c.o.db.busy(err)
}

func (c *client) Close() error { return closeStatements(c.own) }

// handle is what statements run on: a pool or a connection.
type handle interface {
	PrepareContext(context.Context, string) (*sql.Stmt, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

// compile compiles the steps on a handle where the policy is once, steps of the same
// SQL once together, as a program would; otherwise there are no statements, a nil for
// each step, as for a script.
func (o *operation) compile(on handle) ([]*sql.Stmt, error) {
	statements := make([]*sql.Stmt, len(o.spec.Steps))
	if !o.spec.Statement.Keeps() {
		return statements, nil
	}
	compiled := map[string]*sql.Stmt{}
	for i, step := range o.spec.Steps {
		if step.Script {
			continue // only a single statement can be compiled
		}
		if compiled[step.SQL] == nil {
			statement, err := on.PrepareContext(context.Background(), step.SQL)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("step %d: %w", i+1, err), closeStatements(statements))
			}
			compiled[step.SQL] = statement
		}
		statements[i] = compiled[step.SQL]
	}
	return statements, nil
}

// bind gives the client's steps their statements.
func (c *client) bind(on handle, statements []*sql.Stmt) []preparedStep {
	var steps []preparedStep
	first := 0
	for i, step := range c.o.spec.Steps {
		steps = append(steps, preparedStep{Step: step, ctx: context.Background(), on: on, statement: statements[i], each: c.o.spec.Statement == wire.Each && !step.Script, trace: c.o.trace,
			first: first, args: make([]any, step.Args), dest: c.destinations[i]})
		first += step.Args
	}
	return steps
}

func closeStatements(statements []*sql.Stmt) error {
	var errs []error
	for _, statement := range statements {
		if statement != nil {
			errs = append(errs, statement.Close())
		}
	}
	return errors.Join(errs...)
}

// preparedStep is one statement with the room for its arguments and rows.
type preparedStep struct {
	wire.Step
	ctx       context.Context // of the request that is answered; otherwise one that nobody cancels
	on        handle
	statement *sql.Stmt // nil unless compiled once
	each      bool      // compiled for each execution
	trace     *column.File
	first     int // column of the first argument
	args      []any
	dest      destinations
}

// run executes the step with the arguments at a position and returns the
// number of rows answered or changed. Phases are timed where phases is not nil.
func (p *preparedStep) run(position int, visit func([]any) error, phases *kit.Phases) (n int, err error) {
	phases.Begin()
	for i := range p.args {
		p.args[i] = p.trace.Value(p.first+i, position)
	}
	statement := p.statement
	if p.each {
		if statement, err = p.on.PrepareContext(p.ctx, p.SQL); err != nil {
			return 0, err
		}
		phases.End(kit.PhasePrepare)
		defer func() {
			if closed := statement.Close(); err == nil {
				err = closed
			}
			phases.End(kit.PhaseCloseStmt)
		}()
	}
	if !p.Query {
		n, err = p.exec(statement)
		phases.End(kit.PhaseQuery)
		return n, err
	}
	rows, err := p.query(statement)
	if err != nil {
		return 0, err
	}
	phases.End(kit.PhaseQuery)
	return p.dest.scan(rows, visit, phases)
}

func (p *preparedStep) query(statement *sql.Stmt) (*sql.Rows, error) {
	if statement == nil {
		return p.on.QueryContext(p.ctx, p.SQL, p.args...)
	}
	return statement.QueryContext(p.ctx, p.args...)
}

func (p *preparedStep) exec(statement *sql.Stmt) (int, error) {
	var result sql.Result
	var err error
	if statement == nil {
		result, err = p.on.ExecContext(p.ctx, p.SQL, p.args...)
	} else {
		result, err = statement.ExecContext(p.ctx, p.args...)
	}
	if err != nil {
		return 0, err
	}
	changed, err := result.RowsAffected()
	return int(changed), err
}
