// Package seeded is SQLite with random functions whose values follow from a seed: those of
// pgbench (random, random_exponential, random_gaussian, random_zipfian, permute, hash),
// text and blob, and the table generate_series. Data and arguments are SELECTs that it
// runs.
//
// A random value depends on the seed, on the stream that Begin names, and on how many
// values were drawn before in it. What ForEach evaluates depends on the position alone:
// word i of a position is that of WordsOf.
package seeded

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"assay/internal/plan/sqltext"
)

// Session is a connection with the functions.
type Session struct {
	*sql.Conn
	seed   uint64
	random random
	each   map[int64]*Each
	next   int64
	called bool // the tables can be called
	driver *sqlite.Driver
}

// idle are sessions that have ended: SQLite's driver keeps for ever what is registered with
// it, so it is registered once for all that run at a time.
var idle struct {
	sync.Mutex
	all []*Session
}

func take() (*Session, error) {
	idle.Lock()
	defer idle.Unlock()
	if n := len(idle.all); n > 0 {
		s := idle.all[n-1]
		idle.all = idle.all[:n-1]
		return s, nil
	}
	s := &Session{driver: &sqlite.Driver{}}
	return s, errors.Join(s.register(s.driver),
		s.driver.RegisterModule("generate_series", &series{session: s}),
		s.driver.RegisterModule(operations, &series{session: s, operation: true}))
}

// operations is the table that an expression is evaluated over.
const operations = "assay_operations"

type connector struct {
	driver *sqlite.Driver
	dsn    string
}

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c connector) Driver() driver.Driver                        { return c.driver }

// Connect opens a database, which done closes.
func Connect(ctx context.Context, dsn string, seed uint64) (s *Session, done func() error, err error) {
	if s, err = take(); err != nil {
		return nil, nil, err
	}
	db := sql.OpenDB(connector{s.driver, dsn})
	if s.Conn, err = db.Conn(ctx); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	s.seed, s.random, s.each, s.next, s.called = seed, random{}, map[int64]*Each{}, 0, false
	done = func() error {
		_ = s.Conn.Close() // returns it to the pool, which is closed next
		err := db.Close()
		idle.Lock()
		defer idle.Unlock()
		idle.all = append(idle.all, s)
		return err
	}
	return s, done, nil
}

// Begin has what is drawn from now on be of a stream.
func (s *Session) Begin(ctx context.Context, stream string) error {
	s.random = random{words: WordsOf(Key(s.seed, stream, 0), 0)}
	return s.tables(ctx)
}

// tables makes the tables that are called, once. The file's encoding is fixed then.
func (s *Session) tables(ctx context.Context) error {
	if s.called {
		return nil
	}
	for _, table := range []string{"generate_series", operations} {
		if _, err := s.ExecContext(ctx, fmt.Sprintf("CREATE VIRTUAL TABLE temp.%s USING %[1]s", table)); err != nil {
			return err
		}
	}
	s.called = true
	return nil
}

// Each says for which operations an expression is evaluated.
type Each struct {
	Stream string
	Rows   int
	// At is what :i is in a row, and the position that what is random follows from.
	At  func(row int) (i int64, position int)
	key uint64
}

// ForEach evaluates the values of a SELECT without FROM, one row for each operation. Several
// can be read in turns.
func (s *Session) ForEach(ctx context.Context, expression string, each Each) (*sql.Rows, error) {
	query, err := s.Over(ctx, expression, each)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, query)
}

// Over is the query that ForEach makes, for this session.
func (s *Session) Over(ctx context.Context, expression string, each Each) (string, error) {
	query, err := perOperation(expression)
	if err == nil {
		err = s.tables(ctx)
	}
	if err != nil {
		return "", err
	}
	each.key = Key(s.seed, each.Stream, 0)
	s.next++
	s.each[s.next] = &each
	return fmt.Sprintf("%s\nFROM temp.%s(%d) AS \"%[2]s\"", query, operations, s.next), nil
}

// perOperation writes the number of the operation for :i, and gives it to each function
// that draws: SQLite evaluates a subquery only once that depends on nothing around it.
func perOperation(expression string) (string, error) {
	tokens, whole := sqltext.Scan(expression)
	if !whole {
		return "", errors.New("a quote or comment has no end")
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].Kind == ';' {
		tokens = tokens[:len(tokens)-1]
	}
	const number = `"` + operations + `".value`
	var text strings.Builder
	end := 0
	var closing []int // depths at which the calls of functions that draw end
	for i, t := range tokens {
		text.WriteString(expression[end:t.From])
		written := expression[t.From:t.To]
		switch {
		case t.Kind == sqltext.Named && t.Text == ":i":
			written = number
		case t.Kind == ')' && len(closing) > 0 && closing[len(closing)-1] == t.Depth:
			closing = closing[:len(closing)-1]
			written = ", " + number + written
		case draws(t) && i+2 < len(tokens) && tokens[i+1].Kind == '(' && tokens[i+2].Kind != ')':
			closing = append(closing, t.Depth)
			written = perOperationPrefix + written
		}
		text.WriteString(written)
		end = t.To
	}
	return text.String(), nil
}

// Draws reports whether SQL has a function that draws.
func Draws(sql string) bool {
	tokens, _ := sqltext.Scan(sql)
	return slices.ContainsFunc(tokens, draws)
}

func draws(t sqltext.Token) bool {
	return t.Kind == sqltext.Word && slices.Contains(functions, strings.ToLower(t.Text))
}
