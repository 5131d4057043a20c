// Package traffic records what a program asks of its database, for assay init --log:
// statements with their arguments, transactions, connections, times and rows. The file is
// for its owner alone. SQL is read as SQLite reads it: record no other database.
// docs/traffic.md is the format's contract.
//
// The package is this one file, and needs nothing but Go: copy it into your program.
// Nothing is recorded unless the program asks for it:
//
//	recorder, err := traffic.Open("app.ndjson", 64<<20)
//	sql.Register("recorded", recorder.Driver(&sqlite3.SQLiteDriver{}))
//	db, err := sql.Open("recorded", "app.db")
//	...
//	recorder.Close()
package traffic

//lint:file-ignore SA1019 older drivers have nothing newer

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"
)

const (
	version    = 2
	buffered   = 64 << 10 // bytes that are written at once
	waiting    = 16       // full buffers that may wait for the disk before lines are dropped
	maxTexts   = 10_000   // different statements that are known again
	longText   = 4096     // bytes of a statement that is not kept to know it again
	longValue  = 1 << 20  // bytes of a text or blob of which only the length is recorded
	lastLine   = 33       // bytes, at most, of the line that says how many were dropped
	flushEvery = time.Second
)

// Recorder writes one file. Its methods may be called from several goroutines.
type Recorder struct {
	path    string
	began   time.Time
	conns   atomic.Int64
	txs     atomic.Int64
	open    atomic.Int64 // queries whose rows are read
	chunks  chan []byte
	spare   chan []byte
	done    chan error
	stop    chan struct{}
	stopped sync.Once

	mu         sync.Mutex
	closed     bool
	full       bool  // a line did not fit, so that no later one is written either
	left       int64 // bytes that the file may still get
	dropped    int64
	buffer     []byte
	texts      int                   // so many have a name
	statements map[string]*statement // by text
}

// statement is a text of the program's.
type statement struct {
	text            string
	mark, savepoint string // of one that begins or ends a transaction
	id              string // empty: its text is not in the file
}

// Open creates the file, which must not exist, with a mode that lets nobody else
// read it. It gets at most max bytes; what is more is dropped, and counted.
func Open(path string, max int64) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record traffic: %w", err)
	}
	r := &Recorder{path: path, began: time.Now(), chunks: make(chan []byte, waiting), spare: make(chan []byte, waiting), done: make(chan error, 1), stop: make(chan struct{}),
		left: max - lastLine, statements: map[string]*statement{}}
	r.fits(fmt.Appendf(nil, "{\"traffic\":%d,\"began\":%q}\n", version, r.began.UTC().Format("2006-01-02T15:04:05.000Z07:00")))
	go r.write(file)
	go r.flush()
	return r, nil
}

// write writes full buffers, so that statements do not wait for the disk.
func (r *Recorder) write(file *os.File) {
	var failed error
	for chunk := range r.chunks {
		if failed == nil {
			_, failed = file.Write(chunk)
		}
		if cap(chunk) <= 4*buffered {
			select {
			case r.spare <- chunk[:0]:
			default:
			}
		}
	}
	r.done <- errors.Join(failed, file.Close())
}

// flush hands on every second what is there.
func (r *Recorder) flush() {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-ticker.C:
			r.mu.Lock()
			r.hand()
			r.mu.Unlock()
		}
	}
}

// hand passes the buffer on to be written. Where too many wait it is kept.
func (r *Recorder) hand() {
	if r.closed || len(r.buffer) == 0 {
		return
	}
	select {
	case r.chunks <- r.buffer:
	default:
		return
	}
	select {
	case r.buffer = <-r.spare:
	default:
		r.buffer = make([]byte, 0, 2*buffered)
	}
}

// Close writes what is left, and how many lines were dropped. Statements after it
// are not recorded.
func (r *Recorder) Close() error {
	err := error(nil)
	r.stopped.Do(func() {
		close(r.stop)
		r.mu.Lock()
		r.closed = true
		last := fmt.Appendf(r.buffer, "{\"dropped\":%d}\n", r.dropped+r.open.Load())
		r.mu.Unlock()
		r.chunks <- last
		close(r.chunks)
		err = <-r.done
	})
	return err
}

// Snapshot keeps the database as it is now beside the log, for its owner alone: app.start.db
// beside app.ndjson. Call it before the program changes anything.
func (r *Recorder) Snapshot(ctx context.Context, db *sql.DB) error {
	path := strings.TrimSuffix(r.path, ".ndjson") + ".start.db"
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "VACUUM INTO ?", path)
	}
	if err != nil {
		return fmt.Errorf("keep the database: %w", err)
	}
	return nil
}

// event is a statement that is done.
type event struct {
	began    int64 // nanoseconds, from the recorder's beginning
	conn, tx int64
	rows     int64
	err      error
	prepared string // never, or each: for this execution; empty: for several
}

func (r *Recorder) now() int64 { return int64(time.Since(r.began)) }

// record writes the line of a statement, and before the first one its text, or counts it
// as dropped. Arguments are as describe has them.
func (r *Recorder) record(e event, s *statement, args []byte) {
	took := r.now() - e.began
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.buffer) >= buffered {
		r.hand()
	}
	if r.closed || r.full || args == nil || len(r.buffer) >= buffered || !r.known(s) {
		r.dropped++
		return
	}
	from := len(r.buffer)
	line := append(r.buffer, `{"at":`...)
	line = strconv.AppendInt(line, e.began, 10)
	line = append(line, `,"conn":`...)
	line = strconv.AppendInt(line, e.conn, 10)
	line = append(line, `,"tx":`...)
	line = strconv.AppendInt(line, e.tx, 10)
	line = append(append(append(line, `,"s":"`...), s.id...), '"')
	line = append(append(line, args...), `,"rows":`...)
	line = strconv.AppendInt(line, e.rows, 10)
	line = append(line, `,"ns":`...)
	line = strconv.AppendInt(line, took, 10)
	if e.prepared != "" && s.mark == "" {
		line = append(append(append(line, `,"prep":"`...), e.prepared...), '"')
	}
	if e.err != nil {
		line = append(append(append(line, `,"err":"`...), class(e.err)...), '"')
	}
	line = append(line, "}\n"...)
	r.buffer = line[:from]
	if !r.fits(line[from:]) {
		r.dropped++
	}
	if len(r.buffer) >= buffered {
		r.hand()
	}
}

// fits adds a line, and says whether it did.
func (r *Recorder) fits(line []byte) bool {
	if r.full = r.full || int64(len(line)) > r.left; r.full {
		return false
	}
	r.left -= int64(len(line))
	r.buffer = append(r.buffer, line...)
	return true
}

// known gives a statement a name, and says whether its text is in the file.
func (r *Recorder) known(s *statement) bool {
	if s.id != "" {
		return true
	}
	id := strconv.Itoa(r.texts + 1)
	if !r.fits(append(quote(append(append([]byte(`{"id":"`), id...), `","sql":`...), strings.ToValidUTF8(s.text, "\ufffd")), "}\n"...)) {
		return false
	}
	r.texts++
	s.id = id
	return true
}

// none are no arguments; nil are some that cannot be recorded.
var none = []byte{}

// describe adds the arguments of a statement: a list of those without a name, and the
// others by their names. It returns nil where one is of a type that SQLite does not have.
func describe(into []byte, args []driver.NamedValue) []byte {
	opened := byte(0)
	for _, named := range []bool{false, true} {
		for _, a := range args {
			if a.Name != "" != named {
				continue
			}
			switch {
			case opened != 0:
				into = append(into, ',')
			case named:
				into, opened = append(into, `,"named":{`...), '}'
			default:
				into, opened = append(into, `,"args":[`...), ']'
			}
			if named {
				into = append(quote(into, a.Name), ':')
			}
			if into = value(into, a.Value); into == nil {
				return nil
			}
		}
		if opened != 0 {
			into, opened = append(into, opened), 0
		}
	}
	return into
}

// value adds a value as JSON: an integer as a number without a point and exponent, a real
// with one. What JSON does not have is an object of one field.
func value(into []byte, v driver.Value) []byte {
	switch v := v.(type) {
	case nil:
		return append(into, "null"...)
	case int64:
		return strconv.AppendInt(into, v, 10)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Appendf(into, `{"real":%q}`, strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+")))
		}
		return strconv.AppendFloat(into, v, 'e', -1, 64)
	case bool:
		return append(into, map[bool]byte{false: '0', true: '1'}[v])
	case string:
		switch {
		case len(v) > longValue:
			return fmt.Appendf(into, `{"text":%d}`, len(v))
		case !utf8.ValidString(v):
			return append(base64.StdEncoding.AppendEncode(append(into, `{"text":"`...), []byte(v)), `"}`...)
		}
		return quote(into, v)
	case []byte:
		if len(v) > longValue {
			return fmt.Appendf(into, `{"blob":%d}`, len(v))
		}
		return append(base64.StdEncoding.AppendEncode(append(into, `{"blob":"`...), v), `"}`...)
	case time.Time: // as the driver mattn writes it
		return quote(into, v.Format("2006-01-02 15:04:05.999999999-07:00"))
	}
	converted, err := driver.DefaultParameterConverter.ConvertValue(v)
	if err != nil || reflect.TypeOf(converted) == reflect.TypeOf(v) {
		return nil
	}
	return value(into, converted)
}

// quote adds a text as JSON.
func quote(into []byte, text string) []byte {
	into = append(into, '"')
	from := 0
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' {
			into = append(into, text[from:i]...)
			into = fmt.Appendf(into, "\\u%04x", c)
			from = i + 1
		}
	}
	return append(append(into, text[from:]...), '"')
}

// statement finds a text.
func (r *Recorder) statement(query string) *statement {
	r.mu.Lock()
	s := r.statements[query]
	r.mu.Unlock()
	if s != nil {
		return s
	}
	s = &statement{text: clean(query)}
	if s.mark, s.savepoint = control(s.text); s.mark != "" {
		s.id = s.mark
	}
	if len(query) > longText {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.statements[query]; other != nil {
		return other
	}
	if len(r.statements) < maxTexts {
		r.statements[strings.Clone(query)] = s
	}
	return s
}

// clean takes comments out of SQL, with one space for each run of them and of spaces, and
// what stands behind PRAGMA and ATTACH, which may have a key.
func clean(query string) string {
	var b strings.Builder
	space, first, secret := false, true, false
	for i := 0; i < len(query); {
		size, separates := token(query[i:])
		text := query[i : i+size]
		i += size
		if text == ";" {
			first, secret = true, false
		}
		if separates || secret {
			space = !secret
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		secret = first && isWord(text, "PRAGMA", "ATTACH")
		first = first && isWord(text, ";", "EXPLAIN", "QUERY", "PLAN")
		b.WriteString(text)
	}
	return strings.Trim(b.String(), "; ")
}

func isWord(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(each string) bool { return strings.EqualFold(text, each) })
}

// token measures the first token of SQL, and says whether it is a space or a comment.
func token(s string) (size int, separates bool) {
	until := func(end string, from int) int {
		if at := strings.Index(s[from:], end); at >= 0 {
			return from + at + len(end)
		}
		return len(s)
	}
	switch c := s[0]; {
	case strings.IndexByte(" \t\r\n\f", c) >= 0:
		return 1, true
	case strings.HasPrefix(s, "\ufeff"):
		return len("\ufeff"), true
	case strings.HasPrefix(s, "--"):
		return until("\n", 2), true
	case strings.HasPrefix(s, "/*"):
		return until("*/", 2), true
	case c == '\'', c == '"', c == '`':
		return until(s[:1], 1), false
	case c == '[':
		return until("]", 1), false
	}
	return max(1, word(s)), false
}

// word measures a name or keyword.
func word(s string) int {
	for i := range len(s) {
		if c := s[i]; !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80) {
			return i
		}
	}
	return len(s)
}

// control names a statement that begins or ends a transaction or a savepoint, with the
// savepoint's name. Several in one text have no name.
func control(text string) (mark, savepoint string) {
	if strings.Contains(text, ";") {
		return "", ""
	}
	words := strings.Split(text, " ")
	last := words[len(words)-1]
	switch {
	case isWord(words[0], "begin"):
		return "begin", ""
	case isWord(words[0], "commit", "end"):
		return "commit", ""
	case isWord(words[0], "savepoint", "release"):
		return strings.ToLower(words[0]), strings.ToLower(last)
	case !isWord(words[0], "rollback"):
		return "", ""
	case slices.ContainsFunc(words[:min(3, len(words))], func(each string) bool { return isWord(each, "to") }):
		return "rollback to", strings.ToLower(last)
	}
	return "rollback", ""
}

// marked is a statement that the driver does, and no text.
func marked(mark string) *statement { return &statement{id: mark, mark: mark} }

// class says of what kind an error is, and nothing of its text.
func class(err error) string {
	text := strings.ToLower(err.Error())
	switch {
	case strings.Contains(text, "locked"), strings.Contains(text, "busy"):
		return "busy"
	case strings.Contains(text, "constraint"):
		return "constraint"
	}
	return "error"
}

// Driver records what is asked through a driver.
func (r *Recorder) Driver(d driver.Driver) driver.Driver {
	if c, ok := d.(driver.DriverContext); ok {
		return &contextDriver{recordedDriver{d, r}, c}
	}
	return &recordedDriver{d, r}
}

// Connector records what is asked through a connector, for sql.OpenDB.
func (r *Recorder) Connector(c driver.Connector) driver.Connector { return &connector{c, r} }

type recordedDriver struct {
	driver.Driver
	r *Recorder
}

func (d *recordedDriver) Open(name string) (driver.Conn, error) {
	c, err := d.Driver.Open(name)
	return d.r.conn(c, err)
}

type contextDriver struct {
	recordedDriver
	with driver.DriverContext
}

func (d *contextDriver) OpenConnector(name string) (driver.Connector, error) {
	c, err := d.with.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return &connector{c, d.r}, nil
}

type connector struct {
	driver.Connector
	r *Recorder
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := c.Connector.Connect(ctx)
	return c.r.conn(made, err)
}

func (c *connector) Driver() driver.Driver { return c.r.Driver(c.Connector.Driver()) }

// Close closes a connector that can be closed.
func (c *connector) Close() error {
	if closer, ok := c.Connector.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

func (r *Recorder) conn(c driver.Conn, err error) (driver.Conn, error) {
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c, r: r, number: r.conns.Add(1)}, nil
}

// Conn is a recorded connection. What the driver's own lacks of the optional
// interfaces, it answers as database/sql does without them. A program that reaches
// for the driver's own with sql.Conn.Raw finds it in the field Conn.
type Conn struct {
	driver.Conn
	r      *Recorder
	number int64
	tx     int64  // 0: none
	outer  string // the savepoint that began it
}

// Ping asks the driver, where it can be asked.
func (c *Conn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

// ResetSession asks the driver, where it can be asked.
func (c *Conn) ResetSession(ctx context.Context) error {
	if s, ok := c.Conn.(driver.SessionResetter); ok {
		return s.ResetSession(ctx)
	}
	return nil
}

// IsValid asks the driver, where it can be asked.
func (c *Conn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

// CheckNamedValue asks the driver, where it can be asked.
func (c *Conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// ExecContext records a statement that is not prepared.
func (c *Conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	e := c.begin()
	e.prepared = "never"
	var result driver.Result
	var err error
	switch x := c.Conn.(type) {
	case driver.ExecerContext:
		result, err = x.ExecContext(ctx, query, args)
	case driver.Execer:
		result, err = plainly(args, func(plain []driver.Value) (driver.Result, error) { return x.Exec(query, plain) })
	default:
		return nil, driver.ErrSkip
	}
	return c.executed(e, c.r.statement(query), args, result, err)
}

// QueryContext records a query that is not prepared.
func (c *Conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	e := c.begin()
	e.prepared = "never"
	var found driver.Rows
	var err error
	switch x := c.Conn.(type) {
	case driver.QueryerContext:
		found, err = x.QueryContext(ctx, query, args)
	case driver.Queryer:
		found, err = plainly(args, func(plain []driver.Value) (driver.Rows, error) { return x.Query(query, plain) })
	default:
		return nil, driver.ErrSkip
	}
	return c.queried(e, c.r.statement(query), args, found, err)
}

// PrepareContext prepares a statement that is recorded when it is used.
func (c *Conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	var s driver.Stmt
	var err error
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		s, err = p.PrepareContext(ctx, query)
	} else {
		s, err = c.Conn.Prepare(query)
	}
	if err != nil {
		return nil, err
	}
	if _, ok := s.(driver.ColumnConverter); ok {
		return &convertingStmt{stmt{Stmt: s, c: c, s: c.r.statement(query)}}, nil
	}
	return &stmt{Stmt: s, c: c, s: c.r.statement(query)}, nil
}

// Prepare is PrepareContext without a context.
func (c *Conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// BeginTx records the beginning of a transaction.
func (c *Conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	e := c.begin()
	var started driver.Tx
	var err error
	switch x := c.Conn.(type) {
	case driver.ConnBeginTx:
		started, err = x.BeginTx(ctx, options)
	default:
		if options.Isolation != 0 || options.ReadOnly {
			return nil, errors.New("the driver has no transactions that are read-only or of another isolation level")
		}
		started, err = c.Conn.Begin()
	}
	if err == nil {
		c.tx = c.r.txs.Add(1)
	}
	e.tx, e.err = c.tx, err
	c.r.record(e, marked("begin"), none)
	if err != nil {
		return nil, err
	}
	return &tx{started, c}, nil
}

// Begin is BeginTx without options.
func (c *Conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *Conn) begin() event { return event{began: c.r.now(), conn: c.number, tx: c.tx} }

// executed records a change. BEGIN and the like that a program writes as SQL are a
// transaction too.
func (c *Conn) executed(e event, s *statement, args []driver.NamedValue, result driver.Result, err error) (driver.Result, error) {
	if errors.Is(err, driver.ErrSkip) {
		return result, err
	}
	e.err = err
	if s.mark != "" {
		c.transition(e, s)
		return result, err
	}
	if err == nil {
		if rows, countErr := result.RowsAffected(); countErr == nil {
			e.rows = rows
		}
	}
	c.record(e, s, args)
	return result, err
}

func (c *Conn) record(e event, s *statement, args []driver.NamedValue) {
	var space [64]byte // of most arguments
	c.r.record(e, s, describe(space[:0], args))
}

// transition records what a statement does to a transaction. A savepoint outside of one
// begins it, and its release commits it.
func (c *Conn) transition(e event, s *statement) {
	mark := s.mark
	switch {
	case e.err != nil:
	case mark == "savepoint" && c.tx == 0:
		mark, c.outer = "begin", s.savepoint
	case mark == "release" && s.savepoint == c.outer:
		mark = "commit"
	}
	if mark == "begin" && e.err == nil {
		c.tx = c.r.txs.Add(1)
		e.tx = c.tx
	}
	c.r.record(e, marked(mark), none)
	if mark == "rollback" || mark == "commit" && e.err == nil { // a rollback fails where there is nothing to roll back
		c.tx, c.outer = 0, ""
	}
}

// queried describes a query at once, because the caller may use its arguments for
// something else before the rows are closed.
func (c *Conn) queried(e event, s *statement, args []driver.NamedValue, found driver.Rows, err error) (driver.Rows, error) {
	if errors.Is(err, driver.ErrSkip) {
		return found, err
	}
	if err != nil {
		e.err = err
	}
	if s.mark != "" { // it has no rows to wait for
		c.transition(e, s)
		return found, err
	}
	if err != nil {
		c.record(e, s, args)
		return nil, err
	}
	opened := &rows{Rows: found, r: c.r, e: e, s: s}
	opened.args = describe(opened.space[:0], args)
	c.r.open.Add(1)
	return opened, nil
}

// tx is a recorded transaction.
type tx struct {
	driver.Tx
	c *Conn
}

func (t *tx) Commit() error   { return t.end("commit", t.Tx.Commit) }
func (t *tx) Rollback() error { return t.end("rollback", t.Tx.Rollback) }

func (t *tx) end(mark string, do func() error) error {
	e := t.c.begin()
	e.err = do()
	t.c.tx, t.c.outer = 0, ""
	t.c.r.record(e, marked(mark), none)
	return e.err
}

// stmt is a prepared statement that is recorded.
type stmt struct {
	driver.Stmt
	c    *Conn
	s    *statement
	used bool
}

// begin is that of the connection; of a statement that is used again, it was prepared for
// several executions.
func (s *stmt) begin() event {
	e := s.c.begin()
	if !s.used {
		s.used, e.prepared = true, "each"
	}
	return e
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	e := s.begin()
	if x, ok := s.Stmt.(driver.StmtExecContext); ok {
		result, err := x.ExecContext(ctx, args)
		return s.c.executed(e, s.s, args, result, err)
	}
	result, err := plainly(args, s.Stmt.Exec)
	return s.c.executed(e, s.s, args, result, err)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	e := s.begin()
	if x, ok := s.Stmt.(driver.StmtQueryContext); ok {
		found, err := x.QueryContext(ctx, args)
		return s.c.queried(e, s.s, args, found, err)
	}
	found, err := plainly(args, s.Stmt.Query)
	return s.c.queried(e, s.s, args, found, err)
}

func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.c.CheckNamedValue(v)
}

// convertingStmt is a statement whose driver converts arguments by column. The others
// must not look like it: database/sql then converts no argument whose number they do
// not know beforehand, in older releases of Go.
type convertingStmt struct{ stmt }

func (s *convertingStmt) ColumnConverter(i int) driver.ValueConverter {
	return s.Stmt.(driver.ColumnConverter).ColumnConverter(i)
}

// plainly takes the names off, which older drivers do not know.
func plainly[T any](args []driver.NamedValue, do func([]driver.Value) (T, error)) (none T, err error) {
	plain := make([]driver.Value, len(args))
	for i, a := range args {
		if a.Name != "" {
			return none, errors.New("the driver has no named arguments")
		}
		plain[i] = a.Value
	}
	return do(plain)
}

// rows are recorded when they are closed, with their number.
type rows struct {
	driver.Rows
	r      *Recorder
	e      event
	s      *statement
	args   []byte
	space  [64]byte // of most arguments
	closed bool
}

func (r *rows) Next(into []driver.Value) error {
	err := r.Rows.Next(into)
	switch {
	case err == nil:
		r.e.rows++
	case err != io.EOF:
		r.e.err = err
	}
	return err
}

func (r *rows) Close() error {
	err := r.Rows.Close()
	if !r.closed {
		r.closed = true
		r.r.open.Add(-1)
		r.r.record(r.e, r.s, r.args)
	}
	return err
}

func (r *rows) HasNextResultSet() bool {
	n, ok := r.Rows.(driver.RowsNextResultSet)
	return ok && n.HasNextResultSet()
}

func (r *rows) NextResultSet() error {
	if n, ok := r.Rows.(driver.RowsNextResultSet); ok {
		return n.NextResultSet()
	}
	return io.EOF
}

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if t, ok := r.Rows.(driver.RowsColumnTypeScanType); ok {
		return t.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if t, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return t.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

func (r *rows) ColumnTypeLength(i int) (int64, bool) {
	if t, ok := r.Rows.(driver.RowsColumnTypeLength); ok {
		return t.ColumnTypeLength(i)
	}
	return 0, false
}

func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if t, ok := r.Rows.(driver.RowsColumnTypeNullable); ok {
		return t.ColumnTypeNullable(i)
	}
	return false, false
}

func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if t, ok := r.Rows.(driver.RowsColumnTypePrecisionScale); ok {
		return t.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}
