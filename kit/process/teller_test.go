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
	"testing"

	"assay/kit/answer"
	"assay/kit/column"
	"assay/kit/column/columntest"
	"assay/kit/wire"
)

func init() { fakes["teller"] = tellsPositions }

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
		}
		if asked.Rows != "" {
			check(os.WriteFile(asked.Rows, rows, 0o600))
		}
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

// Answers of a worker that tells rows are digested in the order of positions, and no file
// is left.
func TestTeller(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	trace := columntest.Write(t, []column.Type{column.Int}, []any{int64(0)}, []any{int64(1)}, []any{int64(2)})
	read := wire.Operation{Steps: []wire.Step{{SQL: "SELECT", Query: true, Rows: 1, Returns: []string{"int"}}}, Trace: trace}
	change := wire.Operation{Changes: true, Steps: []wire.Step{{SQL: "UPDATE", Rows: 1}}}
	w := begin(t, "teller", Options{})
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
	prepare("2/0 0/0 0/0", read) // position 1 has failed
	var m wire.Measured
	must(t, w.Call(t.Context(), wire.TypeMeasure, wire.Measure{Operation: "2/0 0/0 0/0", Start: 2, Operations: 4, Answers: true}, &m))
	if want := []string{positionsDigest(t, 2), positionsDigest(t, 0), "", ""}; !slices.Equal(m.Digests, want) {
		t.Errorf("got %q, want %q", m.Digests, want)
	}
	for name, op := range map[string]wire.Operation{"change": change, "mix": {Parts: []wire.Operation{read, change}}} {
		prepare(name, op)
		if err := w.Call(t.Context(), wire.TypeVerify, wire.Verify{Operation: name, Count: 1}, &verified); !IsUnsupported(err) {
			t.Errorf("verify of %s: got %v, want unsupported", name, err)
		}
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
	prepare("0/1", wire.Operation{Parts: []wire.Operation{read, change}, Trace: trace})
	err := w.Call(t.Context(), wire.TypeMeasure, wire.Measure{Operation: "0/1", Operations: 1, Answers: true}, &m)
	if !errors.As(err, new(*ProtocolError)) {
		t.Errorf("rows of a part that changes data: got %v, want a breach", err)
	}
}
