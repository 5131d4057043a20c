package plan

import (
	"testing"

	"assay"
)

// A sum is measured with the calls that it sums.
func TestSelectOfASum(t *testing.T) {
	p, err := Decode("calls.yaml", []byte(`name: calls
drivers: [activerecord]
profiles: {plain: {}, tuned: {synchronous: normal}}
workload: {name: app, params: {n: 3}}
operations:
  create: {call: create, answer: "SELECT 1", changes: true, count: 2}
  save: {call: save, answer: "SELECT 1", transaction: 1}
  total: {sum: calls}
`))
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.Expand(nil)
	if err != nil {
		t.Fatal(err)
	}
	for operation, want := range map[string][]string{"total": {"create", "save", "total"}, "save": {"save"}} {
		selected, err := SelectToMeasure(all, map[string][]string{"operation": {operation}, "profile": {"tuned"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := operationsOf(selected); !equal(got, want) {
			t.Errorf("%s: got %v, want %v", operation, got, want)
		}
	}
}

func operationsOf(cases []assay.Case) map[string]int {
	found := map[string]int{}
	for _, c := range cases {
		found[c.Cell.Operation]++
	}
	return found
}

func equal(got map[string]int, want []string) bool {
	for _, name := range want {
		if got[name] != 1 {
			return false
		}
	}
	return len(got) == len(want)
}
