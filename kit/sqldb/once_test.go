package sqldb

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"assay/kit"
	"assay/kit/wire"
)

// What is compiled once is compiled before the first operation, however many
// clients share however many connections: BEGIN and COMMIT too.
func TestNothingIsCompiledWhileMeasuring(t *testing.T) {
	query := wire.Step{SQL: "SELECT ?", Query: true, Args: 1, Rows: 1, Returns: []string{"int"}}
	insert := wire.Step{SQL: "INSERT ?", Args: 1, Rows: 1}
	for name, c := range map[string]struct {
		op       wire.Operation
		compiled map[string]int // before measuring
	}{
		"read":        {wire.Operation{Steps: []wire.Step{query}}, map[string]int{"SELECT ?": 5}},
		"change":      {wire.Operation{Changes: true, Steps: []wire.Step{insert}}, map[string]int{"INSERT ?": 3}},
		"repeated":    {wire.Operation{Changes: true, Steps: []wire.Step{{SQL: "DELETE", Rows: 1}, insert, {SQL: "DELETE", Rows: 1}}}, map[string]int{"INSERT ?": 3, "DELETE": 3}},
		"transaction": {wire.Operation{Changes: true, Transaction: 1, Steps: []wire.Step{insert, {SQL: "DELETE", Rows: 1}}}, map[string]int{"INSERT ?": 3, "DELETE": 3, "BEGIN IMMEDIATE": 3, "COMMIT": 3}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{respond: two}
			db := openFake(t, f, wire.Open{Readers: 5, Idle: 5, Writers: 3})
			c.op.Name = name
			operation, err := db.Prepare(c.op, openTrace(t, 7, 8))
			must(t, err)
			f.did()
			const clients = 40
			var all []kit.Client
			for range clients {
				client, err := operation.Client()
				must(t, err)
				all = append(all, client)
			}
			compiled := countPrepares(f.did())
			if fmt.Sprint(compiled) != fmt.Sprint(c.compiled) {
				t.Errorf("before measuring: got %v compiled, want %v: once on each connection", compiled, c.compiled)
			}
			var working sync.WaitGroup
			for _, client := range all {
				working.Go(func() {
					for i := range 20 {
						if _, err := client.Do(i % 2); err != nil {
							t.Error(err)
						}
					}
				})
			}
			working.Wait()
			if compiled := countPrepares(f.did()); len(compiled) > 0 {
				t.Errorf("while measuring: got %v compiled, want nothing", compiled)
			}
			var errs []error
			for _, client := range all {
				errs = append(errs, client.Close())
			}
			if err := errors.Join(append(errs, operation.Close())...); err != nil {
				t.Error(err)
			}
		})
	}
}

// countPrepares counts how often each statement was compiled.
func countPrepares(did []string) map[string]int {
	counts := map[string]int{}
	for _, line := range did {
		if _, text, is := strings.Cut(line, ": prepare "); is {
			counts[text]++
		}
	}
	return counts
}
