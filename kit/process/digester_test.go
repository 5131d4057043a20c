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
		check(os.Remove(asked.Rows))
		check(syscall.Mkfifo(asked.Rows, 0o600))
		return body{wire.Envelope{Type: "ok", ID: head.ID}, struct{}{}}
	})
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
	w := begin(t, "rows", Options{Dir: t.TempDir()})
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
	w := begin(t, "rows", Options{Dir: dir})
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
	for name, op := range map[string]wire.Operation{"change": change, "mix": {Parts: []wire.Operation{read, change}}} {
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
	mix := wire.Operation{Parts: []wire.Operation{read, change}, Trace: trace}
	for told, op := range map[string]wire.Operation{"0/1": mix, "1/0": read, "3/0": read, "2/0 2/0": read} {
		op.Name = told
		w := begin(t, "rows", Options{Dir: t.TempDir()})
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
	w := begin(t, "pipe", Options{Dir: t.TempDir()})
	read := wire.Operation{Name: "read", Steps: []wire.Step{{SQL: "SELECT", Query: true, Returns: []string{"int"}}}}
	w.digester.prepared["read"] = read
	var verified wire.Verified
	err := w.Call(soon(t), wire.TypeVerify, wire.Verify{Operation: "read", Count: 1}, &verified)
	if err != nil || verified.Rows != 0 {
		t.Errorf("got %+v, %v, want no rows", verified, err)
	}
}
