package sql

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"
)

// operation is a prepared operation. Reading and changing ones differ in the
// connections they use.
type operation[C comparable] struct {
	db      *Database[C]
	spec    wire.Operation
	steps   []Step
	around  []Step // begin and commit; none without transactions
	plan    string
	clients int         // made so far, all before the first one works
	answers *showing[C] // for Answer

	mutex sync.Mutex // of compiled: a pool can open connections later
	// compiled has what is compiled once on each connection, by SQL: steps of the
	// same SQL share a statement, as they would in a program. It is nil until a
	// client needs it.
	compiled map[C]map[string]Compiled
}

// Prepare looks whether the operation's SQL can be executed, and how.
func (d *Database[C]) Prepare(spec wire.Operation, trace *column.File) (kit.Operation, error) {
	if err := spec.CheckSQL(d.request.Readers, d.request.Writers); err != nil {
		return nil, err
	}
	o := &operation[C]{db: d, spec: spec}
	first := 0
	for _, step := range spec.Steps {
		step.SQL = strings.TrimSpace(step.SQL) // what is left behind a statement is an error to some drivers
		s := Step{Step: step, Policy: spec.Statement, Trace: trace, First: first}
		if step.Script {
			s.Policy = wire.Never // only a single statement can be compiled
		}
		o.steps = append(o.steps, s)
		first += step.Args
	}
	if spec.Transaction > 0 {
		for _, text := range []string{d.api.Begin(), "COMMIT"} {
			o.around = append(o.around, Step{Step: wire.Step{SQL: text}, Policy: spec.Statement, Around: true})
		}
	}
	if d.lazy() && !spec.Changes {
		return o, nil // to ask for a plan would open a connection
	}
	return o, d.any(o.explain)
}

func (o *operation[C]) explain(conn C) error {
	var plan []string
	for i, step := range o.steps {
		lines, err := o.db.api.Explain(conn, step)
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		plan = append(plan, lines...)
	}
	o.plan = strings.Join(plan, "\n")
	return nil
}

func (o *operation[C]) QueryPlan() string { return o.plan }

func (o *operation[C]) Close() error {
	var errs []error
	for _, compiled := range o.compiled {
		errs = append(errs, closeAll(compiled))
	}
	return errors.Join(errs...)
}

func closeAll(compiled map[string]Compiled) error {
	var errs []error
	for _, statement := range compiled {
		if statement != nil {
			errs = append(errs, statement.Close())
		}
	}
	return errors.Join(errs...)
}

// compile compiles all steps on every connection that may run them, so that
// none is compiled while measuring.
func (o *operation[C]) compile() error {
	if o.compiled != nil {
		return nil
	}
	o.compiled = map[C]map[string]Compiled{}
	if whole := o.db.whole; whole != nil && !o.spec.Changes {
		statements, err := o.compiledOn(whole.Whole())
		if err != nil || len(statements) == 0 || o.db.lazy() {
			return err
		}
		return whole.CompileEverywhere(slices.Collect(maps.Values(statements)))
	}
	return o.db.every(func(_ string, writes bool, conn C) error {
		if writes != o.spec.Changes {
			return nil
		}
		_, err := o.compiledOn(conn)
		return err
	})
}

// compiledOn returns what is compiled on a connection, by SQL.
func (o *operation[C]) compiledOn(conn C) (map[string]Compiled, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.compiled[conn] == nil {
		statements, err := o.compileOn(conn)
		if err != nil {
			return nil, errors.Join(err, closeAll(statements))
		}
		o.compiled[conn] = statements
	}
	return o.compiled[conn], nil
}

// compileOn returns as much as it could compile, also with an error.
func (o *operation[C]) compileOn(conn C) (map[string]Compiled, error) {
	statements := map[string]Compiled{}
	for i, step := range slices.Concat(o.steps, o.around) {
		if _, is := statements[step.SQL]; is || !step.Policy.Keeps() {
			continue
		}
		statement, err := o.db.api.Compile(conn, step)
		if err != nil && step.Around {
			return statements, fmt.Errorf("%s: %w", step.SQL, err)
		}
		if err != nil {
			return statements, fmt.Errorf("step %d: %w", i+1, err)
		}
		statements[step.SQL] = statement
	}
	return statements, nil
}

// Client returns a client, which is also a kit.Profiler.
func (o *operation[C]) Client() (kit.Client, error) {
	c, err := o.newClient(o.clients)
	o.clients++
	return c, err
}

// newClient makes a client ready. Those of whole pools, and the first ones where
// the API has none, have a connection of their own.
func (o *operation[C]) newClient(number int) (*client[C], error) {
	c := &client[C]{o: o, number: number, units: map[C]*unit[C]{}}
	err := o.compile()
	if err != nil {
		return c, err
	}
	for conn := range maps.Clone(o.compiled) {
		if _, err := c.unit(conn); err != nil {
			return c, err
		}
	}
	switch readers := o.db.readers; {
	case o.spec.Changes:
	case o.db.whole != nil:
		c.own, err = c.unit(o.db.whole.Whole())
		c.most = math.MaxInt
	case number < len(readers):
		c.own, err = c.unit(readers[number])
		c.most = len(readers)
	}
	return c, err
}

// Answer runs the operation and visits its rows.
func (o *operation[C]) Answer(position int, visit func(int, []any) error) error {
	if err := kit.CheckAnswer(o.spec); err != nil {
		return err
	}
	if o.answers == nil {
		c, err := o.newClient(0)
		if err != nil {
			return err
		}
		o.answers = &showing[C]{client: c}
	}
	o.answers.visit = visit
	_, err := o.answers.Do(position)
	return err
}
