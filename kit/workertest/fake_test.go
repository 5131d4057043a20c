//go:build unix

package workertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"
)

// TestMain turns the test binary into a worker where it is started by the name
// of one.
func TestMain(m *testing.M) {
	if fake, ok := fakes[filepath.Base(os.Args[0])]; ok {
		os.Exit(fake.main())
	}
	os.Exit(m.Run())
}

// fake is a worker without SQL that is right but for one thing.
type fake struct {
	engine idle
	// request changes a line before it is handled: nil drops it.
	request func(line []byte) []byte
	// reply changes a line before it is sent.
	reply  func(line []byte) []byte
	status int
	fails  []string // the checks that must find it
}

var fakes = map[string]fake{
	"right":       {},
	"nameless":    {engine: idle{version: " "}, reply: replace(`"driver_version":" "`, `"driver_version":""`), fails: []string{"hello names the target"}},
	"yes-man":     {reply: replace(`"type":"error",("id":\d+),"code":"unsupported".*`, `"type":"ok",$1}`), fails: []string{"unknown request is answered unsupported"}},
	"strict":      {request: replace(`"x-grease":`, `"id":"?",$0`), fails: []string{"unknown fields are ignored"}},
	"narrow":      {request: dieOn(1 << 16), fails: []string{"a line of one megabyte is read"}},
	"codeless":    {reply: replace(`"code":"invalid"`, `"code":"failed"`), fails: []string{"requests before open are refused", "a second open is refused", "garbage is answered invalid or ends the worker with an error", "a name is prepared once", "neither or both of nanos and operations are refused", "a trace that is missing is refused"}},
	"wordless":    {reply: replace(`"message":"a database is open already"`, `"message":""`), fails: []string{"a second open is refused"}},
	"timeless":    {reply: replace(`"cpu_ns":\d+`, `"cpu_ns":0`), fails: []string{"stats counts CPU time and memory", "a block executes exactly its operations", "a window lasts as long as asked"}},
	"unclean":     {status: 1, fails: []string{"close is answered and the worker exits with 0", "the end of input ends the worker with 0"}},
	"hasty":       {reply: replace(`"nanos":\d+,"executed"`, `"nanos":999,"executed"`), fails: []string{"a block executes exactly its operations", "a window lasts as long as asked", "a window in batches counts every operation", "counters are those of the measurement alone", "the waiting that is told is what the system counted of its threads", "threads of clients live until close", "the time at which a measurement began is within its call"}},
	"lazy":        {reply: replace(`"executed":[15]000`, `"executed":999`), fails: []string{"a block executes exactly its operations", "several clients share one counter"}},
	"uncounting":  {reply: replace(`,"histogram":.*`, `}}`), fails: []string{"a block executes exactly its operations", "several clients share one counter"}},
	"rough":       {reply: replace(`"histogram":\[`, `"histogram":[[1000,0],`), fails: []string{"a block executes exactly its operations", "several clients share one counter"}},
	"unordered":   {reply: replace(`\]\]\}\}`, `],[0,0]]}}`), fails: []string{"a block executes exactly its operations", "several clients share one counter"}},
	"odd":         {reply: replace(`"operations":\d+`, `"operations":4777`), fails: []string{"a block executes exactly its operations", "a window lasts as long as asked", "a window in batches counts every operation", "several clients share one counter", "a window has ten operations of every client", "counters are those of the measurement alone", "a name is prepared once", "the waiting that is told is what the system counted of its threads", "threads of clients live until close", "the time at which a measurement began is within its call"}},
	"failing":     {reply: replace(`"counters"`, `"errors":1,"counters"`), fails: []string{"a block executes exactly its operations", "a window lasts as long as asked", "a window in batches counts every operation", "several clients share one counter", "a window has ten operations of every client", "counters are those of the measurement alone"}},
	"agreeing":    {engine: idle{capabilities: []string{wire.CapCall}}, fails: []string{"every call does its units", "a call of which no unit is right says why, and how long it took", "a call that there is not is refused", "a call of several clients or without a size is refused"}},
	"complaining": {reply: complaining(`"message":"a database is open already"`, `"message":""`), fails: []string{"a second open is refused"}},
	"obliging":    {reply: replace(`"code":"invalid"(.*no id above)`, `"code":"unsupported"$1`), fails: []string{"garbage is answered invalid or ends the worker with an error"}},
	"quiet exit":  {request: dieOn(-1), fails: []string{"garbage is answered invalid or ends the worker with an error"}},
}

// replace changes what a pattern matches.
func replace(pattern, with string) func([]byte) []byte {
	matches := regexp.MustCompile(pattern)
	return func(line []byte) []byte { return matches.ReplaceAll(line, []byte(with)) }
}

// complaining is replace, with words on standard error where it changes a line.
func complaining(pattern, with string) func([]byte) []byte {
	change := replace(pattern, with)
	return func(line []byte) []byte {
		changed := change(line)
		if !bytes.Equal(changed, line) {
			fmt.Fprintln(os.Stderr, "the driver has its own words")
		}
		return changed
	}
}

// dieOn ends the fake, as if all were well, on lines that are too long, or
// that are no JSON.
func dieOn(most int) func([]byte) []byte {
	return func(line []byte) []byte {
		if most > 0 && len(line) > most || most < 0 && !json.Valid(line) {
			os.Exit(0)
		}
		return line
	}
}

func (f fake) main() int {
	if f.engine.version == "" {
		f.engine.version = "v1"
	}
	in, out := io.Reader(os.Stdin), io.Writer(os.Stdout)
	if f.request != nil {
		reader, writer := io.Pipe()
		go func() {
			lines := wire.NewReader(os.Stdin)
			for {
				line, err := lines.Line()
				if err != nil {
					_ = writer.CloseWithError(err)
					return
				}
				_, _ = fmt.Fprintf(writer, "%s\n", f.request(bytes.Clone(line)))
			}
		}()
		in = reader
	}
	if f.reply != nil {
		out = filter{os.Stdout, f.reply}
	}
	if err := kit.Serve(f.engine, in, out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return f.status
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

// idle is an engine that does nothing, with the right number of rows.
type idle struct {
	version      string
	capabilities []string
}

func (i idle) Capabilities() []string { return i.capabilities }

func (i idle) Target() (wire.Target, error) {
	return wire.Target{Driver: "idle", DriverVersion: i.version, Engine: "idle", EngineVersion: "1"}, nil
}

func (i idle) Open(wire.Open) (kit.Database, wire.Opened, error) { return i, wire.Opened{}, nil }

func (i idle) Settings([]string) ([]wire.Connection, error) { return nil, nil }

func (i idle) Prepare(op wire.Operation, _ *column.File) (kit.Operation, error) {
	rows := 0
	for _, step := range op.Steps {
		rows += step.Rows
	}
	return idleOperation{rows * max(1, op.Transaction)}, nil
}

func (i idle) Query(string, []string, func([]any) error) error { return nil }

func (i idle) Close() error { return nil }

type idleOperation struct{ rows int }

func (idleOperation) QueryPlan() string { return "" }

func (o idleOperation) Client() (kit.Client, error) { return o, nil }

func (idleOperation) Answer(int, func(int, []any) error) error { return nil }

func (o idleOperation) Do(int) (int, error) { return o.rows, nil }

func (idleOperation) Close() error { return nil }
