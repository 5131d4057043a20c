package sqldb

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assay/kit"
	"assay/kit/wire"
)

// TestPhases: which phases there are, and how often, is up to the kind of
// statement and to when it is compiled.
func TestPhases(t *testing.T) {
	const operations = 3
	query := wire.Step{SQL: "Q", Query: true, Rows: 2, Returns: []string{"int"}}
	change := wire.Step{SQL: "C", Rows: 1}
	reading := map[string]int64{"query": 1, "next": 3, "scan": 2, "close-rows": 1}
	for name, c := range map[string]struct {
		op   wire.Operation
		want map[string]int64 // for each operation
	}{
		"once":        {wire.Operation{Statement: "once", Steps: []wire.Step{query}}, reading},
		"never":       {wire.Operation{Statement: "never", Steps: []wire.Step{query}}, reading},
		"each":        {wire.Operation{Statement: "each", Steps: []wire.Step{query}}, with(reading, "prepare", "close-stmt")},
		"change once": {wire.Operation{Changes: true, Steps: []wire.Step{change}}, map[string]int64{"query": 1}},
		"change each": {wire.Operation{Changes: true, Statement: "each", Steps: []wire.Step{change}}, map[string]int64{"prepare": 1, "query": 1, "close-stmt": 1}},
		"transaction": {wire.Operation{Changes: true, Statement: "never", Transaction: 1, Steps: []wire.Step{change, change}}, map[string]int64{"query": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			c.op.Name = "o"
			m := measurePhases(t, c.op, operations)
			if m.Operations != operations || m.Error != "" || m.Miss != "" {
				t.Fatalf("measured %+v", m)
			}
			got := map[string]int64{}
			var total int64
			for _, phase := range m.Phases {
				got[phase.Name] = phase.Count
				total += phase.Nanos
			}
			want := map[string]int64{}
			for name, n := range c.want {
				want[name] = n * operations
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("phases %v, want %v", got, want)
			}
			if total < 0 || total > m.Nanos {
				t.Errorf("phases of %d ns in %d ns", total, m.Nanos)
			}
		})
	}
}

func with(counts map[string]int64, names ...string) map[string]int64 {
	all := map[string]int64{}
	for name, n := range counts {
		all[name] = n
	}
	for _, name := range names {
		all[name] = 1
	}
	return all
}

// measurePhases has a served engine run an operation of one client.
func measurePhases(t *testing.T, op wire.Operation, operations int64) wire.Measured {
	t.Helper()
	f := &fake{respond: func(_ int, text string, args []driver.Value) answer {
		if strings.Contains(text, "sqlite_version()") {
			return answer{rows: [][]driver.Value{{"3.99", "source"}}}
		}
		return two(0, text, args)
	}}
	var in, out bytes.Buffer
	for i, request := range []struct {
		kind string
		body any
	}{
		{wire.TypeOpen, wire.Open{Path: filepath.Join(t.TempDir(), "d"), Readers: 1, Idle: 1, Writers: 1}},
		{wire.TypePrepare, wire.Prepare{Operation: op, Clients: 1}},
		{wire.TypeMeasure, wire.Measure{Operation: op.Name, Operations: operations, Phases: true}},
		{wire.TypeClose, struct{}{}},
	} {
		body, err := json.Marshal(request.body)
		must(t, err)
		fields := map[string]any{}
		must(t, json.Unmarshal(body, &fields))
		fields["type"], fields["id"] = request.kind, i+1
		must(t, wire.Write(&in, fields))
	}
	d := f.register()
	d.Module = "example.org/none"
	must(t, kit.Serve(New(d), &in, &out))
	lines := strings.Split(out.String(), "\n")
	var reply struct {
		Message string
		Body    wire.Measured
	}
	if err := json.Unmarshal([]byte(lines[3]), &reply); err != nil || reply.Message != "" {
		t.Fatalf("%v: %s", err, out.String())
	}
	return reply.Body
}
