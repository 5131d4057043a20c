package stepdb

import (
	"fmt"
	"strings"
	"testing"

	"assay/kit"
	"assay/kit/wire"
)

// What is compiled once is compiled before the first operation, however many
// clients share however many connections: BEGIN and COMMIT too.
func TestNothingIsCompiledWhileMeasuring(t *testing.T) {
	insert := wire.Step{SQL: put, Args: 1, Rows: 1}
	for name, c := range map[string]struct {
		op       wire.Operation
		compiled map[string]int // before measuring
	}{
		"read":        {reading("once"), map[string]int{get: 2}},
		"change":      {wire.Operation{Changes: true, Steps: []wire.Step{insert}}, map[string]int{put: 3}},
		"repeated":    {wire.Operation{Changes: true, Steps: []wire.Step{{SQL: "DELETE", Rows: 1}, insert, {SQL: "DELETE", Rows: 1}}}, map[string]int{put: 3, "DELETE": 3}},
		"transaction": {wire.Operation{Changes: true, Transaction: 1, Steps: []wire.Step{insert, {SQL: "DELETE", Rows: 1}}}, map[string]int{put: 3, "DELETE": 3, "BEGIN IMMEDIATE": 3, "COMMIT": 3}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			o, err := f.database(t, f.driver(), wire.Open{Readers: 2, Writers: 3}).Prepare(c.op, traceOf(t, 1, 2))
			must(t, err)
			f.taken()
			var clients []kit.Client
			for range 20 {
				client, err := o.Client()
				must(t, err)
				clients = append(clients, client)
			}
			if got := countPrepares(f.taken()); fmt.Sprint(got) != fmt.Sprint(c.compiled) {
				t.Errorf("before measuring: got %v compiled, want %v: once on each connection", got, c.compiled)
			}
			for i, client := range append(clients, clients...) {
				if _, err := client.Do(i % 2); err != nil {
					t.Error(err)
				}
			}
			if got := countPrepares(f.taken()); len(got) > 0 {
				t.Errorf("while measuring: got %v compiled, want nothing", got)
			}
			if err := o.Close(); err != nil {
				t.Error(err)
			}
			if got := strings.Count(strings.Join(f.taken(), "\n"), "finalize"); got != total(c.compiled) {
				t.Errorf("finalized %d statements, want %d", got, total(c.compiled))
			}
		})
	}
}

// A driver's cache is filled on each connection before the first operation.
func TestCachesAreFilledBeforeMeasuring(t *testing.T) {
	f := newFake()
	o, err := f.database(t, f.caching(), wire.Open{Readers: 1}).Prepare(reading("once"), traceOf(t, 1))
	must(t, err)
	f.taken()
	if _, err := o.Client(); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(f.taken()), "[take 1 cached "+get+" put]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// countPrepares counts how often each statement was compiled.
func countPrepares(log []string) map[string]int {
	counts := map[string]int{}
	for _, line := range log {
		if _, text, is := strings.Cut(line, " prepare "); is {
			counts[text]++
		}
	}
	return counts
}

func total(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
