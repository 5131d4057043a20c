package plan

import (
	"fmt"
	"slices"
	"testing"

	"assay"
	"assay/kit/wire"
)

// mixOf returns the parts of an operation of a built-in plan.
func mixOf(t *testing.T, file, operation string) []assay.Part {
	t.Helper()
	for _, c := range expandFile(t, "../../plans/"+file) {
		if c.Cell.Operation == operation {
			return c.Operation.Parts
		}
	}
	t.Fatalf("%s has no operation %s", file, operation)
	return nil
}

// YCSB's workloads A and B update one of ten fields, each alike; the variants
// write all ten.
func TestYCSBUpdates(t *testing.T) {
	for _, c := range []struct {
		file, operation string
		read, update    int // shares
	}{{"ycsb-a.yaml", "ycsb-a", 50, 50}, {"ycsb-b.yaml", "ycsb-b", 95, 5}} {
		parts := mixOf(t, c.file, c.operation)
		shares, fields := map[string]int{}, map[string]int{}
		for _, part := range parts {
			step := part.Operation.Steps[len(part.Operation.Steps)-1]
			shares[step.KV] += part.Weight
			if step.KV == wire.Update {
				fields[fmt.Sprint(step.Field, " ", step.Fields, " ", step.Args[1].Query, " ", step.SQL)] += part.Weight
			}
		}
		if shares[wire.Get]*c.update != shares[wire.Update]*c.read || len(shares) != 2 {
			t.Errorf("%s: shares %v, want %d get to %d update", c.operation, shares, c.read, c.update)
		}
		for i := range 10 {
			want := fmt.Sprintf("%d 10 SELECT CAST((blob(100)\n) AS BLOB) UPDATE kv SET field%d = ?2 WHERE key = ?1", i, i)
			if 10*fields[want] != shares[wire.Update] {
				t.Errorf("%s: got %v, want a tenth of the updates to be %q", c.operation, fields, want)
			}
		}
		all := mixOf(t, c.file, c.operation+"-writeallfields")
		if len(all) != 2 || all[1].Operation.Steps[0].KV != wire.Put || len(all[1].Operation.Steps[0].Args) != 11 {
			t.Errorf("%s-writeallfields: got %+v, want a get and a put of a key and ten fields", c.operation, all)
		}
	}
}

// F reads and updates without a transaction around both; the variants have one.
func TestYCSBReadModifyWrite(t *testing.T) {
	for operation, want := range map[string]struct {
		steps       []string
		transaction int
	}{
		"ycsb-f":                {[]string{wire.Get, wire.Update}, 0},
		"ycsb-f-transaction":    {[]string{wire.Get, wire.Update}, 1},
		"ycsb-f-writeallfields": {[]string{wire.Get, wire.Put}, 1},
	} {
		part := mixOf(t, "ycsb-f.yaml", operation)[1].Operation
		var steps []string
		for _, s := range part.Steps {
			steps = append(steps, s.KV)
		}
		if !slices.Equal(steps, want.steps) || part.Transaction != want.transaction {
			t.Errorf("%s: got %v with transaction %d, want %v with %d", operation, steps, part.Transaction, want.steps, want.transaction)
		}
	}
}
