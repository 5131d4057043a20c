// Package traffic records what a program asks of its database, for assay init
// --log: which statements, how often, how many at once, how skewed their arguments
// are. It never writes a value. docs/traffic.md is the format's contract.
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
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	version    = 1
	buffered   = 64 << 10 // bytes that are written at once
	waiting    = 16       // full buffers that may wait for the disk before lines are dropped
	maxTexts   = 10_000   // different statements that are told apart
	buckets    = 16       // of the ranks of integers
	tagBytes   = 8
	flushEvery = time.Second
)

// Recorder writes one file. Its methods may be called from several goroutines.
type Recorder struct {
	file    *os.File
	began   time.Time
	max     int64
	conns   atomic.Int64
	txs     atomic.Int64
	full    chan []byte
	done    chan error
	stop    chan struct{}
	stopped sync.Once

	mu      sync.Mutex
	closed  bool
	mac     hash.Hash // under a key that nobody keeps
	sum     []byte
	buffer  []byte
	spent   int64 // bytes, written or about to be
	dropped int64
	known   map[string]*template // by text
	written map[string]bool      // ids whose text is in the file
}

// template is a statement without its literals.
type template struct {
	id     string
	ranges []span // of integers, by argument
}

// span is what an argument's integers lay between so far.
type span struct {
	low, high int64
	any       bool
}

// Open creates the file, which must not exist, with a mode that lets nobody else
// read it. It gets at most max bytes; what is more is dropped, and counted.
func Open(path string, max int64) (*Recorder, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record traffic: %w", err)
	}
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, errors.Join(fmt.Errorf("record traffic: %w", err), file.Close())
	}
	r := &Recorder{file: file, began: time.Now(), max: max, full: make(chan []byte, waiting), done: make(chan error, 1), stop: make(chan struct{}),
		mac: hmac.New(sha256.New, key[:]), known: map[string]*template{}, written: map[string]bool{}}
	r.line(fmt.Appendf(nil, `{"traffic":%d,"began":%q,"buckets":%d}`, version, r.began.UTC().Format(time.RFC3339), buckets))
	go r.write()
	go r.flushNow()
	return r, nil
}

// write writes full buffers, so that statements do not wait for the disk.
func (r *Recorder) write() {
	var failed error
	for buffer := range r.full {
		if failed == nil {
			_, failed = r.file.Write(buffer)
		}
	}
	r.done <- errors.Join(failed, r.file.Close())
}

// flushNow writes every second what is there.
func (r *Recorder) flushNow() {
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

// hand passes the buffer on to be written. Where too many wait it is kept, and
// grows to no more than twice its size.
func (r *Recorder) hand() {
	if r.closed || len(r.buffer) == 0 {
		return
	}
	select {
	case r.full <- r.buffer:
		r.buffer = make([]byte, 0, buffered+4096)
	default:
	}
}

// line adds a line, or drops it.
func (r *Recorder) line(text []byte) {
	if r.closed || r.spent+int64(len(text))+1 > r.max || len(r.buffer) > 2*buffered {
		r.dropped++
		return
	}
	r.spent += int64(len(text)) + 1
	r.buffer = append(append(r.buffer, text...), '\n')
	if len(r.buffer) >= buffered {
		r.hand()
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
		last := fmt.Appendf(r.buffer, "{\"dropped\":%d}\n", r.dropped)
		r.mu.Unlock()
		r.full <- last
		close(r.full)
		err = <-r.done
	})
	return err
}

// event is a statement that was done.
type event struct {
	began    time.Time
	conn, tx int64
	rows     int64
	err      error
}

// record writes a statement with its arguments. A query without text is the
// begin, commit or rollback that mark names.
func (r *Recorder) record(e event, query, mark string, args []driver.NamedValue) {
	took := time.Since(e.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	var t *template
	if mark == "" {
		if t = r.template(query); t == nil {
			r.dropped++
			return
		}
		mark = t.id
	}
	line := make([]byte, 0, 160+48*len(args))
	line = append(line, `{"at":`...)
	line = strconv.AppendInt(line, int64(e.began.Sub(r.began)), 10)
	line = append(line, `,"conn":`...)
	line = strconv.AppendInt(line, e.conn, 10)
	line = append(line, `,"tx":`...)
	line = strconv.AppendInt(line, e.tx, 10)
	line = append(append(append(line, `,"s":"`...), mark...), '"')
	if t != nil && len(args) > 0 {
		line = append(line, `,"args":[`...)
		for i, a := range args {
			line = r.argument(line, t, i, a.Value)
		}
		line = append(line, ']')
	}
	line = append(line, `,"rows":`...)
	line = strconv.AppendInt(line, e.rows, 10)
	line = append(line, `,"ns":`...)
	line = strconv.AppendInt(line, int64(took), 10)
	if e.err != nil {
		line = append(append(append(line, `,"err":"`...), class(e.err)...), '"')
	}
	r.line(append(line, '}'))
}

// argument adds an argument: its type, its length, its tag, and of an integer its
// rank among those seen.
func (r *Recorder) argument(line []byte, t *template, i int, value driver.Value) []byte {
	if i > 0 {
		line = append(line, ',')
	}
	kind, length := "null", 0
	var word [9]byte
	r.mac.Reset()
	switch v := value.(type) {
	case nil:
		return append(line, `{"t":"null"}`...)
	case int64:
		kind, length = "int", 8
		word[0] = 'i'
		binary.LittleEndian.PutUint64(word[1:], uint64(v))
		r.mac.Write(word[:])
	case float64:
		kind, length = "real", 8
		word[0] = 'r'
		binary.LittleEndian.PutUint64(word[1:], math.Float64bits(v))
		r.mac.Write(word[:])
	case bool:
		kind, length = "bool", 1
		r.mac.Write([]byte{'b', map[bool]byte{true: 1}[v]})
	case string:
		kind, length = "text", len(v)
		r.mac.Write([]byte("t" + v))
	case []byte:
		kind, length = "blob", len(v)
		r.mac.Write([]byte{'x'})
		r.mac.Write(v)
	case time.Time:
		kind, length = "time", 8
		r.mac.Write([]byte("d" + v.UTC().Format(time.RFC3339Nano)))
	default:
		kind = "other"
		fmt.Fprintf(r.mac, "o%T%v", v, v)
	}
	line = append(append(append(line, `{"t":"`...), kind...), `","n":`...)
	line = strconv.AppendInt(line, int64(length), 10)
	r.sum = r.mac.Sum(r.sum[:0])
	line = append(line, `,"tag":"`...)
	line = hex.AppendEncode(line, r.sum[:tagBytes])
	line = append(line, '"')
	if v, ok := value.(int64); ok {
		if rank := t.rank(i, v); rank >= 0 {
			line = strconv.AppendInt(append(line, `,"rank":`...), int64(rank), 10)
		}
	}
	return append(line, '}')
}

// rank is the part of the range that the argument's integers had so far in which
// this one lies; -1 before there is a range.
func (t *template) rank(argument int, v int64) int {
	for len(t.ranges) <= argument {
		t.ranges = append(t.ranges, span{})
	}
	s := &t.ranges[argument]
	if !s.any {
		*s = span{v, v, true}
	}
	s.low, s.high = min(s.low, v), max(s.high, v)
	if s.high-s.low < buckets {
		return -1
	}
	return int(float64(buckets) * (float64(v) - float64(s.low)) / (float64(s.high) - float64(s.low) + 1))
}

// template finds a statement without its literals, and writes its text the first
// time; nil where there are too many.
func (r *Recorder) template(query string) *template {
	if t, ok := r.known[query]; ok {
		return t
	}
	id, text := Fingerprint(query)
	t := &template{id: id}
	if !r.written[t.id] {
		if len(r.written) >= maxTexts {
			return nil
		}
		r.written[t.id] = true
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil // no text can make it fail
		}
		r.line(fmt.Appendf(nil, `{"id":%q,"sql":%s}`, t.id, quoted))
	}
	if len(r.known) < maxTexts {
		r.known[strings.Clone(query)] = t
	}
	return t
}

// Fingerprint names a statement by its text without literals, however it writes its
// parameters, and returns the text.
func Fingerprint(query string) (id, text string) {
	text, named := strip(query)
	sum := sha256.Sum256([]byte(named))
	return hex.EncodeToString(sum[:tagBytes]), text
}

// strip takes comments and spaces out of SQL, and puts :literal1, :literal2 and so on
// in the place of literals: numbers, texts and blobs. What stands in double quotes is
// taken for a name if it looks like one. It returns the same with ? for every
// parameter as well.
func strip(query string) (text, named string) {
	var b, alike strings.Builder
	space, literals := false, 0
	for i := 0; i < len(query); {
		size, kind := token(query[i:])
		text := query[i : i+size]
		parameter := size > 0 && strings.IndexByte("?:@$", text[0]) >= 0
		i += size
		if kind == ' ' {
			space = true
			continue
		}
		if kind == 'l' {
			literals++
			text = ":literal" + strconv.Itoa(literals)
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
			alike.WriteByte(' ')
		}
		space = false
		b.WriteString(text)
		if parameter {
			text = "?"
		}
		alike.WriteString(text)
	}
	return strings.TrimRight(b.String(), "; "), strings.TrimRight(alike.String(), "; ")
}

// token measures the first token of SQL: a space or comment (' '), a literal ('l'),
// or anything else ('x').
func token(s string) (size int, kind byte) {
	until := func(end string, from int) int {
		if at := strings.Index(s[from:], end); at >= 0 {
			return from + at + len(end)
		}
		return len(s)
	}
	switch c := s[0]; {
	case strings.IndexByte(" \t\r\n\f", c) >= 0:
		return 1, ' '
	case strings.HasPrefix(s, "--"):
		return until("\n", 2), ' '
	case strings.HasPrefix(s, "/*"):
		return until("*/", 2), ' '
	case c == '\'', len(s) > 1 && (c == 'x' || c == 'X') && s[1] == '\'':
		return quoted(s, strings.IndexByte(s, '\'')), 'l'
	case c == '"', c == '`':
		n := quoted(s, 0)
		if c == '"' && (n < 3 || s[n-1] != '"' || word(s[1:]) != n-2) {
			return n, 'l'
		}
		return n, 'x'
	case c == '[':
		return until("]", 1), 'x'
	case strings.IndexByte("?:@$", c) >= 0:
		return 1 + word(s[1:]), 'x'
	case c >= '0' && c <= '9', c == '.' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
		return number(s), 'l'
	}
	return max(1, word(s)), 'x'
}

// quoted measures a text whose quote stands at a place; a doubled quote is a quote.
func quoted(s string, at int) int {
	for i := at + 1; i < len(s); i++ {
		if s[i] != s[at] {
			continue
		}
		if i+1 == len(s) || s[i+1] != s[at] {
			return i + 1
		}
		i++
	}
	return len(s)
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

// number measures a number, with its exponent.
func number(s string) int {
	for i := range len(s) {
		c := s[i]
		sign := (c == '+' || c == '-') && i > 0 && (s[i-1] == 'e' || s[i-1] == 'E') && !strings.HasPrefix(s, "0x")
		if !sign && c != '.' && c != '_' && word(s[i:i+1]) == 0 {
			return i
		}
	}
	return len(s)
}

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
	tx     int64 // 0: none
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
	var result driver.Result
	var err error
	switch x := c.Conn.(type) {
	case driver.ExecerContext:
		result, err = x.ExecContext(ctx, query, args)
	case driver.Execer:
		var plain []driver.Value
		if plain, err = values(args); err == nil {
			result, err = x.Exec(query, plain)
		}
	default:
		return nil, driver.ErrSkip
	}
	return c.executed(e, query, args, result, err)
}

// QueryContext records a query that is not prepared.
func (c *Conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	e := c.begin()
	var found driver.Rows
	var err error
	switch x := c.Conn.(type) {
	case driver.QueryerContext:
		found, err = x.QueryContext(ctx, query, args)
	case driver.Queryer:
		var plain []driver.Value
		if plain, err = values(args); err == nil {
			found, err = x.Query(query, plain)
		}
	default:
		return nil, driver.ErrSkip
	}
	return c.queried(e, query, args, found, err)
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
	return &stmt{s, c, query}, nil
}

// Prepare is PrepareContext without a context.
func (c *Conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// BeginTx records the beginning of a transaction.
func (c *Conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	e := c.begin()
	var begun driver.Tx
	var err error
	switch x := c.Conn.(type) {
	case driver.ConnBeginTx:
		begun, err = x.BeginTx(ctx, options)
	default:
		if options.Isolation != 0 || options.ReadOnly {
			return nil, errors.New("the driver has no transactions that are read-only or of another isolation level")
		}
		begun, err = c.Conn.Begin()
	}
	if err == nil {
		c.tx = c.r.txs.Add(1)
	}
	e.tx, e.err = c.tx, err
	c.r.record(e, "", "begin", nil)
	if err != nil {
		return nil, err
	}
	return &tx{begun, c}, nil
}

// Begin is BeginTx without options.
func (c *Conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *Conn) begin() event { return event{began: time.Now(), conn: c.number, tx: c.tx} }

// executed records a change. BEGIN and the like that a program writes as SQL are a
// transaction too.
func (c *Conn) executed(e event, query string, args []driver.NamedValue, result driver.Result, err error) (driver.Result, error) {
	if errors.Is(err, driver.ErrSkip) {
		return result, err
	}
	if e.err = err; err == nil {
		if rows, countErr := result.RowsAffected(); countErr == nil {
			e.rows = rows
		}
	}
	mark := control(query)
	switch {
	case mark == "begin" && err == nil:
		c.tx = c.r.txs.Add(1)
		e.tx = c.tx
	case mark != "" && err == nil:
		c.tx = 0
	}
	c.r.record(e, query, mark, args)
	return result, err
}

// control names a statement that begins or ends a transaction.
func control(query string) string {
	if len(query) > 64 {
		return ""
	}
	switch words := strings.Fields(strings.ToLower(strings.Trim(query, "; \t\r\n"))); {
	case len(words) == 0:
		return ""
	case words[0] == "begin":
		return "begin"
	case words[0] == "commit" || words[0] == "end":
		return "commit"
	case words[0] == "rollback" && len(words) < 3:
		return "rollback"
	}
	return ""
}

func (c *Conn) queried(e event, query string, args []driver.NamedValue, found driver.Rows, err error) (driver.Rows, error) {
	if errors.Is(err, driver.ErrSkip) {
		return found, err
	}
	if err != nil {
		e.err = err
		c.r.record(e, query, "", args)
		return nil, err
	}
	return &rows{Rows: found, c: c, e: e, query: query, args: args}, nil
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
	t.c.tx = 0
	t.c.r.record(e, "", mark, nil)
	return e.err
}

// stmt is a prepared statement that is recorded.
type stmt struct {
	driver.Stmt
	c     *Conn
	query string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	e := s.c.begin()
	if x, ok := s.Stmt.(driver.StmtExecContext); ok {
		result, err := x.ExecContext(ctx, args)
		return s.c.executed(e, s.query, args, result, err)
	}
	plain, err := values(args)
	var result driver.Result
	if err == nil {
		result, err = s.Stmt.Exec(plain)
	}
	return s.c.executed(e, s.query, args, result, err)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	e := s.c.begin()
	if x, ok := s.Stmt.(driver.StmtQueryContext); ok {
		found, err := x.QueryContext(ctx, args)
		return s.c.queried(e, s.query, args, found, err)
	}
	plain, err := values(args)
	var found driver.Rows
	if err == nil {
		found, err = s.Stmt.Query(plain)
	}
	return s.c.queried(e, s.query, args, found, err)
}

func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.c.CheckNamedValue(v)
}

func (s *stmt) ColumnConverter(i int) driver.ValueConverter {
	if c, ok := s.Stmt.(driver.ColumnConverter); ok {
		return c.ColumnConverter(i)
	}
	return driver.DefaultParameterConverter
}

// values takes the names off, which older drivers do not know.
func values(args []driver.NamedValue) ([]driver.Value, error) {
	plain := make([]driver.Value, len(args))
	for i, a := range args {
		if a.Name != "" {
			return nil, errors.New("the driver has no named arguments")
		}
		plain[i] = a.Value
	}
	return plain, nil
}

// rows are recorded when they are closed, with their number.
type rows struct {
	driver.Rows
	c      *Conn
	e      event
	query  string
	args   []driver.NamedValue
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
		r.c.r.record(r.e, r.query, "", r.args)
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
