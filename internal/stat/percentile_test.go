package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestPercentile(t *testing.T) {
	for _, test := range []struct {
		name           string
		uppers, counts []int64
		p              float64
		want           float64
		ok             bool
	}{
		{"half", []int64{10, 20, 30}, []int64{100, 100, 100}, 0.5, 20, true},
		{"rank at the end of a bucket", []int64{10, 20}, []int64{100, 100}, 0.5, 10, true},
		{"first of the next bucket", []int64{10, 20}, []int64{99, 101}, 0.5, 20, true},
		{"empty buckets", []int64{5, 10, 15, 20}, []int64{0, 500, 0, 500}, 0.5, 10, true},
		{"100 beyond the median", []int64{10}, []int64{200}, 0.5, 10, true},
		{"99 beyond the median", []int64{10}, []int64{199}, 0.5, 0, false},
		{"100 beyond p90", []int64{10, 20}, []int64{900, 100}, 0.9, 10, true},
		{"99.9 beyond p90", []int64{10, 20}, []int64{900, 99}, 0.9, 0, false},
		{"100 beyond p99", []int64{10, 20}, []int64{9900, 100}, 0.99, 10, true},
		{"100 beyond p99.9", []int64{10, 20}, []int64{99900, 100}, 0.999, 10, true},
		{"99.999 beyond p99.9", []int64{10, 20}, []int64{99900, 99}, 0.999, 0, false},
		{"rank 14, not 15", []int64{1, 2}, []int64{14, 186}, 0.07, 1, true},
		{"no samples", nil, nil, 0.5, 0, false},
		{"p of 0", []int64{10}, []int64{1000}, 0, 0, false},
		{"p of 1", []int64{10}, []int64{1000}, 1, 0, false},
		{"p not a number", []int64{10}, []int64{1000}, math.NaN(), 0, false},
		{"lengths differ", []int64{10, 20}, []int64{1000}, 0.5, 0, false},
		{"bounds do not ascend", []int64{20, 20}, []int64{500, 500}, 0.5, 0, false},
		{"negative count", []int64{10, 20}, []int64{-1, 1000}, 0.5, 0, false},
		{"too many to count", []int64{10, 20}, []int64{math.MaxInt64, 1}, 0.5, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := Percentile(test.uppers, test.counts, test.p); got != test.want || ok != test.ok {
				t.Errorf("%g, %v; want %g, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

// At the value at least the share p of all samples is reached; a bucket
// earlier it is not.
func TestPercentileIsTheFirstThatReachesP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Int64Range(0, 5000), 1, 20).Draw(t, "counts")
		percent := rapid.Int64Range(1, 99).Draw(t, "percent")
		uppers := make([]int64, len(counts))
		total := int64(0)
		for i, c := range counts {
			uppers[i] = int64(10 * (i + 1))
			total += c
		}
		value, ok := Percentile(uppers, counts, float64(percent)/100)
		if want := total*(100-percent) >= 100*100; ok != want {
			t.Fatalf("ok %v with %d samples, want %v", ok, total, want)
		}
		if !ok {
			return
		}
		at := slices.Index(uppers, int64(value))
		reached := int64(0)
		for _, c := range counts[:at+1] {
			reached += c
		}
		if 100*reached < percent*total || 100*(reached-counts[at]) >= percent*total {
			t.Fatalf("p%d is %g: %d of %d samples reached, %d a bucket earlier", percent, value, reached, total, reached-counts[at])
		}
	})
}
