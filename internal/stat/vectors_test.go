package stat

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// vectors is what SciPy and NumPy computed; testdata/vectors.py made it.
type vectors struct {
	T []struct {
		Freedom  int
		Quantile float64
	}
	Intervals []struct {
		Values    []float64
		Mean, Log Interval
	}
	Ratios []struct {
		Figures, Reference []float64
		Margin, Noise      float64
		Ratio              Interval
	}
	Percentiles []struct {
		Uppers, Counts []int64
		P, Value       float64
	}
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	must(t, err)
	var v vectors
	must(t, json.Unmarshal(text, &v))
	if len(v.T) == 0 || len(v.Intervals) == 0 || len(v.Ratios) == 0 || len(v.Percentiles) == 0 {
		t.Fatal("testdata/vectors.json: a section is empty")
	}
	return v
}

// near allows for rounding only. NaN is near NaN.
func near(a, b float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1e-300)
}

func sameInterval(a, b Interval) bool {
	return a.N == b.N && near(a.Center, b.Center) && near(a.Low, b.Low) && near(a.High, b.High)
}

func sameComparison(a, b Comparison) bool {
	return sameInterval(a.Ratio, b.Ratio) && a.Verdict == b.Verdict && a.Reason == b.Reason
}

func TestQuantilesAgreeWithSciPy(t *testing.T) {
	for _, v := range readVectors(t).T {
		if got := tQuantile(float64(v.Freedom), level); !near(got, v.Quantile) {
			t.Errorf("%d degrees of freedom: quantile %.12g, SciPy has %.12g", v.Freedom, got, v.Quantile)
		}
	}
}

func TestIntervalsAgreeWithSciPy(t *testing.T) {
	for _, v := range readVectors(t).Intervals {
		if got := MeanInterval(v.Values); !sameInterval(got, v.Mean) {
			t.Errorf("MeanInterval(%v) = %v, SciPy has %v", v.Values, got, v.Mean)
		}
		if got := LogInterval(v.Values); !sameInterval(got, v.Log) {
			t.Errorf("LogInterval(%v) = %v, SciPy has %v", v.Values, got, v.Log)
		}
	}
}

func TestComparisonsAgreeWithSciPy(t *testing.T) {
	for i, v := range readVectors(t).Ratios {
		got, err := Rule{Margin: v.Margin, Noise: v.Noise}.Compare(v.Figures, v.Reference, false)
		if err != nil || !sameInterval(got.Ratio, v.Ratio) {
			t.Errorf("case %d: %+v, %v; SciPy has ratio %v", i, got, err, v.Ratio)
		}
	}
}

func TestPercentilesAgreeWithNumPy(t *testing.T) {
	for _, v := range readVectors(t).Percentiles {
		if got, ok := Percentile(v.Uppers, v.Counts, v.P); got != v.Value || !ok {
			t.Errorf("percentile %g = %g, %v; NumPy has %g", v.P, got, ok, v.Value)
		}
	}
}
