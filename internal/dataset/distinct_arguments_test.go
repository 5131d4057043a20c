package dataset

import (
	"math"
	"testing"

	"assay"
)

// An operation can name as many rows as the widest of its arguments, and no
// more than there are.
func TestChoices(t *testing.T) {
	generated := &Data{Spec: assay.Dataset{Tables: []assay.Table{{Rows: 10}, {Rows: 1_000_000}}}}
	file := &Data{Spec: assay.Dataset{File: "shop.db"}}
	uniform := func(from, to int64) assay.Values { return assay.Values{Kind: assay.Uniform, From: from, To: to} }
	for _, c := range []struct {
		name string
		data *Data
		args []assay.Values
		want int64
	}{
		{"no arguments", generated, nil, 0},
		{"SQL", generated, []assay.Values{{Kind: assay.Expression, Query: "SELECT 1"}}, 1_000_000},
		{"a few rows", generated, []assay.Values{uniform(1, 100)}, 100},
		{"the widest", generated, []assay.Values{uniform(1, 100), uniform(1, 5000)}, 5000},
		{"keys of a store", generated, []assay.Values{{Kind: assay.Key, Query: "SELECT :i", Draw: assay.Uniform, From: 0, To: 999_999}}, 1_000_000},
		{"more numbers than rows", generated, []assay.Values{uniform(math.MinInt64, math.MaxInt64)}, 1_000_000},
		{"a user's own file", file, []assay.Values{uniform(1, 1e12)}, 7_000_000},
	} {
		op := assay.Operation{Name: "op", Steps: []assay.Step{{SQL: "SELECT 1", Args: c.args}}}
		if got, err := c.data.Choices(t.Context(), op, 7_000_000); err != nil || got != c.want {
			t.Errorf("%s: %d choices, %v, want %d", c.name, got, err, c.want)
		}
	}
}
