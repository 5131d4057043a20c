package published

import (
	"maps"
	"strings"
	"testing"
)

// Drivers are compared where a case has several, and cases otherwise.
func TestPublishedRelations(t *testing.T) {
	for _, test := range []struct {
		plan, a, b, machine string
		least               int
	}{
		{"monster", "modernc.org/sqlite, P1: cache=shared, read only", "mattn/go-sqlite3, P1: cache=shared, read only", "Apple M3 Max, darwin/arm64, Go 1.23.1", 50},
		{"statements", "BenchmarkReadPrepareEveryTime", "BenchmarkReadNotPrepare", "AMD EPYC 7K62, linux/amd64, Go 1.19, 8 threads", 15},
		{"kv", "Benchmark_lotusdb_seq", "Benchmark_bbolt_seq", "darwin/arm64, 10 threads, processor not stated", 5},
		{"rails", "sqlite3-ruby 1.6.6, 2 default compile, PRAGMA tuning", "sqlite3-ruby 1.6.6, 1 default compile, no PRAGMA tuning", "MacBook Pro 2021, Apple M1 Max, 32 GB, macOS 12.5.1", 4*39 - 1}, // the total of PostgreSQL is of one run
	} {
		all, err := Relations(test.plan)
		if err != nil || len(all) < test.least {
			t.Errorf("%s: %d relations, %v", test.plan, len(all), err)
			continue
		}
		if p := all[0]; p.A.What(p.B) != test.a || p.B.What(p.A) != test.b || p.Machine != test.machine || p.A.Cell.Metric != "ns/op" {
			t.Errorf("%s: the first is %+v", test.plan, p)
		}
		for _, p := range all {
			if len(p.A.Cell.Only) == 0 || len(p.B.Cell.Only) == 0 || p.B.Value == 0 && p.A.Reason == "" || p.A.Printed == "" || p.A.What(p.B) == p.B.What(p.A) {
				t.Errorf("%s: %+v", test.plan, p)
			}
		}
	}
	all, err := Relations("rails")
	doubts := map[string]int{}
	for _, p := range all {
		if p.A.Reason != "" {
			doubts[p.A.Cell.Only["operation"][0]+" "+strings.Join(p.A.Cell.Only["transaction"], "")]++
		}
	}
	want := map[string]int{"model_object_creation none": 4, "model_object_creation 1": 4, "model_object_select none": 4, "model_object_select 1": 4,
		"model_object_destruction 1": 4, "model_object_and_associated_object_creation 1": 4,
		"model_object_select_json_nested none": 1, "model_object_select_json_nested 1": 1}
	if err != nil || !maps.Equal(doubts, want) {
		t.Errorf("figures that are no measurements: %v, %v", doubts, err)
	}
	if all, err := Relations("quick"); err != nil || len(all) > 0 {
		t.Errorf("quick has %d relations, %v", len(all), err)
	}
}
