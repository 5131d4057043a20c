//go:build unix

package main

import (
	"testing"
)

// Drivers are compared where a case has several, and cases otherwise.
func TestPublishedRelations(t *testing.T) {
	for _, test := range []struct {
		plan, a, b, machine string
		least               int
	}{
		{"monster", "modernc.org/sqlite, P1: cache=shared, read only", "mattn/go-sqlite3, P1: cache=shared, read only", "Apple M3 Max", 50},
		{"statements", "BenchmarkReadPrepareEveryTime", "BenchmarkReadNotPrepare", "EPYC 7K62", 15},
		{"kv", "Benchmark_lotusdb_seq", "Benchmark_bbolt_seq", "Apple M1 Max", 5},
	} {
		all, err := publishedFor(test.plan)
		if err != nil || len(all) < test.least {
			t.Errorf("%s: %d relations, %v", test.plan, len(all), err)
			continue
		}
		if p := all[0]; p.A.What != test.a || p.B.What != test.b || p.Machine != test.machine || p.Metric != "ns/op" {
			t.Errorf("%s: the first is %+v", test.plan, p)
		}
		for _, p := range all {
			if len(p.A.Cell) == 0 || len(p.B.Cell) == 0 || p.B.Value == 0 || p.A.Printed == "" || p.A.What == p.B.What {
				t.Errorf("%s: %+v", test.plan, p)
			}
		}
	}
	if all, err := publishedFor("quick"); err != nil || len(all) > 0 {
		t.Errorf("quick has %d relations, %v", len(all), err)
	}
}
