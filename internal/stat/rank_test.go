package stat

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRank(t *testing.T) {
	type pair struct{ winner, loser int }
	for _, test := range []struct {
		name string
		n    int
		wins []pair
		want []int
	}{
		{"none", 0, nil, []int{}},
		{"negative", -1, nil, []int{}},
		{"one", 1, nil, []int{1}},
		{"all tied", 3, nil, []int{1, 1, 1}},
		{"ordered", 3, []pair{{2, 1}, {2, 0}, {1, 0}}, []int{3, 2, 1}},
		{"two tied in front", 3, []pair{{0, 2}, {1, 2}}, []int{1, 1, 3}},
		{"two tied behind", 3, []pair{{1, 0}, {1, 2}}, []int{2, 1, 2}},
		{"ties are not transitive", 3, []pair{{0, 2}}, []int{1, 1, 2}},
		{"a circle", 3, []pair{{0, 1}, {1, 2}, {2, 0}}, []int{2, 2, 2}},
		{"a circle behind a winner", 4, []pair{{3, 0}, {3, 1}, {3, 2}, {0, 1}, {1, 2}, {2, 0}}, []int{3, 3, 3, 1}},
		{"itself does not count", 2, []pair{{0, 0}, {1, 1}, {0, 1}}, []int{1, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Rank(test.n, func(i, j int) bool { return slices.Contains(test.wins, pair{i, j}) })
			if !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// With a relation that orders, ranks are those of a sorted list, ties shared.
func TestRankOrdersWhatIsOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 12).Draw(t, "values")
		sorted := slices.Sorted(slices.Values(values))
		want := make([]int, len(values))
		for i, v := range values {
			want[i] = 1 + slices.Index(sorted, v)
		}
		got := Rank(len(values), func(i, j int) bool { return values[i] < values[j] })
		if !slices.Equal(got, want) {
			t.Fatalf("%v: %v, want %v", values, got, want)
		}
	})
}
