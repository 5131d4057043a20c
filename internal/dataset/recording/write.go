// Package recording is the SQLite file in which a plan has what a program asked of its
// database: the values that it bound, and in which order it did what, to do the same again.
//
// A unit is a transaction that was committed, or a statement outside of any. Its position is
// its place in the order in which they ended; those that had ended when it began are the first
// ones, and after is their number. Its part is what it does: statement has the steps of each,
// with the rows that the program had of them in all. boundN has the values of statements that
// take N. replay has the number of clients, and why the units cannot be done again.
package recording

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"

	_ "modernc.org/sqlite" // writes and reads the file
)

const schema = `CREATE TABLE unit (unit INTEGER PRIMARY KEY, position INTEGER, part INTEGER, after INTEGER, connection INTEGER, began INTEGER, ended INTEGER);
CREATE TABLE statement (part INTEGER, step INTEGER, sql TEXT, args INTEGER, "transaction" INTEGER, rows INTEGER, PRIMARY KEY (part, step)) WITHOUT ROWID;
CREATE TABLE replay (clients INTEGER, why TEXT)`

const (
	// MaxArgs is how many values of one statement are kept.
	MaxArgs = 1900
	// maxSteps bounds the statements of all parts: each is prepared on each connection.
	maxSteps = 5000
	// maxSample and maxSize bound the rows of a sample, and their bytes.
	maxSample = 10_000
	maxSize   = 16 << 20
)

// Statement is one that the program has done.
type Statement struct {
	SQL  string // with ? or ?N for its arguments
	Args []any  // nil, int64, float64, string or []byte
	Rows int64  // that it had, below 0: unknown
}

// Unit holds what the program has done at once.
type Unit struct {
	Asked, Began, Ended int64 // of a transaction, it began when it had what it waited for
	Connection          int64
	Transaction         bool
	Statements          []Statement
}

// Part are units that differ in their values alone.
type Part struct {
	Units       int
	number      int
	sample      int // units of which the values are small enough to be used again
	size        int
	transaction bool
	types       [][]string // of the values; empty: only NULL so far
	statements  []Statement
}

// Writer writes a recording.
type Writer struct {
	db      *sql.DB
	tx      *sql.Tx
	bound   map[int]*sql.Stmt
	parts   map[string][]*Part
	all     []*Part
	units   []placed
	samples int
}

// placed is a unit without its values.
type placed struct {
	asked, began, ended, connection int64
	unit, part                      int
}

// Create begins a file that only its owner can read.
func Create(ctx context.Context, path string) (w *Writer, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return nil, err
	}
	w = &Writer{bound: map[int]*sql.Stmt{}, parts: map[string][]*Part{}}
	if w.db, err = sql.Open("sqlite", path); err != nil {
		return nil, err
	}
	w.db.SetMaxOpenConns(1)
	if w.tx, err = w.db.BeginTx(ctx, nil); err == nil {
		_, err = w.tx.ExecContext(ctx, schema)
	}
	if err != nil {
		return nil, errors.Join(err, w.db.Close())
	}
	return w, nil
}

// Add adds a unit, and returns its part.
func (w *Writer) Add(ctx context.Context, u Unit) (*Part, error) {
	p := w.part(u)
	p.Units++
	number := len(w.units) + 1
	w.units = append(w.units, placed{u.Asked, u.Began, u.Ended, u.Connection, number, p.number})
	for i, s := range u.Statements {
		if p.statements[i].Rows += s.Rows; s.Rows < 0 || p.statements[i].Rows < 0 {
			p.statements[i].Rows = -1 << 62
		}
		if len(s.Args) == 0 {
			continue
		}
		insert, err := w.insert(ctx, len(s.Args))
		if err == nil {
			_, err = insert.ExecContext(ctx, append([]any{p.number, i + 1, number}, s.Args...)...)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// part finds the part of a unit, of which a value is of the same type each time, or NULL.
func (w *Writer) part(u Unit) *Part {
	texts := []string{fmt.Sprint(u.Transaction)}
	for _, s := range u.Statements {
		texts = append(texts, s.SQL)
	}
	key := strings.Join(texts, "\x00")
	i := slices.IndexFunc(w.parts[key], func(p *Part) bool { return p.takes(u) })
	if i < 0 {
		p := &Part{number: len(w.all) + 1, transaction: u.Transaction}
		for _, s := range u.Statements {
			p.statements = append(p.statements, Statement{SQL: s.SQL})
			p.types = append(p.types, make([]string, len(s.Args)))
		}
		i = len(w.parts[key])
		w.parts[key], w.all = append(w.parts[key], p), append(w.all, p)
	}
	p := w.parts[key][i]
	for i, s := range u.Statements {
		for j, v := range s.Args {
			if v != nil {
				p.types[i][j] = fmt.Sprintf("%T", v)
			}
			switch v := v.(type) {
			case string:
				p.size += len(v)
			case []byte:
				p.size += len(v)
			}
		}
	}
	if p.size <= maxSize && p.sample < maxSample {
		p.sample++
	}
	return p
}

// takes reports whether the values of a unit are of the part's types.
func (p *Part) takes(u Unit) bool {
	for i, s := range u.Statements {
		if len(s.Args) != len(p.types[i]) {
			return false
		}
		for j, v := range s.Args {
			if known := p.types[i][j]; v != nil && known != "" && known != fmt.Sprintf("%T", v) {
				return false
			}
		}
	}
	return true
}

func (w *Writer) insert(ctx context.Context, args int) (*sql.Stmt, error) {
	if w.bound[args] != nil {
		return w.bound[args], nil
	}
	table := fmt.Sprintf("bound%d", args)
	_, err := w.tx.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (part INTEGER, step INTEGER, unit INTEGER, %s, PRIMARY KEY (part, step, unit)) WITHOUT ROWID", table, Columns(args)))
	if err != nil {
		return nil, err
	}
	w.bound[args], err = w.tx.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES (?, ?, ?%s)", table, strings.Repeat(", ?", args)))
	return w.bound[args], err
}

// Columns are the names of so many values.
func Columns(args int) string {
	var names []string
	for i := range args {
		names = append(names, fmt.Sprintf("a%d", i+1))
	}
	return strings.Join(names, ", ")
}

// values is a query of what a step bound, in the order of the positions.
func values(schema, columns string, args, part, step int) string {
	return fmt.Sprintf("SELECT %s FROM %sbound%d AS b JOIN %[2]sunit AS u USING (unit) WHERE b.part = %[4]d AND b.step = %d ORDER BY u.position", columns, schema, args, part, step)
}

// Sample makes a view of what the one statement of a part bound, and returns its name: at is
// when, and the rest Columns.
func (w *Writer) Sample(ctx context.Context, p *Part) (view string, err error) {
	w.samples++
	view = fmt.Sprintf("q%d", w.samples)
	args := len(p.types[0])
	_, err = w.tx.ExecContext(ctx, fmt.Sprintf("CREATE VIEW %s AS %s LIMIT %d", view, values("", "u.began AS at, "+Columns(args), args, p.number, 1), p.sample))
	return view, err
}

// Args returns how many values the one statement of a part takes; 0 where it has several.
func (p *Part) Args() int {
	if len(p.types) != 1 {
		return 0
	}
	return len(p.types[0])
}

// Close ends the file. Why says why the units cannot be done again; empty: they can. It is
// returned, with what the units themselves say.
func (w *Writer) Close(ctx context.Context, why string) (_ string, err error) {
	defer func() { err = errors.Join(err, w.db.Close()) }()
	steps := 0
	for _, p := range w.all {
		for i, s := range p.statements {
			steps++
			rows := sql.NullInt64{Int64: s.Rows, Valid: s.Rows >= 0}
			if _, err := w.tx.ExecContext(ctx, "INSERT INTO statement VALUES (?, ?, ?, ?, ?, ?)", p.number, i+1, s.SQL, len(p.types[i]), p.transaction, rows); err != nil {
				return "", err
			}
		}
	}
	switch {
	case why != "":
	case steps == 0:
		why = "the log has no statement that was committed"
	case steps > maxSteps:
		why = fmt.Sprintf("the log has %d different transactions and statements, of %d statements in all, and a replay has at most %d: bind values instead of writing them into SQL, or record a shorter time", len(w.all), steps, maxSteps)
	}
	if err := w.place(ctx); err != nil {
		return "", err
	}
	if _, err := w.tx.ExecContext(ctx, "INSERT INTO replay VALUES (?, ?)", w.clients(), why); err != nil {
		return "", err
	}
	return why, w.tx.Commit()
}

// place writes the units in the order in which they ended. One comes after all that had ended
// when it began, and after the one before of its connection.
func (w *Writer) place(ctx context.Context) error {
	slices.SortStableFunc(w.units, func(a, b placed) int { return cmp.Compare(a.ended, b.ended) })
	insert, err := w.tx.PrepareContext(ctx, "INSERT INTO unit VALUES (?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	last := map[int64]int{} // the position behind the newest of a connection
	for i, u := range w.units {
		after := sort.Search(i, func(k int) bool { return w.units[k].ended > u.began })
		after = max(after, last[u.connection])
		last[u.connection] = i + 1
		if _, err := insert.ExecContext(ctx, u.unit, i, u.part, after, u.connection, u.began, u.ended); err != nil {
			return err
		}
	}
	return insert.Close()
}

// clients are the connections that were in use at the same time: from its first unit to its
// last one, each is.
func (w *Writer) clients() int {
	type span struct{ from, to int64 }
	spans := map[int64]span{}
	for _, u := range w.units {
		s, known := spans[u.connection]
		if !known {
			s = span{u.asked, u.ended}
		}
		spans[u.connection] = span{min(s.from, u.asked), max(s.to, u.ended)}
	}
	var begins, ends []int64
	for _, s := range spans {
		begins, ends = append(begins, s.from), append(ends, s.to)
	}
	slices.Sort(begins)
	slices.Sort(ends)
	most, ended := 1, 0
	for i, at := range begins {
		for ends[ended] < at {
			ended++
		}
		most = max(most, i+1-ended)
	}
	return most
}
