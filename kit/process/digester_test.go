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
	fakes["rows"] = tellsPositions
	fakes["pipe"] = tellsByPipe
}

// tellsPositions is a worker whose operations answer their positions. The name says what it tells
// of a measurement: numbers and parts of units.
func tellsPositions() {
	check(wire.Write(os.Stdout, wire.Hello{Type: "hello", Protocol: wire.Protocol, Capabilities: []string{wire.CapQuery}}))
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
	hash, err := answer.New([]string{"int"})
	must(t, err)
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
	w.digester.prepared["read"] = &ready{Operation: read}
	var verified wire.Verified
	err := w.Call(soon(t), wire.TypeVerify, wire.Verify{Operation: "read", Count: 1}, &verified)
	if err != nil || verified.Rows != 0 {
		t.Errorf("got %+v, %v, want no rows", verified, err)
	}
}

// Requests that may not be made do not reach a worker that writes rows to files.
func TestRequestsThatMayNotBe(t *testing.T) {
	ints := []column.Type{column.Int, column.Int, column.Int}
	trace := columntest.Write(t, ints[:1], []any{int64(0)}, []any{int64(1)}, []any{int64(2)})
	step := wire.Step{SQL: "SELECT", Query: true, Args: 1, Rows: 1, Returns: []string{"int"}}
	op := func(name string, change func(*wire.Operation)) wire.Prepare {
		p := wire.Prepare{Operation: wire.Operation{Name: name, Steps: []wire.Step{step}, Trace: trace}, Clients: 2}
		change(&p.Operation)
		return p
	}
	asIs := func(*wire.Operation) {}
	mix := func(rows ...[]any) func(*wire.Operation) {
		return func(o *wire.Operation) {
			o.Steps, o.Parts, o.Trace = nil, []wire.Operation{op("part", asIs).Operation}, columntest.Write(t, ints[:len(rows[0])], rows...)
		}
	}
	call := func(o *wire.Operation) { o.Steps = []wire.Step{{Call: "own", N: 1}} }
	draw := []any{int64(0), int64(2), int64(0)}
	w := begin(t, "rows", Options{Dir: t.TempDir()})
	refused := func(code, kind string, request any) {
		t.Helper()
		var remote *wire.Error
		if err := w.Call(t.Context(), kind, request, nil); !errors.As(err, &remote) || remote.Code != code || !remote.Definite {
			t.Errorf("%s of %+v: got %v, want %s", kind, request, err, code)
		}
	}
	refused(wire.Invalid, wire.TypePrepare, op("a", asIs))
	refused(wire.Invalid, wire.TypeOpen, wire.Open{})
	must(t, w.Call(t.Context(), wire.TypeOpen, wire.Open{Readers: 1}, nil))
	refused(wire.Invalid, wire.TypeOpen, wire.Open{Readers: 1})
	for _, p := range []wire.Prepare{op("a", asIs), op("k", func(o *wire.Operation) { o.Transaction = 3 }), op("ordered", mix(draw))} {
		must(t, w.Call(t.Context(), wire.TypePrepare, p, nil))
	}
	for _, p := range []wire.Prepare{op("a", asIs), {Operation: wire.Operation{Name: "nobody"}},
		op("missing", func(o *wire.Operation) { o.Trace += "-" }), op("narrow", func(o *wire.Operation) { o.Steps = append(o.Steps, step) }),
		op("short", func(o *wire.Operation) { o.Transaction = 4 }), op("beyond", mix([]any{int64(0), int64(3)})),
		op("no part", mix([]any{int64(1), int64(0)})), op("after itself", mix([]any{int64(0), int64(0), int64(1)}))} {
		refused(wire.Invalid, wire.TypePrepare, p)
	}
	refused(wire.Unsupported, wire.TypePrepare, op("call", call))
	for _, m := range []wire.Measure{{Operation: "none", Nanos: 1}, {Operation: "a"}, {Operation: "a", Nanos: 1, Operations: 1},
		{Operation: "a", Start: -1, Nanos: 1}, {Operation: "a", Nanos: 1, Answers: true}, {Operation: "k", Start: 1, Nanos: 1},
		{Operation: "k", Operations: 2}, {Operation: "ordered", Nanos: 1}, {Operation: "ordered", Start: 1, Operations: 1}} {
		refused(wire.Invalid, wire.TypeMeasure, m)
	}
	refused(wire.Unsupported, wire.TypeMeasure, wire.Measure{Operation: "a", Operations: 1, Phases: true})
	refused(wire.Invalid, wire.TypeVerify, wire.Verify{Operation: "none", Count: 1})
	refused(wire.Invalid, wire.TypeVerify, wire.Verify{Operation: "a", Start: -1})
}
