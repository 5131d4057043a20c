//go:build unix

// Package conformance holds the conformance suite to what it promises: one
// correct worker passes it, and copies of it with one fault each do not.
package conformance

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/sqldb"
	"assay/kit/wire"
	"assay/kit/workertest"

	"modernc.org/sqlite"
)

// TestMain turns the test binary into a worker where it is started by the name
// of one.
func TestMain(m *testing.M) {
	if f, ok := faults[filepath.Base(os.Args[0])]; ok {
		os.Exit(f.main())
	}
	os.Exit(m.Run())
}

// fault is what a copy of the correct worker does wrong, in one place.
type fault struct {
	request  func([]byte) []byte              // changes a line before it is handled
	reply    func([]byte) []byte              // changes a line before it is sent
	open     func(*wire.Open)                 // changes what it opens
	settings func([]wire.Connection)          // changes what it reads back
	sql      func(string) string              // changes what the driver is given
	value    func(any) any                    // changes a value of an answer
	shown    func(any) any                    // changes a value that measured clients tell
	answer   func(op wire.Operation) answerer // replaces how an operation is verified
	// fails has the checks that must find it, each with a pattern of what is said.
	fails map[string]string
}

type answerer func(kit.Operation, int, func(int, []any) error) error

func (f fault) main() int {
	sql.Register("faulty", faultyDriver{f})
	engine := sqldb.New(sqldb.Driver{Name: "fake", Module: "modernc.org/sqlite", SQLName: "faulty", Key: pragma, Busy: busy})
	in, out := io.Reader(os.Stdin), io.Writer(os.Stdout)
	if f.request != nil {
		in = changedLines(os.Stdin, f.request)
	}
	if f.reply != nil {
		out = filter{os.Stdout, f.reply}
	}
	if err := kit.Serve(faultyEngine{engine, f}, in, out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func pragma(name, value string) string { return "_pragma=" + name + "(" + value + ")" }

func busy(err error) bool {
	var failure *sqlite.Error
	return errors.As(err, &failure) && (failure.Code()&0xff == 5 || failure.Code()&0xff == 6)
}

func changedLines(from io.Reader, change func([]byte) []byte) io.Reader {
	reader, writer := io.Pipe()
	go func() {
		lines := wire.NewReader(from)
		for {
			line, err := lines.Line()
			if err != nil {
				_ = writer.CloseWithError(err)
				return
			}
			_, _ = fmt.Fprintf(writer, "%s\n", change(bytes.Clone(line)))
		}
	}()
	return reader
}

// filter changes whole lines.
type filter struct {
	io.Writer
	change func([]byte) []byte
}

func (f filter) Write(line []byte) (int, error) {
	if _, err := f.Writer.Write(f.change(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// faultyDriver is modernc's with other SQL.
type faultyDriver struct{ fault fault }

func (d faultyDriver) Open(name string) (driver.Conn, error) {
	c, err := new(sqlite.Driver).Open(name)
	if err != nil {
		return nil, err
	}
	return faultyConn{c.(modernc), d.fault}, nil
}

type modernc interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.QueryerContext
	driver.ExecerContext
	driver.ConnBeginTx
}

type faultyConn struct {
	modernc
	fault fault
}

func (c faultyConn) text(query string) string {
	if c.fault.sql == nil {
		return query
	}
	return c.fault.sql(query)
}

func (c faultyConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.modernc.PrepareContext(ctx, c.text(query))
}

func (c faultyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.modernc.QueryContext(ctx, c.text(query), args)
}

func (c faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.modernc.ExecContext(ctx, c.text(query), args)
}

type faultyEngine struct {
	kit.Engine
	fault fault
}

func (e faultyEngine) Open(r wire.Open) (kit.Database, wire.Opened, error) {
	if e.fault.open != nil {
		e.fault.open(&r)
	}
	db, opened, err := e.Engine.Open(r)
	return faultyDatabase{db, e.fault}, opened, err
}

type faultyDatabase struct {
	kit.Database
	fault fault
}

func (d faultyDatabase) Settings(names []string) ([]wire.Connection, error) {
	connections, err := d.Database.Settings(names)
	if d.fault.settings != nil {
		d.fault.settings(connections)
	}
	return connections, err
}

func (d faultyDatabase) Pool() wire.Pool { return d.Database.(kit.Pooled).Pool() }

func (d faultyDatabase) Query(text string, returns []string, visit func([]any) error) error {
	return d.Database.Query(text, returns, func(row []any) error { return visit(d.fault.row(row)) })
}

func (f fault) row(row []any) []any {
	for i := range row {
		if f.value != nil {
			row[i] = f.value(row[i])
		}
	}
	return row
}

func (d faultyDatabase) Prepare(op wire.Operation, trace *column.File) (kit.Operation, error) {
	prepared, err := d.Database.Prepare(op, trace)
	return faultyOperation{prepared, op, d.fault}, err
}

type faultyOperation struct {
	kit.Operation
	spec  wire.Operation
	fault fault
}

func (o faultyOperation) Client() (kit.Client, error) {
	client, err := o.Operation.Client()
	shower, ok := client.(kit.Shower)
	if o.fault.shown == nil || !ok {
		return client, err
	}
	return faultyShower{shower, o.fault}, err
}

type faultyShower struct {
	kit.Shower
	fault fault
}

func (s faultyShower) Show(visit func(int, []any) error) (kit.Client, error) {
	return s.Shower.Show(func(step int, row []any) error {
		return visit(step, fault{value: s.fault.shown}.row(row))
	})
}

func (o faultyOperation) Handler() (kit.Handler, error) { return o.Operation.(kit.Server).Handler() }

func (o faultyOperation) Answer(position int, visit func(int, []any) error) error {
	answer := answerer(kit.Operation.Answer)
	if o.fault.answer != nil {
		answer = o.fault.answer(o.spec)
	}
	return answer(o.Operation, position, func(step int, row []any) error { return visit(step, o.fault.row(row)) })
}

// replace changes what a pattern matches.
func replace(pattern, with string) func([]byte) []byte {
	matches := regexp.MustCompile(pattern)
	return func(line []byte) []byte { return matches.ReplaceAll(line, []byte(with)) }
}

func replaced(old, with string) func(string) string {
	return func(text string) string { return strings.ReplaceAll(text, old, with) }
}

// absolute replaces a measurement's allocations by the process's.
func absolute(line []byte) []byte {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return replace(`"allocs":\d+`, fmt.Sprintf(`"allocs":%d`, memory.Mallocs))(line)
}

// waits sleeps after each window, and says that it waited for a processor.
func waits(line []byte) []byte {
	if !bytes.Contains(line, []byte(`"executed":`)) {
		return line
	}
	time.Sleep(time.Second)
	real := replace(`,"delayed_ns":\d+`, "")(line) // a later member would be the one that counts
	return replace(`"counters"`, `"delayed_ns":1000000000,"counters"`)(real)
}

// retried is what backwards says next.
var retried = 100

// backwards has stats count down how often a served operation was tried again.
func backwards(line []byte) []byte {
	changed := replace(`("pool":.*)"busy":\d+`, fmt.Sprintf(`$1"busy":%d`, retried))(line)
	if !bytes.Equal(changed, line) {
		retried--
	}
	return changed
}

// firstBegan is when the first measurement began.
var firstBegan []byte

var began = regexp.MustCompile(`"began_ns":\d+`)

// beganAgain says of each measurement that it began when the first one did.
func beganAgain(line []byte) []byte {
	if firstBegan == nil {
		firstBegan = began.Find(line)
	}
	return began.ReplaceAll(line, firstBegan)
}

// beganLate says of each measurement that it began when it ended.
func beganLate(line []byte) []byte {
	return began.ReplaceAll(line, fmt.Appendf(nil, `"began_ns":%d`, time.Now().UnixNano()))
}

// told changes a setting that is read back.
func told(name string, value func(is string) string) func([]wire.Connection) {
	return func(connections []wire.Connection) {
		for _, c := range connections {
			if is, ok := c.Settings[name]; ok {
				c.Settings[name] = value(is)
			}
		}
	}
}

func converted(from, to any) func(any) any {
	return func(value any) any {
		if reflect.DeepEqual(value, from) {
			return to
		}
		return value
	}
}

// seen has the names that were prepared.
var seen = map[string]bool{}

// twice answers a second preparation of a name as if it were the first.
func twice(line []byte) []byte {
	name := regexp.MustCompile(`"type":"prepare".*?"name":"([^"]*)"`).FindSubmatch(line)
	if name == nil || !seen[string(name[1])] {
		if name != nil {
			seen[string(name[1])] = true
		}
		return line
	}
	return replace(`"type":"prepare"`, `"type":"stats"`)(line)
}

// sameName gives all connections the name of the first one.
func sameName(connections []wire.Connection) {
	for i := range connections {
		connections[i].Name = connections[0].Name
	}
}

const block = "a block executes exactly its operations"

const (
	types  = "stored values are of their declared type, or an error"
	begins = "transactions begin as is asked for, and that is read back"
)

// faults are the copies of the correct worker, by name.
var faults = map[string]fault{
	"correct": {},

	"each ignored":     {open: func(r *wire.Open) { r.Each = nil }, fails: map[string]string{"SQL for each connection runs on every one": `cache_size of reader-1, .* is -2000, want -4321`}},
	"dsn ignored":      {open: func(r *wire.Open) { r.DSN = "" }, fails: map[string]string{"a DSN is opened, and not the path": "elsewhere.db was not opened", "a private database in memory is told from a file and from a shared one": `reads memory="0", want "private"`}},
	"once ignored":     {request: replace(`"once":\["PRAGMA cache_size = -7000"\],?`, ""), fails: map[string]string{"settings are read, and not remembered": "is -5000, want -7000"}},
	"remembering":      {settings: told("cache_size", func(is string) string { return strings.ReplaceAll(is, "-7000", "-5000") }), fails: map[string]string{"settings are read, and not remembered": "is -5000, want -7000"}},
	"prepared twice":   {request: twice, fails: map[string]string{"a name is prepared once": "want an error reply, got <nil>"}},
	"each from cache":  {request: replace(`"statement":"each"`, `"statement":"once"`), fails: map[string]string{"a statement is compiled for each execution where that is asked for": "it is not compiled for each execution"}},
	"no retry":         {request: replace(`"retry_busy":true`, `"retry_busy":false`), fails: map[string]string{"busy answers are counted, and tried again where that is asked for": `errors \(.*locked.*\) with retry_busy, .* is 1, want 0`}},
	"busy not counted": {reply: replace(`"busy":\d+,`, ""), fails: map[string]string{"busy answers are counted, and tried again where that is asked for": "busy without retry_busy is 0, want 1", "a transaction takes the lock when it begins": "busy is 0, want 1"}},
	"absolute":         {reply: absolute, fails: map[string]string{"counters are those of the measurement alone": "allocs is .* only .* were used"}},
	"total of fetched": {reply: replace(`"fetched_bytes":\d+`, `"fetched_bytes":1048576`), fails: map[string]string{"counters are those of the measurement alone": "fetched_bytes is 1048576 .* only 0 were used"}},
	"plain begin":      {sql: replaced("BEGIN IMMEDIATE", "BEGIN"), fails: map[string]string{"a transaction takes the lock when it begins": "holds the lock is 0, want 1"}},
	"no rollback":      {sql: replaced("ROLLBACK", "COMMIT"), fails: map[string]string{"a transaction that fails leaves nothing": "SELECT count.* FROM parent: 1 rows with digest"}},
	"no minimum":       {request: replace(`"nanos":1}`, `"operations":2}`), fails: map[string]string{"a window has ten operations of every client": "2 operations were executed in a window of 2 clients, want at least 20"}},
	"never gives up":   {reply: replace(`"executed":1000,"errors":1000`, `"executed":5000,"errors":5000`), fails: map[string]string{"a measurement ends after 1000 operations that are not right": "errors of 5000 .* is 5000, want 1000"}},
	"misses forever":   {reply: replace(`"executed":1000,"misses":1000`, `"executed":5000,"misses":5000`), fails: map[string]string{"a measurement ends after 1000 operations that are not right": "misses of 5000 .* is 5000, want 1000"}},
	"verify from zero": {request: replace(`("type":"verify".*)"start":\d+`, `$1"start":0`), fails: map[string]string{"verify begins at its start and goes around the trace's end": "digest of 2 positions from 1 on"}},
	"measure from zero": {request: replace(`("type":"measure".*)"start":\d+`, `$1"start":0`),
		fails: map[string]string{"transactions change what they should": "SELECT count.*1 rows with digest"}},
	"one digest": {answer: func(op wire.Operation) answerer {
		return func(o kit.Operation, position int, visit func(int, []any) error) error {
			return o.Answer(position, func(_ int, row []any) error { return visit(firstQuery(op), row) })
		}
	}, fails: map[string]string{"the answers of several steps are digested apart": "digest of the digests of two steps is"}},
	"verifies changes": {answer: func(op wire.Operation) answerer {
		if !op.Changes {
			return kit.Operation.Answer
		}
		return func(kit.Operation, int, func(int, []any) error) error { return nil }
	}, fails: map[string]string{"an operation that changes data is not verified": "want an error reply, got <nil>"}},
	"text as int":       {value: converted("5", int64(5)), fails: map[string]string{types: `SELECT '5' as int: want an error of code failed, got <nil>`}},
	"real as int":       {value: converted(5.5, int64(5)), fails: map[string]string{types: `SELECT 5.5 as int: want an error`}},
	"whole real as int": {value: converted(5.0, int64(5)), fails: map[string]string{types: `SELECT 5.0 as int: want an error`}},
	"NULL as int":       {value: converted(nil, int64(0)), fails: map[string]string{types: `SELECT NULL as int: want an error`, "answers of every type have the right digest": "", "every statement policy gives the same answers": "", "arguments come from the trace, NULLs too": "", "odd values have the right digest, stored and as arguments": `^day of id 3, which is NULL, read as text\?: `}},
	"seven is no truth": {value: converted(int64(7), "7"), fails: map[string]string{types: `SELECT 7 as int: verify: .*where int is declared`}},
	"always in memory":  {settings: told("memory", func(string) string { return "1" }), fails: map[string]string{"a private database in memory is told from a file and from a shared one": `a database in a file: writer-1 reads memory="1", want "0"`}},
	"private is shared": {settings: told("memory", func(is string) string { return strings.ReplaceAll(is, "private", "1") }), fails: map[string]string{"a private database in memory is told from a file and from a shared one": `for each connection: reader-1 reads memory="1", want "private"`}},
	"memory of its own": {open: func(r *wire.Open) {
		if r.Settings["memory"] == "1" {
			r.DSN, r.Settings = ":memory:", nil
		}
	}, fails: map[string]string{"a database in memory is the same for all connections": "private"}},
	"numbers ignored":   {request: replace(`\?\d`, "?"), fails: map[string]string{"numbered placeholders are bound by their numbers": "", "operations of several steps run all of them": ""}},
	"fast clock":        {reply: replace(`"nanos":(\d+),"executed"`, `"nanos":${1}00,"executed"`), fails: map[string]string{block: "its clock is too fast"}},
	"too much CPU":      {reply: replace(`"cpu_ns":(\d+)`, `"cpu_ns":${1}000`), fails: map[string]string{block: "of CPU time in a call of"}},
	"short latencies":   {reply: replace(`"histogram":\[.*\]\]`, `"histogram":[[1,5000]]`), fails: map[string]string{block: "the latencies of the histogram add up to 5µs of"}},
	"drops the slow":    {reply: replace(`"operations":\d+,(.*?"executed":5000)`, `"operations":4990,$1`), fails: map[string]string{"several clients share one counter": "4990 operations are right, want at least 4996"}},
	"negative memory":   {reply: replace(`"alloc_bytes":\d+`, `"alloc_bytes":-1`), fails: map[string]string{block: "alloc_bytes -1 is no possible count"}},
	"read back twice":   {settings: sameName, fails: map[string]string{"SQL for each connection runs on every one": "was read back twice"}},
	"class of its own":  {reply: replace(`("type":"ok",.*)"dsn":`, `$1"durability":"best","dsn":`), fails: map[string]string{block: "durability \"best\" is no class"}},
	"tells in turns":    {reply: replace(`"digests":\["(\w+)","(\w+)"`, `"digests":["$2","$1"`), fails: map[string]string{"clients that are measured tell the answer at each position": "2 operations from 0 on with answers"}},
	"tells from zero":   {request: replace(`("type":"measure".*)"start":\d+`, `$1"start":0`), fails: map[string]string{"clients that are measured tell the answer at each position": "7 operations from 2 on with answers"}},
	"tells nothing":     {reply: replace(`"digests":\[.*?\]`, `"digests":[]`), fails: map[string]string{"clients that are measured tell the answer at each position": "it reports 0 digests of answers, asked for were 2"}},
	"tells changes":     {reply: replace(`"digests":\["(\w+)",""`, `"digests":["$1","$1"`), fails: map[string]string{"a mix tells the answers of its reading parts": "4 operations from 0 on with answers"}},
	"tells a miss":      {reply: replace(`"digests":\["(\w+)","",`, `"digests":["$1","$1",`), fails: map[string]string{"a unit with another number of rows than expected has no digest": "3 operations from 0 on with answers"}},
	"tells of a window": {request: replace(`"nanos":1000,"answers":true`, `"nanos":1000`), fails: map[string]string{"answers are told of a number of operations only": "want an error reply, got <nil>"}},
	"tells other rows":  {shown: converted([]byte("one"), []byte("on")), fails: map[string]string{"clients that are measured tell the answer at each position": "2 operations from 0 on with answers"}},
	"serves POST":       {reply: behind(func(r *http.Request, _ string) { r.Method = http.MethodGet }), fails: map[string]string{onlyGET: "POST for host"}},
	"ignores Host":      {reply: behind(func(r *http.Request, _ string) { r.Host = r.URL.Host }), fails: map[string]string{onlyGET: `GET for host "example.org"`}},
	"ignores its path":  {reply: behind(func(r *http.Request, own string) { r.URL.Path = own + r.URL.Path[strings.LastIndex(r.URL.Path, "/"):] }), fails: map[string]string{onlyGET: "under another path"}},
	"busy backwards":    {reply: backwards, fails: map[string]string{"serving goes on with many requests at the same time, and ends with close": "busy since -1 is no possible count"}},
	"waits uncounted":   {reply: waits, fails: map[string]string{"the waiting that is told is what the system counted of its threads": "of its living threads"}},
	"began before":      {reply: beganAgain, fails: map[string]string{"the time at which a measurement began is within its call": `^began_ns and nanos say -`}},
	"began at its end":  {reply: beganLate, fails: map[string]string{"the time at which a measurement began is within its call": `^began_ns and nanos say `}},
	"histogram of rows": {reply: replace(`"histogram":\[\[(\d+),\d+\]`, `"histogram":[[$1,15]`), fails: map[string]string{"transactions change what they should": `the histogram has \d+ latencies of 3 units`}},
}

const onlyGET = "a served operation is run by GET only, under the host and path that serve answered"

// behind puts a proxy before the served operation, which changes requests so that
// they pass a check of the worker's.
func behind(change func(r *http.Request, path string)) func([]byte) []byte {
	served := regexp.MustCompile(`"address":"([^"]+)","path":"([^"]+)"`)
	return func(line []byte) []byte {
		found := served.FindSubmatch(line)
		if found == nil {
			return line
		}
		address, path := string(found[1]), string(found[2])
		proxy := httptest.NewUnstartedServer(nil)
		own := proxy.Listener.Addr().String()
		proxy.Config.Handler = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", address
			r.Out.Host = r.In.Host
			change(r.Out, path)
			if r.Out.Host == own {
				r.Out.Host = address
			}
		}}
		proxy.Start()
		return bytes.Replace(line, []byte(address), []byte(own), 1)
	}
}

func firstQuery(op wire.Operation) int {
	for i, step := range op.Steps {
		if step.Query {
			return i
		}
	}
	return -1
}

// TestCorrect: the suite finds nothing in the correct worker.
func TestCorrect(t *testing.T) {
	for result := range workertest.Run(t.Context(), program(t, "correct"), workertest.Options{}) {
		if !result.OK {
			t.Errorf("got %s, want it to pass", result)
		}
	}
}

// TestFaults: the suite finds each fault, and says what it is.
func TestFaults(t *testing.T) {
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for check, said := range f.fails {
				options := workertest.Options{Only: []string{check}}
				if len(workertest.Names(options)) == 0 {
					t.Errorf("there is no check %q", check)
				}
				for result := range workertest.Run(t.Context(), program(t, name), options) {
					if result.OK || !regexp.MustCompile(said).MatchString(result.Detail) {
						t.Errorf("got %s, want a failure that matches %q", result, said)
					}
				}
			}
		})
	}
}

// program returns the path of a fake.
func program(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	path := filepath.Join(t.TempDir(), name)
	if err == nil {
		err = os.Symlink(self, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
