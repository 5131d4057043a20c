// Package traffic records what a program asks of its database, for assay init
// --log: which statements, how often, how many at once, how skewed their arguments
// are. It writes no bound value, and nothing that stands in single quotes; of what
// stands in double quotes see strip. docs/traffic.md is the format's contract.
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
	"slices"
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
	longText   = 4096     // bytes of a statement that is not kept to know it again
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

	mu        sync.Mutex
	closed    bool
	filled    bool      // a line did not fit, so that no later one is written either
	mac       hash.Hash // under a key that nobody keeps
	part      [512]byte // of a value, for mac
	sum       []byte
	args      []byte // of the statement that is recorded
	next      []byte // its line
	buffer    []byte
	spent     int64 // bytes, written or about to be
	dropped   int64
	known     map[string]*template // by text
	templates map[string]*template // by id: those whose text is in the file
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
		mac: hmac.New(sha256.New, key[:]), known: map[string]*template{}, templates: map[string]*template{}}
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

// refuses says whether no line is taken now.
func (r *Recorder) refuses() bool { return r.closed || r.filled || len(r.buffer) > 2*buffered }

// line adds a line, and says whether it did.
func (r *Recorder) line(text []byte) bool {
	if r.refuses() {
		return false
	}
	if r.spent+int64(len(text))+1 > r.max {
		r.filled = true
		return false
	}
	r.spent += int64(len(text)) + 1
	r.buffer = append(append(r.buffer, text...), '\n')
	if len(r.buffer) >= buffered {
		r.hand()
	}
	return true
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

// record writes a statement with its arguments.
func (r *Recorder) record(e event, query string, args []driver.NamedValue) {
	took := time.Since(e.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	id, encoded := r.describe(query, args, r.args[:0])
	r.args = encoded[:0]
	r.put(e, took, id, encoded)
}

// described records what describe has named, or a begin, commit or rollback.
func (r *Recorder) described(e event, s string, args []byte) {
	took := time.Since(e.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(e, took, s, args)
}

// describe returns the id of a statement, empty where its text is not in the file,
// and adds its arguments to a slice.
func (r *Recorder) describe(query string, args []driver.NamedValue, into []byte) (id string, encoded []byte) {
	if r.refuses() {
		return "", into
	}
	t := r.template(query)
	if t == nil {
		return "", into
	}
	for i, a := range args {
		into = r.argument(into, t, i, a.Value)
	}
	return t.id, into
}

// put writes the line of a statement or mark, and counts one that it cannot write.
func (r *Recorder) put(e event, took time.Duration, s string, args []byte) {
	if s == "" || r.refuses() {
		r.dropped++
		return
	}
	line := append(r.next[:0], `{"at":`...)
	line = strconv.AppendInt(line, int64(e.began.Sub(r.began)), 10)
	line = append(line, `,"conn":`...)
	line = strconv.AppendInt(line, e.conn, 10)
	line = append(line, `,"tx":`...)
	line = strconv.AppendInt(line, e.tx, 10)
	line = append(append(append(line, `,"s":"`...), s...), '"')
	if len(args) > 0 {
		line = append(append(append(line, `,"args":[`...), args...), ']')
	}
	line = append(line, `,"rows":`...)
	line = strconv.AppendInt(line, e.rows, 10)
	line = append(line, `,"ns":`...)
	line = strconv.AppendInt(line, int64(took), 10)
	if e.err != nil {
		line = append(append(append(line, `,"err":"`...), class(e.err)...), '"')
	}
	r.next = append(line, '}')
	if !r.line(r.next) {
		r.dropped++
	}
}

// argument adds an argument: its type, its length, its tag, and of an integer its
// rank among those seen.
func (r *Recorder) argument(line []byte, t *template, i int, value driver.Value) []byte {
	if i > 0 {
		line = append(line, ',')
	}
	kind, length := "", 0
	r.mac.Reset()
	switch v := value.(type) {
	case nil:
		return append(line, `{"t":"null"}`...)
	case int64:
		kind, length = "int", 8
		r.mac.Write(binary.LittleEndian.AppendUint64(append(r.part[:0], 'i'), uint64(v)))
	case float64:
		kind, length = "real", 8
		r.mac.Write(binary.LittleEndian.AppendUint64(append(r.part[:0], 'r'), math.Float64bits(v)))
	case bool:
		kind, length = "bool", 1
		r.mac.Write(strconv.AppendBool(append(r.part[:0], 'b'), v))
	case string:
		kind, length = "text", len(v)
		n := 1 + copy(r.part[1:], v)
		r.part[0] = 't'
		r.mac.Write(r.part[:n])
		for rest := v[n-1:]; rest != ""; rest = rest[n:] {
			n = copy(r.part[:], rest)
			r.mac.Write(r.part[:n])
		}
	case []byte:
		kind, length = "blob", len(v)
		r.mac.Write(append(r.part[:0], 'x'))
		r.mac.Write(v)
	case time.Time:
		kind, length = "time", 8
		r.mac.Write(v.UTC().AppendFormat(append(r.part[:0], 'd'), time.RFC3339Nano))
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
// time; nil where there are too many, and where the text cannot be written.
func (r *Recorder) template(query string) *template {
	if t, ok := r.known[query]; ok {
		return t
	}
	id, text := Fingerprint(query)
	t := r.templates[id]
	if t == nil {
		if t = r.introduce(id, text); t == nil {
			return nil
		}
	}
	if len(r.known) < maxTexts && len(query) <= longText {
		r.known[strings.Clone(query)] = t
	}
	return t
}

// introduce writes the text of a statement.
func (r *Recorder) introduce(id, text string) *template {
	if len(r.templates) >= maxTexts {
		return nil
	}
	quoted, err := json.Marshal(text)
	if err != nil || !r.line(fmt.Appendf(nil, `{"id":%q,"sql":%s}`, id, quoted)) {
		return nil
	}
	t := &template{id: id}
	r.templates[id] = t
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
// taken for a name if it looks like one. Of PRAGMA and ATTACH, which may have a key,
// it keeps that word. It returns the same with ? for every parameter as well.
func strip(query string) (text, named string) {
	var b, alike strings.Builder
	space, first, secret, literals := false, true, false, 0
	for i := 0; i < len(query); {
		size, kind := token(query[i:])
		text := query[i : i+size]
		parameter := size > 0 && strings.IndexByte("?:@$", text[0]) >= 0
		i += size
		if text == ";" {
			first, secret = true, false
		}
		if kind == ' ' || secret {
			space = !secret
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
		secret = first && isWord(text, "PRAGMA", "ATTACH")
		first = first && isWord(text, ";", "EXPLAIN", "QUERY", "PLAN")
		b.WriteString(text)
		if parameter {
			text = "?"
		}
		alike.WriteString(text)
	}
	return strings.TrimRight(b.String(), "; "), strings.TrimRight(alike.String(), "; ")
}

func isWord(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(each string) bool { return strings.EqualFold(text, each) })
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
	case strings.HasPrefix(s, "\ufeff"):
		return len("\ufeff"), ' '
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
	if _, ok := s.(driver.ColumnConverter); ok {
		return &convertingStmt{stmt{s, c, query}}, nil
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
	c.r.described(e, "begin", nil)
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
	mark := c.transition(query, err)
	if e.tx == 0 {
		e.tx = c.tx
	}
	if mark == "rollback" || mark == "commit" && err == nil { // a rollback fails where there is nothing to roll back
		c.tx, c.outer = 0, ""
	}
	if mark == "" {
		c.r.record(e, query, args)
	} else {
		e.rows = 0 // drivers answer those of the statement before
		c.r.described(e, mark, nil)
	}
	return result, err
}

// transition names what a statement does to a transaction. A savepoint outside of one
// begins it, and its release commits it.
func (c *Conn) transition(query string, err error) string {
	mark, name := control(query)
	switch {
	case err != nil:
	case mark == "savepoint" && c.tx == 0:
		mark, c.outer = "begin", name
	case mark == "release" && name == c.outer:
		mark = "commit"
	}
	if mark == "begin" && err == nil {
		c.tx = c.r.txs.Add(1)
	}
	return mark
}

// control names a statement that begins or ends a transaction or a savepoint, with the
// savepoint's name. Several in one text have no name.
func control(query string) (mark, savepoint string) {
	query = strings.Trim(query, "; \t\r\n")
	if len(query) > 128 || strings.Contains(query, ";") {
		return "", ""
	}
	first := query[:word(query)]
	switch {
	case strings.EqualFold(first, "begin"):
		return "begin", ""
	case strings.EqualFold(first, "commit"), strings.EqualFold(first, "end"):
		return "commit", ""
	case !isWord(first, "rollback", "savepoint", "release"):
		return "", ""
	}
	words := strings.Fields(strings.ToLower(query))
	last := words[len(words)-1]
	switch {
	case words[0] != "rollback":
		return words[0], last
	case slices.Contains(words, "to"):
		return "rollback to", last
	}
	return "rollback", ""
}

// queried describes a query at once, because the caller may use its arguments for
// something else before the rows are closed.
func (c *Conn) queried(e event, query string, args []driver.NamedValue, found driver.Rows, err error) (driver.Rows, error) {
	if errors.Is(err, driver.ErrSkip) {
		return found, err
	}
	if err != nil {
		e.err = err
		c.r.record(e, query, args)
		return nil, err
	}
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	id, encoded := c.r.describe(query, args, nil)
	return &rows{Rows: found, r: c.r, e: e, id: id, args: encoded}, nil
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
	t.c.r.described(e, mark, nil)
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

// convertingStmt is a statement whose driver converts arguments by column. The others
// must not look like it: database/sql then converts no argument whose number they do
// not know beforehand, in older releases of Go.
type convertingStmt struct{ stmt }

func (s *convertingStmt) ColumnConverter(i int) driver.ValueConverter {
	return s.Stmt.(driver.ColumnConverter).ColumnConverter(i)
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
	r      *Recorder
	e      event
	id     string // empty: it is dropped
	args   []byte
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
		r.r.described(r.e, r.id, r.args)
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
