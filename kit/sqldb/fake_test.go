package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	worker "assay/kit/sql"
	"assay/kit/wire"
)

// fake is a database/sql driver that does what a test scripts, and notes what
// it was asked. Each test registers one of its own.
type fake struct {
	// respond answers a statement that runs on a connection, counted from 1.
	// Without it every query has no rows and every change changes one.
	respond func(conn int, text string, args []driver.Value) answer

	mu   sync.Mutex
	log  []string // "1: SELECT 1" for what runs on connection 1
	all  int      // connections opened so far
	open int      // connections open now
}

// answer is how a statement ends.
type answer struct {
	rows [][]driver.Value
	err  error
}

var registered atomic.Int64

// register makes the fake known to database/sql and describes it.
func (f *fake) register() Driver {
	name := fmt.Sprint("fake-", registered.Add(1))
	sql.Register(name, f)
	return Driver{Name: "fake", SQLName: name, Key: func(string, string) string { return "" }, Busy: isLocked}
}

var errLocked = errors.New("locked")

func isLocked(err error) bool { return errors.Is(err, errLocked) }

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

// did returns what was noted since it was asked last.
func (f *fake) did() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := f.log
	f.log = nil
	return log
}

func (f *fake) Open(dsn string) (driver.Conn, error) {
	if strings.HasSuffix(dsn, "/missing") {
		return nil, errors.New("no such file")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all++
	f.open++
	f.log = append(f.log, fmt.Sprintf("%d: open %s", f.all, dsn))
	return &fakeConn{f, f.all}, nil
}

type fakeConn struct {
	*fake
	id int
}

func (c *fakeConn) Prepare(text string) (driver.Stmt, error) {
	if strings.HasPrefix(text, "SELEKT") {
		return nil, errors.New("syntax error")
	}
	c.note("%d: prepare %s", c.id, text)
	return &fakeStmt{c, text}, nil
}

// Begin is how statements of the pool are compiled on a connection. It is not
// noted: it does nothing to data.
func (c *fakeConn) Begin() (driver.Tx, error) { return fakeTx{}, nil }

type fakeTx struct{}

func (fakeTx) Commit() error   { return errors.New("nobody commits it") }
func (fakeTx) Rollback() error { return nil }

func (c *fakeConn) Close() error {
	c.note("%d: close", c.id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	return nil
}

type fakeStmt struct {
	*fakeConn
	text string
}

func (s *fakeStmt) Close() error {
	s.note("%d: release %s", s.id, s.text)
	return nil
}

func (s *fakeStmt) NumInput() int { return -1 }

func (s *fakeStmt) run(args []driver.Value) answer {
	line := fmt.Sprintf("%d: %s", s.id, s.text)
	if len(args) > 0 {
		line += fmt.Sprint(" ", args)
	}
	s.note("%s", line)
	if s.respond == nil {
		return answer{}
	}
	return s.respond(s.id, s.text, args)
}

func (s *fakeStmt) Exec(args []driver.Value) (driver.Result, error) {
	a := s.run(args)
	return driver.RowsAffected(1), a.err
}

func (s *fakeStmt) Query(args []driver.Value) (driver.Rows, error) {
	a := s.run(args)
	if a.err != nil {
		return nil, a.err
	}
	rows := &fakeRows{left: a.rows}
	if len(a.rows) > 0 {
		rows.columns = make([]string, len(a.rows[0]))
	}
	return rows, nil
}

type fakeRows struct {
	columns []string
	left    [][]driver.Value
}

func (r *fakeRows) Columns() []string { return r.columns }

func (r *fakeRows) Close() error { return nil }

// Next ends with the error that stands in place of a row's first value.
func (r *fakeRows) Next(values []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	row := r.left[0]
	r.left = r.left[1:]
	if err, ok := row[0].(error); ok {
		return err
	}
	copy(values, row)
	return nil
}

// modern is a fake with a connector, as newer drivers have.
type modern struct{ *fake }

func (m modern) OpenConnector(dsn string) (driver.Connector, error) {
	if strings.HasSuffix(dsn, "?bad") {
		return nil, errors.New("bad DSN")
	}
	return connectorOf{m, dsn}, nil
}

type connectorOf struct {
	modern
	dsn string
}

func (c connectorOf) Connect(context.Context) (driver.Conn, error) {
	conn, err := c.fake.Open(c.dsn + " by connector")
	if err != nil {
		return nil, err
	}
	return modernConn{conn.(*fakeConn)}, nil
}

func (c connectorOf) Driver() driver.Driver { return c.modern }

type modernConn struct{ *fakeConn }

func (c modernConn) Prepare(text string) (driver.Stmt, error) {
	stmt, err := c.fakeConn.Prepare(text)
	if err != nil {
		return nil, err
	}
	return modernStmt{stmt.(*fakeStmt)}, nil
}

type modernStmt struct{ *fakeStmt }

func (s modernStmt) QueryContext(_ context.Context, args []driver.NamedValue) (driver.Rows, error) {
	values := make([]driver.Value, len(args))
	for i, arg := range args {
		values[i] = arg.Value
	}
	return s.Query(values)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openFake opens a database of the fake and closes it after the test.
func openFake(t *testing.T, f *fake, request wire.Open) *database {
	t.Helper()
	request.Path = "/d"
	db, _, err := New(f.register()).Open(request)
	must(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if f.open != 0 {
			t.Errorf("%d connections are still open", f.open)
		}
	})
	f.did()
	return db.(*database)
}

type database = worker.Database[*conn]
