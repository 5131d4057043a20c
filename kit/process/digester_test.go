//go:build unix

package process

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"assay/kit/answer"
	"assay/kit/column"
	"assay/kit/column/columntest"
	"assay/kit/wire"
)

func init() {
	fakes["rows"] = tellsPositions(wire.CapOrdered)
	fakes["sql"] = tellsPositions(wire.CapSQL)
	fakes["kv"] = tellsPositions(wire.CapKV)
	fakes["calls"] = tellsPositions(wire.CapCall)
	fakes["pipe"] = tellsByPipe
}

// tellsPositions is a worker whose operations answer their positions. The name says what it tells
// of a measurement: numbers and parts of units. What queries answer is a row without columns.
func tellsPositions(capability string) func() {
	return func() {
		hello := wire.Hello{Type: "hello", Protocol: wire.Protocol, Capabilities: []string{wire.CapQuery, capability}, Calls: []string{"own"},
			Target: wire.Target{EngineVersion: "3.50.0"}}
		check(wire.Write(os.Stdout, hello))
		servePositions()
	}
}

func servePositions() {
	serve(func(head wire.Envelope, line []byte) any {
		var asked struct {
			Operation json.RawMessage `json:"operation"`
			wire.Verify
		}
		check(json.Unmarshal(line, &asked))
		var rows []byte
		var failed int64
		tell := func(number, part uint64, row ...uint64) {
			rows = binary.LittleEndian.AppendUint64(rows, number)
			rows = binary.LittleEndian.AppendUint64(rows, 1<<32|part)
			rows = binary.LittleEndian.AppendUint64(rows, 1<<32)
			rows = binary.LittleEndian.AppendUint64(append(rows, 1), row[0])
		}
		switch head.Type {
		case wire.TypeQuery:
			rows = append(make([]byte, 12), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		case wire.TypeVerify:
			for p := asked.Start; p < asked.Start+asked.Count; p++ {
				tell(0, 0, uint64(p))
			}
		case wire.TypeMeasure:
			var name string
			check(json.Unmarshal(asked.Operation, &name))
			var number, part uint64
			for _, unit := range strings.Fields(name) {
				_, err := fmt.Sscanf(unit, "%d/%d", &number, &part)
				check(err)
				tell(number, part, number)
			}
			if number == 9 { // it could not write all
				failed, rows = 1, rows[:len(rows)-1]
			}
		}
		if asked.Rows != "" {
			check(os.WriteFile(filepath.Base(asked.Rows), rows, 0o600)) // in its own folder
		}
		return body{wire.Envelope{Type: "ok", ID: head.ID}, wire.Measured{Errors: failed}}
	})
}

// tellsByPipe is a worker that makes another file in the place of the one that it is given.
func tellsByPipe() {
	check(wire.Write(os.Stdout, wire.Hello{Type: "hello", Protocol: wire.Protocol, Capabilities: []string{wire.CapQuery}}))
	serve(func(head wire.Envelope, line []byte) any {
		var asked wire.Verify
		check(json.Unmarshal(line, &asked))
		if asked.Rows != "" {
			check(os.Remove(asked.Rows))
			check(syscall.Mkfifo(asked.Rows, 0o600))
		}
		return body{wire.Envelope{Type: "ok", ID: head.ID}, struct{}{}}
	})
}

// beginOpen starts a fake in a folder, with a database open.
func beginOpen(t *testing.T, name, dir string) *Worker {
	t.Helper()
	w := begin(t, name, Options{Dir: dir})
	must(t, w.Call(t.Context(), wire.TypeOpen, wire.Open{Readers: 1, Writers: 1}, nil))
	return w
}

func positionsDigest(t *testing.T, positions ...int64) string {
	t.Helper()
	hash := answer.New([]string{"int"})
	for _, p := range positions {
		must(t, hash.Row([]any{p}))
	}
	return hash.Sum()
}

// The units of transactions are numbered by the transaction, whichever a measurement begins with.
func TestDigesterTransactions(t *testing.T) {
	op := wire.Operation{Name: "1/0 0/0", Transaction: 2,
		Trace: columntest.Write(t, []column.Type{column.Int}, []any{int64(0)}, []any{int64(1)}, []any{int64(2)}, []any{int64(3)}),
		Steps: []wire.Step{{SQL: "SELECT", Query: true, Args: 1, Rows: 1, Returns: []string{"int"}}}}
	w := beginOpen(t, "rows", t.TempDir())
	must(t, w.Call(t.Context(), wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil))
	var m wire.Measured
	must(t, w.Call(t.Context(), wire.TypeMeasure, wire.Measure{Operation: op.Name, Start: 2, Operations: 4, Answers: true}, &m))
	if want := []string{positionsDigest(t, 1), positionsDigest(t, 0)}; !slices.Equal(m.Digests, want) {
		t.Errorf("got %q, want %q", m.Digests, want)
	}
}

// Answers of a worker that tells rows are digested in the order of positions, and no file
// is left.
func TestDigester(t *testing.T) {
	dir := t.TempDir()
	trace := columntest.Write(t, []column.Type{column.Int}, []any{int64(0)}, []any{int64(1)}, []any{int64(2)})
	read := wire.Operation{Steps: []wire.Step{{SQL: "SELECT", Query: true, Rows: 1, Returns: []string{"int"}}}, Trace: trace}
	change := wire.Operation{Changes: true, Steps: []wire.Step{{SQL: "UPDATE", Rows: 1}}}
	draws := columntest.Write(t, []column.Type{column.Int, column.Int}, []any{int64(0), int64(0)})
	w := beginOpen(t, "rows", dir)
	prepare := func(name string, op wire.Operation) {
		op.Name = name
		must(t, w.Call(t.Context(), wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil))
	}
	prepare("read", read)
	var all []int64
	for p := range int64(1000) {
		all = append(all, 5+p)
	}
	var verified wire.Verified
	must(t, w.Call(t.Context(), wire.TypeVerify, wire.Verify{Operation: "read", Start: 5, Count: 1000}, &verified))
	if want := (wire.Verified{Digest: positionsDigest(t, all...), Rows: 1000}); verified != want {
		t.Errorf("got %+v, want %+v", verified, want)
	}
	text := read
	text.Steps = []wire.Step{{SQL: "SELECT", Query: true, Rows: 1, Returns: []string{"text"}}}
	prepare("text", text)
	wrong := wire.Verify{Operation: "text", Start: 5, Count: 2}
	if err := w.Call(t.Context(), wire.TypeVerify, wrong, &verified); err == nil {
		t.Error("numbers are verified as text")
	}
	var rows []any
	if told := w.Rows(t.Context(), wrong, func(row []any) { rows = append(rows, row...) }); !told || !slices.Equal(rows, []any{int64(5), int64(6)}) {
		t.Errorf("the rows of another type are %v, all told: %t; want 5 and 6, all", rows, told)
	}
	prepare("2/0 0/0", read) // position 1 has failed
	var m wire.Measured
	must(t, w.Call(t.Context(), wire.TypeMeasure, wire.Measure{Operation: "2/0 0/0", Start: 2, Operations: 4, Answers: true}, &m))
	if want := []string{positionsDigest(t, 2), positionsDigest(t, 0), "", ""}; !slices.Equal(m.Digests, want) {
		t.Errorf("got %q, want %q", m.Digests, want)
	}
	for name, op := range map[string]wire.Operation{"change": change, "mix": {Parts: []wire.Operation{read, change}, Trace: draws}} {
		prepare(name, op)
		if err := w.Call(t.Context(), wire.TypeVerify, wire.Verify{Operation: name, Count: 1}, &verified); !IsUnsupported(err) {
			t.Errorf("verify of %s: got %v, want unsupported", name, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
	prepare("9/0", read) // which had an error
	m = wire.Measured{}
	must(t, w.Call(t.Context(), wire.TypeMeasure, wire.Measure{Operation: "9/0", Operations: 2, Answers: true}, &m))
	if m.Errors != 1 || !slices.Equal(m.Digests, []string{"", ""}) {
		t.Errorf("got %d errors, digests %q, want 1 and none", m.Errors, m.Digests)
	}
}

// A worker that tells what it was not asked for breaks the protocol.
func TestDigesterRefuses(t *testing.T) {
	trace := columntest.Write(t, []column.Type{column.Int}, []any{int64(0)}, []any{int64(1)}, []any{int64(2)})
	read := wire.Operation{Steps: []wire.Step{{SQL: "SELECT", Query: true, Rows: 1, Returns: []string{"int"}}}, Trace: trace}
	change := wire.Operation{Changes: true, Steps: []wire.Step{{SQL: "UPDATE", Rows: 1}}}
	ints := []column.Type{column.Int, column.Int}
	draws := columntest.Write(t, ints, []any{int64(0), int64(0)}, []any{int64(1), int64(0)}, []any{int64(0), int64(2)})
	mix := wire.Operation{Parts: []wire.Operation{read, change}, Trace: draws}
	for told, op := range map[string]wire.Operation{"0/1": mix, "1/0": read, "3/0": read, "2/0 2/0": read} {
		op.Name = told
		w := beginOpen(t, "rows", t.TempDir())
		must(t, w.Call(t.Context(), wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}, nil))
		err := w.Call(t.Context(), wire.TypeMeasure, wire.Measure{Operation: told, Start: 2, Operations: 2, Answers: true}, nil)
		if !errors.As(err, new(*ProtocolError)) || w.Alive() {
			t.Errorf("%s: got %v, want a breach", told, err)
		}
	}
}

// A file that the worker has put in the place of the one for rows is not opened: of a pipe
// that would not end.
func TestDigesterOpensNothingElse(t *testing.T) {
	w := beginOpen(t, "pipe", t.TempDir())
	read := wire.Operation{Name: "read", Steps: []wire.Step{{SQL: "SELECT", Query: true, Returns: []string{"int"}}}}
	w.digester.prepared["read"] = &preparedOperation{Operation: read}
	var verified wire.Verified
	err := w.Call(soon(t), wire.TypeVerify, wire.Verify{Operation: "read", Count: 1}, &verified)
	if err != nil || verified.Rows != 0 {
		t.Errorf("got %+v, %v, want no rows", verified, err)
	}
}

// sends has a worker refuse requests as it goes.
type sends struct {
	*testing.T
	*Worker
}

func sendsTo(t *testing.T, fake string) sends {
	return sends{t, begin(t, fake, Options{Dir: t.TempDir()})}
}

func (s sends) refused(code, kind string, requests ...any) {
	s.Helper()
	for _, request := range requests {
		var remote *wire.Error
		if err := s.Call(s.Context(), kind, request, nil); !errors.As(err, &remote) || remote.Code != code || !remote.Definite {
			s.Errorf("%s of %+v: got %v, want %s", kind, request, err, code)
		}
	}
}

func (s sends) open(request wire.Open) { s.must(wire.TypeOpen, request) }

func (s sends) must(kind string, requests ...any) {
	s.Helper()
	for _, request := range requests {
		must(s.T, s.Call(s.Context(), kind, request, nil))
	}
}

var (
	ints    = []column.Type{column.Int, column.Int, column.Int}
	askStep = wire.Step{SQL: "SELECT", Query: true, Args: 1, Rows: 1, Returns: []string{"int"}}
)

// prepareOf prepares a copy of an operation of two clients, changed.
func prepareOf(trace string, change func(*wire.Prepare)) wire.Prepare {
	p := wire.Prepare{Operation: wire.Operation{Name: "new", Steps: []wire.Step{askStep}, Trace: trace}, Clients: 2}
	change(&p)
	return p
}

func mixOf(t *testing.T, part wire.Prepare, rows ...[]any) wire.Prepare {
	trace := columntest.Write(t, ints[:len(rows[0])], rows...)
	return wire.Prepare{Operation: wire.Operation{Name: "mix", Parts: []wire.Operation{part.Operation}, Trace: trace}, Clients: 2}
}

// Requests that may not be made do not reach a worker that writes rows to files.
func TestRequestsThatMayNotBe(t *testing.T) {
	trace := columntest.Write(t, ints[:1], []any{int64(0)}, []any{int64(1)}, []any{int64(2)})
	with := func(change func(*wire.Prepare)) wire.Prepare { return prepareOf(trace, change) }
	named := func(name string, transaction int) wire.Prepare {
		return with(func(p *wire.Prepare) { p.Operation.Name, p.Operation.Transaction = name, transaction })
	}
	draw := []any{int64(0), int64(2), int64(0)}
	w := sendsTo(t, "rows")
	for kind, request := range map[string]any{wire.TypePrepare: named("a", 0), wire.TypeMeasure: wire.Measure{Operation: "a", Nanos: 1},
		wire.TypeVerify: wire.Verify{Operation: "a"}, wire.TypeSettings: wire.Settings{}, wire.TypeQuery: wire.Query{}, wire.TypeLoad: wire.Load{}, wire.TypeCheck: nil} {
		w.refused(wire.Invalid, kind, request)
	}
	w.refused(wire.Invalid, wire.TypeOpen, wire.Open{})
	w.open(wire.Open{Readers: 1})
	w.refused(wire.Invalid, wire.TypeOpen, wire.Open{Readers: 1})
	ordered := mixOf(t, named("part", 0), draw)
	w.must(wire.TypePrepare, named("a", 0), named("k", 3), ordered)
	w.refused(wire.Invalid, wire.TypePrepare, named("a", 0), wire.Prepare{Operation: wire.Operation{Name: "nobody"}}, named("short", 4),
		with(func(p *wire.Prepare) { p.Operation.Trace += "-" }),
		with(func(p *wire.Prepare) { p.Operation.Steps = append(p.Operation.Steps, askStep) }), // too few columns
		with(func(p *wire.Prepare) { p.Operation.Steps, p.Operation.Trace = nil, "" }),
		with(func(p *wire.Prepare) { p.Operation.Statement = "twice" }),
		with(func(p *wire.Prepare) { p.Operation.Steps[0].Returns = []string{"date"} }),
		mixOf(t, named("part", 0), []any{int64(0), int64(3)}), mixOf(t, named("part", 0), []any{int64(1), int64(0)}),
		mixOf(t, named("part", 0), []any{int64(0), int64(0), int64(1)}))
	w.refused(wire.Invalid, wire.TypeMeasure, wire.Measure{Operation: "none", Nanos: 1}, wire.Measure{Operation: "a"}, wire.Measure{Operation: "a", Nanos: 1, Operations: 1},
		wire.Measure{Operation: "a", Start: -1, Nanos: 1}, wire.Measure{Operation: "a", Nanos: 1, Answers: true}, wire.Measure{Operation: "k", Start: 1, Nanos: 1},
		wire.Measure{Operation: "k", Operations: 2}, wire.Measure{Operation: "mix", Nanos: 1}, wire.Measure{Operation: "mix", Start: 1, Operations: 1})
	w.refused(wire.Unsupported, wire.TypeMeasure, wire.Measure{Operation: "a", Operations: 1, Phases: true})
	w.refused(wire.Invalid, wire.TypeVerify, wire.Verify{Operation: "none", Count: 1}, wire.Verify{Operation: "a", Start: -1}, wire.Verify{All: true, Returns: []string{"date"}})
}

// What a kind of worker does not run is refused: here of SQL, stores and calls.
func TestRequestsToAnotherKind(t *testing.T) {
	trace := columntest.Write(t, []column.Type{column.Blob}, []any{[]byte("k")})
	of := func(clients int, changes bool, steps ...wire.Step) wire.Prepare {
		return wire.Prepare{Operation: wire.Operation{Name: "new", Steps: steps, Changes: changes}, Clients: clients}
	}
	get := wire.Step{KV: wire.Get, Query: true, Args: 1, Rows: 1, Returns: []string{"blob"}}
	own, plain := wire.Step{Call: "own", N: 1, Query: true, Rows: -1, Returns: []string{"int"}}, wire.Step{SQL: "SELECT"}
	draw := []any{int64(0), int64(0), int64(0)}

	sql := sendsTo(t, "sql")
	sql.open(wire.Open{Readers: 1})
	sql.refused(wire.Invalid, wire.TypePrepare, of(1, true, plain)) // without a writer
	sql.refused(wire.Unsupported, wire.TypePrepare, of(1, false, plain, wire.Step{KV: wire.Get}), mixOf(t, of(1, false, plain), draw))

	kv := sendsTo(t, "kv")
	kv.open(wire.Open{Readers: 1, Writers: 1})
	kv.refused(wire.Unsupported, wire.TypePrepare, of(1, false, plain))
	kv.refused(wire.Invalid, wire.TypePrepare, of(1, false, get)) // without a trace
	kv.refused(wire.Invalid, wire.TypeLoad, wire.Load{Records: trace}, wire.Load{Records: trace + "-"})
	short := filepath.Join(t.TempDir(), "short")
	must(t, os.WriteFile(short, []byte("ASSAYCOL"), 0o600))
	kv.refused(wire.Invalid, wire.TypeLoad, wire.Load{Records: short})

	calls := sendsTo(t, "calls")
	calls.open(wire.Open{Writers: 1})
	sized, grease, batch := own, own, of(1, true, own)
	sized.N, grease.Call, batch.Operation.Transaction = 0, "grease", 2
	calls.refused(wire.Unsupported, wire.TypePrepare, of(1, true, grease))
	calls.refused(wire.Invalid, wire.TypePrepare, of(2, true, own), of(1, true, sized), batch, of(1, true, own, own), of(1, true, plain, own), mixOf(t, of(1, true, own), draw[:2]))
	once := of(1, true, own)
	once.Operation.Name = "0/0"
	calls.must(wire.TypePrepare, once)
	calls.refused(wire.Invalid, wire.TypeVerify, wire.Verify{Operation: "0/0", Count: 1})
	calls.must(wire.TypeMeasure, wire.Measure{Operation: "0/0", Operations: 1})
	calls.must(wire.TypeVerify, wire.Verify{Operation: "0/0", Count: 1})
}

// A row without columns tells nothing of a setting, and where it must tell something it is an error.
func TestSettingsOfRowsWithoutColumns(t *testing.T) {
	w := sendsTo(t, "sql")
	if err := w.Call(t.Context(), wire.TypeOpen, wire.Open{Readers: 1, Settings: map[string]string{"memory": "1"}}, nil); err == nil {
		t.Error("a file was copied into memory by rows without columns")
	}
	w.open(wire.Open{Readers: 1, Path: filepath.Join(t.TempDir(), "db")})
	var read wire.SettingsRead
	must(t, w.Call(t.Context(), wire.TypeSettings, wire.Settings{Names: []string{"cache_size", "busy_timeout", "immutable", "shared_cache"}}, &read))
	if len(read.Connections) != 1 || len(read.Connections[0].Settings) > 0 {
		t.Errorf("got %+v, want a connection of which nothing is known", read)
	}
	if err := w.Call(t.Context(), wire.TypeSettings, wire.Settings{Names: []string{"memory"}}, &read); err == nil {
		t.Errorf("got %+v, want no answer to where the database is", read)
	}
}
