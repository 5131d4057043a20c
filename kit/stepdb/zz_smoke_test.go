//go:build unix

package stepdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"assay/kit/column"
	"assay/kit/process"
	"assay/kit/wire"
)

func TestSmoke(t *testing.T) {
	dir := t.TempDir()
	b := column.NewBuilder(column.Int)
	for i := range 1000 {
		_ = b.Append(int64(1 + i*7919%1000))
	}
	trace := filepath.Join(dir, "keys")
	_ = b.WriteFile(trace)
	path := filepath.Join(dir, "d.db")
	w, err := process.Start(context.Background(), os.Getenv("W"), process.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Kill()
	var opened wire.Opened
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Call(context.Background(), wire.TypeOpen, wire.Open{Path: path, Readers: 2, Idle: 2, Writers: 1, Once: []string{
		"CREATE TABLE monster(id INTEGER PRIMARY KEY, name TEXT, hp INTEGER, attack INTEGER)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1000) INSERT INTO monster SELECT i, 'monster ' || i, i * 1000, i * 2000 FROM n",
	}}, &opened))
	fmt.Printf("%+v %+v\n", w.Hello().Target.Facts, w.Hello().Target.EngineVersion)
	for _, policy := range []string{"once", "each", "never"} {
		for _, clients := range []int{1, 4} {
			op := wire.Operation{Name: fmt.Sprint(policy, clients), Trace: trace, Statement: policy,
				Steps: []wire.Step{{SQL: "SELECT id, name, hp, attack FROM monster WHERE id = ?", Query: true, Args: 1, Rows: 1, Returns: []string{"int", "text", "int", "int"}}}}
			if err := w.Call(context.Background(), wire.TypePrepare, wire.Prepare{Operation: op, Clients: clients}, nil); err != nil {
				fmt.Println(err)
				continue
			}
			for _, phases := range []bool{false, true} {
				if phases && clients > 1 {
					continue
				}
				var m wire.Measured
				for range 3 {
					must(w.Call(context.Background(), wire.TypeMeasure, wire.Measure{Operation: op.Name, Nanos: 100e6, Phases: phases}, &m))
				}
				n := float64(m.Operations)
				fmt.Printf("%s clients %d: %.0f ns/op %.1f allocs/op %.0f B/op errors %d %s misses %d %s", policy, clients, float64(m.Nanos)/n, float64(m.Counters.Allocs)/n, float64(m.Counters.Alloc)/n, m.Errors, m.Error, m.Misses, m.Miss)
				for _, p := range m.Phases {
					fmt.Printf(" %s %.0f x%.1f", p.Name, float64(p.Nanos)/n, float64(p.Count)/n)
				}
				fmt.Println()
			}
		}
	}
}
