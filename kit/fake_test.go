package kit

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"assay/kit/column"
	"assay/kit/column/columntest"
	"assay/kit/wire"
)

// fake is an engine that does what a test scripts. The zero value does every
// operation right and answers nothing.
type fake struct {
	target  error // of finding out the target
	open    error
	prepare error
	client  error
	closing error // of closing the database
	// do is what clients of an operation do at a position. Without it they
	// return the rows that are expected of a single operation.
	do func(op wire.Operation, position int) (int, error)
	// answers are the rows of any query and of any step, at any position.
	answers [][]any

	mu  sync.Mutex
	log []string // of what is opened and closed
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *fake) Capabilities() []string { return []string{wire.CapSQL} }

func (f *fake) Target() (wire.Target, error) {
	return wire.Target{Driver: "fake", DriverVersion: "v1", Engine: "none", EngineVersion: "2"}, f.target
}

func (f *fake) Open(request wire.Open) (Database, wire.Opened, error) {
	if f.open != nil {
		return nil, wire.Opened{}, f.open
	}
	f.note("open %s", request.Path)
	return fakeDatabase{f}, wire.Opened{DSN: "fake:" + request.Path}, nil
}

type fakeDatabase struct{ *fake }

func (d fakeDatabase) Settings(names []string) ([]wire.Connection, error) {
	settings := map[string]string{}
	for _, name := range names {
		settings[name] = "on"
	}
	return []wire.Connection{{Name: "reader-1", Settings: settings}}, nil
}

func (d fakeDatabase) Prepare(op wire.Operation, trace *column.File) (Operation, error) {
	if d.prepare != nil {
		return nil, d.prepare
	}
	d.note("prepare %s", op.Name)
	return &fakeOperation{d.fake, op}, nil
}

func (d fakeDatabase) Query(sql string, _ []string, visit func([]any) error) error {
	if sql == "SELEKT" {
		return errors.New("syntax error")
	}
	return d.rows(visit)
}

func (d fakeDatabase) rows(visit func([]any) error) error {
	for _, row := range d.answers {
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}

func (d fakeDatabase) Close() error {
	d.note("close database")
	return d.closing
}

type fakeOperation struct {
	*fake
	op wire.Operation
}

func (o *fakeOperation) QueryPlan() string { return "plan of " + o.op.Name }

func (o *fakeOperation) Client() (Client, error) {
	if o.client != nil {
		return nil, o.client
	}
	return fakeClient{o}, nil
}

func (o *fakeOperation) Answer(position int, visit func(int, []any) error) error {
	o.note("answer %d", position)
	for i, step := range o.op.Steps {
		if !step.Query {
			continue
		}
		if err := (fakeDatabase{o.fake}).rows(func(row []any) error { return visit(i, row) }); err != nil {
			return err
		}
	}
	return nil
}

func (o *fakeOperation) Close() error {
	o.note("close %s", o.op.Name)
	return nil
}

type fakeClient struct{ *fakeOperation }

func (c fakeClient) Do(position int) (int, error) {
	if c.fake.do != nil {
		return c.fake.do(c.op, position)
	}
	return expectedRows(c.op), nil
}

func (c fakeClient) Close() error {
	c.note("close client of %s", c.op.Name)
	return nil
}

// oneRow is an operation that is expected to return one row.
func oneRow(name string) wire.Operation {
	return wire.Operation{Name: name, Steps: []wire.Step{{SQL: "SELECT 1", Query: true, Rows: 1, Returns: []string{"int"}}}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// numbers is a trace of one column with the numbers below n.
func numbers(t testing.TB, n int) string {
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = []any{int64(i)}
	}
	return columntest.Write(t, []column.Type{column.Int}, rows...)
}

// prepareFake makes an operation ready and closes it after the test.
func prepareFake(t *testing.T, f *fake, op wire.Operation, clients int) *prepared {
	t.Helper()
	p, err := prepareOperation(fakeDatabase{f}, op, clients)
	must(t, err)
	t.Cleanup(func() {
		if err := p.close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// refusal says with which code something was refused.
func refusal(err error) string {
	var refused *wire.Error
	if !errors.As(err, &refused) {
		return fmt.Sprint(err)
	}
	return refused.Code + ": " + refused.Message
}
