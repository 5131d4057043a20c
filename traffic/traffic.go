// Package traffic records what a program asks of its database, for assay init
// --log: which statements, how often, how many at once, how skewed their arguments
// are. It writes no bound value, and nothing that stands in single quotes; of what
// stands in double quotes see strip. SQL is read as SQLite reads it: record no other
// database. docs/traffic.md is the format's contract.
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
	buffered   = 512      // statements that are written at once
	waiting    = 16       // full chunks that may wait for the disk before lines are dropped
	arena      = 64 << 10 // bytes of arguments in a chunk
	maxTexts   = 10_000   // different statements that are told apart
	longText   = 4096     // bytes of a statement that is not kept to know it again
	lastLine   = 33       // bytes, at most, of the line that says how many were dropped
	longValue  = 1024     // bytes of a value of which only the tag is kept
	buckets    = 16       // of the ranks of integers
	tagBytes   = 8
	flushEvery = time.Second
)

// Recorder writes one file. Its methods may be called from several goroutines.
//
// A statement only leaves what it was in a chunk. A goroutine makes tags and lines of
// it, so that the program does not wait for them.
type Recorder struct {
	began   time.Time
	conns   atomic.Int64
	txs     atomic.Int64
	dropped atomic.Int64
	open    atomic.Int64 // queries whose rows are read
	full    atomic.Bool  // a line did not fit, so that no later one is written either
	chunks  chan *chunk
	spare   chan *chunk
	done    chan error
	stop    chan struct{}
	stopped sync.Once

	mu         sync.Mutex
	closed     bool
	chunk      *chunk
	mac        hash.Hash             // of long values
	statements map[string]*statement // by text
	templates  map[string]*template  // by id
}

// chunk is what goes to the encoder at once. Values lie in it until they were encoded.
type chunk struct {
	records []record
	args    []byte
}

// record is a statement that was done, or a begin, commit or the like.
type record struct {
	began, took    int64 // nanoseconds, from the recorder's beginning
	conn, tx, rows int64
	err            string
	mark           string
	prepared       string
	template       *template // nil: it is a mark
	from, to       int       // its arguments in the chunk
}

// statement is a text as the program writes it.
type statement struct {
	mark, savepoint string    // of one that begins or ends a transaction
	template        *template // nil: there are too many
	names           []string  // of its parameters, in order
}

// template is a statement without its literals.
type template struct {
	id, text string
	written  bool
	ranges   []span // of integers, by argument
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
	var key [32]byte // that nobody keeps
	if _, err := rand.Read(key[:]); err != nil {
		return nil, errors.Join(fmt.Errorf("record traffic: %w", err), file.Close())
	}
	r := &Recorder{began: time.Now(), chunks: make(chan *chunk, waiting), spare: make(chan *chunk, waiting), done: make(chan error, 1), stop: make(chan struct{}),
		chunk: &chunk{}, mac: hmac.New(sha256.New, key[:]), statements: map[string]*statement{}, templates: map[string]*template{}}
	e := &encoder{r: r, file: file, max: max - lastLine, mac: hmac.New(sha256.New, key[:])}
	e.line(fmt.Appendf(nil, `{"traffic":%d,"began":%q,"buckets":%d}`, version, r.began.UTC().Format(time.RFC3339), buckets))
	go e.run()
	go r.flush()
	return r, nil
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

// hand passes the chunk on to be encoded. Where too many wait it is kept.
func (r *Recorder) hand() {
	if r.closed || len(r.chunk.records) == 0 {
		return
	}
	select {
	case r.chunks <- r.chunk:
	default:
		return
	}
	select {
	case r.chunk = <-r.spare:
	default:
		r.chunk = &chunk{}
	}
}

// filled says whether the chunk is to be handed on.
func (c *chunk) filled() bool { return len(c.records) >= buffered || len(c.args) >= arena }

// Close writes what is left, and how many lines were dropped. Statements after it
// are not recorded.
func (r *Recorder) Close() error {
	err := error(nil)
	r.stopped.Do(func() {
		close(r.stop)
		r.mu.Lock()
		r.closed = true
		last := r.chunk
		r.mu.Unlock()
		r.chunks <- last
		close(r.chunks)
		err = <-r.done
	})
	return err
}

// event is a statement that is done.
type event struct {
	began    int64
	conn, tx int64
	rows     int64
	err      error
	prepared string // never, or each: for this execution; empty: for several
}

func (r *Recorder) now() int64 { return int64(time.Since(r.began)) }

// record leaves a statement, with its arguments as values or as describe has them, or
// counts it as dropped.
func (r *Recorder) record(e event, s *statement, args []driver.NamedValue, described []byte) {
	took := r.now() - e.began
	failed := ""
	if e.err != nil {
		failed = class(e.err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.chunk.filled() {
		r.hand()
	}
	if r.closed || r.full.Load() || s.mark == "" && s.template == nil || r.chunk.filled() {
		r.dropped.Add(1)
		return
	}
	c := r.chunk
	from := len(c.args)
	if s.mark == "" {
		c.args = append(r.describe(c.args, s, args), described...)
	}
	c.records = append(c.records, record{e.began, took, e.conn, e.tx, e.rows, failed, s.mark, e.prepared, s.template, from, len(c.args)})
	if c.filled() {
		r.hand()
	}
}

// describe adds arguments, in the order of the statement's parameters: a letter for the
// type and the value, or its length and tag where it is long.
func (r *Recorder) describe(into []byte, s *statement, args []driver.NamedValue) []byte {
	if len(args) > 0 && args[0].Name != "" {
		args = ordered(args, s.names)
	}
	for i := range args {
		switch v := args[i].Value.(type) {
		case nil:
			into = append(into, 'n')
		case int64:
			into = binary.LittleEndian.AppendUint64(append(into, 'i'), uint64(v))
		case float64:
			into = binary.LittleEndian.AppendUint64(append(into, 'r'), math.Float64bits(v))
		case bool:
			into = append(into, 'b', map[bool]byte{true: 1}[v])
		case string:
			into = value(into, r, 't', v)
		case []byte:
			into = value(into, r, 'x', v)
		case time.Time:
			into = value(into, r, 'd', v.UTC().Format(time.RFC3339Nano))
		default:
			into = value(into, r, 'o', fmt.Sprintf("%T%v", v, v))
		}
	}
	return into
}

// value adds a value that has a length; of a long one, under the capital letter, only
// its tag.
func value[T string | []byte](into []byte, r *Recorder, kind byte, v T) []byte {
	if len(v) <= longValue {
		into = binary.LittleEndian.AppendUint32(append(into, kind), uint32(len(v)))
		return append(into, v...)
	}
	into = binary.LittleEndian.AppendUint32(append(into, kind-'a'+'A'), uint32(min(len(v), math.MaxUint32)))
	var part [512]byte
	r.mac.Reset()
	r.mac.Write([]byte{kind})
	for rest := v; len(rest) > 0; {
		n := copy(part[:], rest)
		r.mac.Write(part[:n])
		rest = rest[n:]
	}
	return append(into, r.mac.Sum(nil)[:tagBytes]...)
}

// ordered are named arguments in the order of the statement's parameters.
func ordered(args []driver.NamedValue, names []string) []driver.NamedValue {
	all := make([]driver.NamedValue, 0, len(args))
	for _, name := range names {
		if i := slices.IndexFunc(args, func(a driver.NamedValue) bool { return a.Name == name }); i >= 0 {
			all = append(all, args[i])
		}
	}
	return all
}

// statement finds a text. It is nil for one that is not recorded any more.
func (r *Recorder) statement(query string) *statement {
	r.mu.Lock()
	s := r.statements[query]
	r.mu.Unlock()
	if s != nil {
		return s
	}
	s = &statement{}
	if s.mark, s.savepoint = control(query); s.mark != "" {
		return r.keep(query, s)
	}
	text, alike, names := strip(query)
	s.names = names
	id := name(alike)
	r.mu.Lock()
	if s.template = r.templates[id]; s.template == nil && len(r.templates) < maxTexts {
		s.template = &template{id: id, text: text}
		r.templates[id] = s.template
	}
	r.mu.Unlock()
	return r.keep(query, s)
}

// keep knows a text again.
func (r *Recorder) keep(query string, s *statement) *statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.statements) < maxTexts && len(query) <= longText {
		r.statements[strings.Clone(query)] = s
	}
	return s
}

// encoder writes chunks as lines. One goroutine uses it.
type encoder struct {
	r      *Recorder
	file   *os.File
	max    int64
	spent  int64 // bytes, written or about to be
	mac    hash.Hash
	sum    []byte
	next   []byte // a line
	buffer []byte
	failed error
}

// run writes all chunks, and how many lines were dropped.
func (e *encoder) run() {
	for c := range e.r.chunks {
		for i := range c.records {
			if !e.record(&c.records[i], c.args[c.records[i].from:c.records[i].to]) {
				e.r.dropped.Add(1)
			}
		}
		e.write()
		c.records, c.args = c.records[:0], c.args[:0]
		if cap(c.args) <= 2*arena {
			select {
			case e.r.spare <- c:
			default:
			}
		}
	}
	e.buffer = fmt.Appendf(e.buffer, "{\"dropped\":%d}\n", e.r.dropped.Load()+e.r.open.Load())
	e.write()
	e.r.done <- errors.Join(e.failed, e.file.Close())
}

func (e *encoder) write() {
	if e.failed == nil {
		_, e.failed = e.file.Write(e.buffer)
	}
	e.buffer = e.buffer[:0]
}

// line adds a line, and says whether it did.
func (e *encoder) line(text []byte) bool {
	if e.r.full.Load() {
		return false
	}
	if e.spent+int64(len(text))+1 > e.max {
		e.r.full.Store(true)
		return false
	}
	e.spent += int64(len(text)) + 1
	e.buffer = append(append(e.buffer, text...), '\n')
	return true
}

// record writes the line of a statement, and before the first one its text.
func (e *encoder) record(rec *record, args []byte) bool {
	what := rec.mark
	if t := rec.template; what == "" {
		if !t.written {
			quoted, err := json.Marshal(t.text)
			if err != nil || !e.line(fmt.Appendf(nil, `{"id":%q,"sql":%s}`, t.id, quoted)) {
				return false
			}
			t.written = true
		}
		what = t.id
	}
	line := append(e.next[:0], `{"at":`...)
	line = strconv.AppendInt(line, rec.began, 10)
	line = append(line, `,"conn":`...)
	line = strconv.AppendInt(line, rec.conn, 10)
	line = append(line, `,"tx":`...)
	line = strconv.AppendInt(line, rec.tx, 10)
	line = append(append(append(line, `,"s":"`...), what...), '"')
	if len(args) > 0 {
		line = append(e.arguments(append(line, `,"args":[`...), rec.template, args), ']')
	}
	line = append(line, `,"rows":`...)
	line = strconv.AppendInt(line, rec.rows, 10)
	line = append(line, `,"ns":`...)
	line = strconv.AppendInt(line, rec.took, 10)
	if rec.prepared != "" && rec.mark == "" {
		line = append(append(append(line, `,"prep":"`...), rec.prepared...), '"')
	}
	if rec.err != "" {
		line = append(append(append(line, `,"err":"`...), rec.err...), '"')
	}
	e.next = append(line, '}')
	return e.line(e.next)
}

// arguments adds what describe left of them: type, length, tag, and of integers the rank
// among those seen.
func (e *encoder) arguments(line []byte, t *template, args []byte) []byte {
	for i := 0; len(args) > 0; i++ {
		if i > 0 {
			line = append(line, ',')
		}
		kind, size, start := args[0], 8, 1
		switch {
		case kind == 'n':
			line, args = append(line, `{"t":"null"}`...), args[1:]
			continue
		case kind == 'b':
			size = 1
		case kind != 'i' && kind != 'r':
			size, start = int(binary.LittleEndian.Uint32(args[1:])), 5
		}
		if kind < 'a' { // a long one, with its tag
			kind += 'a' - 'A'
			e.sum, args = append(e.sum[:0], args[start:start+tagBytes]...), args[start+tagBytes:]
			line = e.argument(line, kind, size)
			line = append(line, '}')
			continue
		}
		data := args[start : start+size]
		e.mac.Reset()
		args[start-1] = kind // what a tag begins with, so that 'a' and x'61' differ
		e.mac.Write(args[start-1 : start+size])
		e.sum = e.mac.Sum(e.sum[:0])
		args = args[start+size:]
		line = e.argument(line, kind, size)
		if kind == 'i' {
			if rank := t.rank(i, int64(binary.LittleEndian.Uint64(data))); rank >= 0 {
				line = strconv.AppendInt(append(line, `,"rank":`...), int64(rank), 10)
			}
		}
		line = append(line, '}')
	}
	return line
}

// kinds are the types by the letters of describe.
var kinds = [256]string{'i': "int", 'r': "real", 'b': "bool", 't': "text", 'x': "blob", 'd': "time", 'o': "other"}

// argument adds an argument but for its end.
func (e *encoder) argument(line []byte, kind byte, size int) []byte {
	switch kind {
	case 'd':
		size = 8
	case 'o':
		size = 0
	}
	line = append(append(append(line, `{"t":"`...), kinds[kind]...), `","n":`...)
	line = strconv.AppendInt(line, int64(size), 10)
	line = hex.AppendEncode(append(line, `,"tag":"`...), e.sum[:tagBytes])
	return append(line, '"')
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
	return min(buckets-1, int(float64(buckets)*(float64(v)-float64(s.low))/(float64(s.high)-float64(s.low)+1)))
}

// Fingerprint names a statement by its text without literals, however it writes its
// parameters, and returns the text.
func Fingerprint(query string) (id, text string) {
	text, alike, _ := strip(query)
	return name(alike), text
}

// name is the id of a statement whose parameters are all written alike.
func name(alike string) string {
	sum := sha256.Sum256([]byte(alike))
	return hex.EncodeToString(sum[:tagBytes])
}

// strip takes comments and spaces out of SQL, and puts :literal1, :literal2 and so on
// in the place of literals: numbers, texts and blobs. What stands in double quotes is
// taken for a name if it looks like one. Of PRAGMA and ATTACH, which may have a key,
// it keeps that word. It returns the same with ? for every parameter as well, and the
// parameters' names.
func strip(query string) (text, named string, names []string) {
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
			if text == "?" || !slices.Contains(names, text[1:]) {
				names = append(names, text[1:])
			}
			text = "?"
		}
		alike.WriteString(text)
	}
	return strings.TrimRight(b.String(), "; "), strings.TrimRight(alike.String(), "; "), names
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
	e.prepared = "never"
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
		var plain []driver.Value
		if plain, err = values(args); err == nil {
			found, err = x.Query(query, plain)
		}
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
	c.r.record(e, &statement{mark: "begin"}, nil, nil)
	if err != nil {
		return nil, err
	}
	return &tx{begun, c}, nil
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
	c.r.record(e, s, args, nil)
	return result, err
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
	c.r.record(e, &statement{mark: mark}, nil, nil)
	if mark == "rollback" || mark == "commit" && e.err == nil { // a rollback fails where there is nothing to roll back
		c.tx, c.outer = 0, ""
	}
}

// controlWords is how many words the longest of them has: ROLLBACK TRANSACTION TO
// SAVEPOINT and a name.
const controlWords = 5

// control names a statement that begins or ends a transaction or a savepoint, with the
// savepoint's name. Several in one text have no name.
func control(query string) (mark, savepoint string) {
	var words []string
	over := false
	for i := 0; i < len(query); {
		size, kind := token(query[i:])
		text := query[i : i+size]
		i += size
		switch {
		case kind == ' ':
		case text == ";":
			over = len(words) > 0
		case over, len(words) == controlWords:
			return "", ""
		case len(words) == 0 && !isWord(text, "begin", "commit", "end", "rollback", "savepoint", "release"):
			return "", ""
		default:
			words = append(words, strings.ToLower(text))
		}
	}
	if len(words) == 0 {
		return "", ""
	}
	last := words[len(words)-1]
	switch {
	case words[0] == "begin":
		return "begin", ""
	case words[0] == "commit", words[0] == "end":
		return "commit", ""
	case words[0] != "rollback":
		return words[0], last
	case slices.Contains(words, "to"):
		return "rollback to", last
	}
	return "rollback", ""
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
		c.r.record(e, s, args, nil)
		return nil, err
	}
	opened := &rows{Rows: found, r: c.r, e: e, s: s}
	c.r.mu.Lock()
	opened.args = c.r.describe(opened.space[:0], s, args)
	c.r.mu.Unlock()
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
	t.c.r.record(e, &statement{mark: mark}, nil, nil)
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
	plain, err := values(args)
	var result driver.Result
	if err == nil {
		result, err = s.Stmt.Exec(plain)
	}
	return s.c.executed(e, s.s, args, result, err)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	e := s.begin()
	if x, ok := s.Stmt.(driver.StmtQueryContext); ok {
		found, err := x.QueryContext(ctx, args)
		return s.c.queried(e, s.s, args, found, err)
	}
	plain, err := values(args)
	var found driver.Rows
	if err == nil {
		found, err = s.Stmt.Query(plain)
	}
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
		r.r.record(r.e, r.s, nil, r.args)
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
