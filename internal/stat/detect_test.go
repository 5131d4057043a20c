package stat

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// detected is what SciPy and NumPy computed; testdata/detect.py made it.
type detected struct {
	Enough []struct {
		Ratios       []float64
		Least        int
		Half, Spread float64
		Enough       int
	}
	Watched []struct {
		Figures      []float64
		Low, High, P float64
	}
	Detectors []struct {
		Kind           string
		Figures        []float64
		Total, Drift   float64
		R, Order       float64
		Skewness, Skew float64
		Within, Gap    float64
		Upper          int
	}
	Splits []struct {
		N      int
		Within float64
	}
	SteadyFrom []struct {
		Launches [][]float64
		Start    int
		Steady   bool
	} `json:"steady_from"`
	Variances []struct {
		Figures           [][][]float64
		Windows, Launches float64
		Layouts           *float64
		Repetitions       int
	}
	Smallest []struct {
		Spread     float64
		Launches   int
		Difference float64
	}
	Shares []struct {
		Hits, Total int
		Low, High   float64
	}
}

func readDetected(t *testing.T) detected {
	t.Helper()
	text, err := os.ReadFile("testdata/detect.json")
	must(t, err)
	var d detected
	must(t, json.Unmarshal(text, &d))
	if len(d.Detectors) == 0 || len(d.Splits) == 0 || len(d.SteadyFrom) == 0 || len(d.Enough) == 0 ||
		len(d.Watched) == 0 || len(d.Variances) == 0 || len(d.Smallest) == 0 || len(d.Shares) == 0 {
		t.Fatal("testdata/detect.json: a section is empty")
	}
	return d
}

// within allows for what distributions of two libraries differ by.
func within(a, b, share float64) bool { return math.Abs(a-b) <= share*max(math.Abs(a), math.Abs(b)) }

func TestDetectorsAgreeWithSciPy(t *testing.T) {
	found := map[string]int{}
	for _, v := range readDetected(t).Detectors {
		n := len(v.Figures)
		total, p, drift := Drift(v.Figures)
		if !within(total, v.Total, 1e-9) || !within(p, v.Drift, 1e-9) || drift != (v.Drift < detectLevel) {
			t.Errorf("%s %d: Drift %g, p %g, %v; SciPy has %g, p %g", v.Kind, n, total, p, drift, v.Total, v.Drift)
		}
		r, order := Autocorrelation(v.Figures)
		if n >= minForOrder && !within(r, v.R, 1e-9) || order != (n >= minForOrder && v.Order < detectLevel) {
			t.Errorf("%s %d: Autocorrelation %g %v, SciPy has %g, p %g", v.Kind, n, r, order, v.R, v.Order)
		}
		skewness, skew := Skewed(v.Figures)
		if n >= minForSkew && !within(skewness, v.Skewness, 1e-9) || skew != (v.Skew < detectLevel) {
			t.Errorf("%s %d: Skewed %g %v, SciPy has %g, p %g", v.Kind, n, skewness, skew, v.Skewness, v.Skew)
		}
		if n >= minForSkew && !within(skewP(float64(n), v.Skewness), v.Skew, 1e-7) {
			t.Errorf("%s %d: p of the skewness %g, SciPy has %g", v.Kind, n, skewP(float64(n), v.Skewness), v.Skew)
		}
		gap, upper, modes := TwoModes(v.Figures)
		if !within(gap, v.Gap, 1e-9) || upper != v.Upper || modes != (v.Within < splitLimit(n)) {
			t.Errorf("%s %d: TwoModes %g %d %v, NumPy has %g %d, %g of %g", v.Kind, n, gap, upper, modes, v.Gap, v.Upper, v.Within, splitLimit(n))
		}
		for name, was := range map[string]bool{"drift": drift, "order": order, "skew": skew, "modes": modes} {
			if was {
				found[v.Kind+"/"+name]++
			}
		}
	}
	// Each is provoked by what it is for, and none by normal figures.
	for _, name := range []string{"drift", "order", "skew", "modes"} {
		if found[name+"/"+name] == 0 || found["normal/"+name] > 0 {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

func TestTrendOfManyLaunchesIsNormal(t *testing.T) {
	exact, normal := kendall(maxExact, 351), kendall(maxExact+1, 361) // both 2.93 standard deviations
	if exact >= normal || !within(exact, normal, 0.15) {
		t.Errorf("p %g at %d launches, %g at %d", exact, maxExact, normal, maxExact+1)
	}
}

func TestSplitLimitsAgreeWithSimulation(t *testing.T) {
	for _, v := range readDetected(t).Splits {
		if got := splitLimit(v.N); got > v.Within*1.03 || v.N < 32 && got < v.Within*0.97 {
			t.Errorf("limit for %d launches %g, NumPy simulated %g", v.N, got, v.Within)
		}
	}
	if small, middle, large := splitLimit(6), splitLimit(9), splitLimit(1000); small != 0.0326 || !near(middle, 0.07835) || large != 0.2 {
		t.Errorf("limits %g %g %g", small, middle, large)
	}
}

func TestDetectorsFindNothingWhereNothingCanBeSaid(t *testing.T) {
	zero := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 11, 12}
	for name, figures := range map[string][]float64{
		"none": nil, "one": {1}, "five": {1, 2, 3, 4, 5}, "equal": slices.Repeat([]float64{5}, 12), "a zero": zero,
		"not a number": append(slices.Repeat([]float64{5}, 12), math.NaN()),
	} {
		_, p, drift := Drift(figures)
		_, order := Autocorrelation(figures)
		_, skew := Skewed(figures)
		_, _, modes := TwoModes(figures)
		if drift || p != 1 || order || skew || modes {
			t.Errorf("%s: drift %v, order %v, skew %v, modes %v", name, drift, order, skew, modes)
		}
	}
}

func TestStalls(t *testing.T) {
	for _, test := range []struct {
		name              string
		nanos, operations []int64
		want              float64
	}{
		{"none", nil, nil, 1},
		{"one", []int64{100}, []int64{1}, 1},
		{"even", []int64{100, 200, 300}, []int64{1, 2, 3}, 1},
		{"one slow window", []int64{100, 100, 600, 100, 100}, []int64{10, 10, 10, 10, 10}, 2},
		{"faster than the median", []int64{100, 40, 100}, []int64{10, 10, 10}, 0.8},
		{"without operations", []int64{100, 900, 100}, []int64{10, 0, 10}, 1},
	} {
		if got := Stalls(test.nanos, test.operations); !near(got, test.want) {
			t.Errorf("%s: %g, want %g", test.name, got, test.want)
		}
	}
}

func TestSteadyFromAgreesWithSciPy(t *testing.T) {
	for i, v := range readDetected(t).SteadyFrom {
		if start, steady := SteadyFrom(v.Launches); start != v.Start || steady != v.Steady {
			t.Errorf("case %d: from %d, %v; SciPy has %d, %v", i, start, steady, v.Start, v.Steady)
		}
	}
	uneven := [][]float64{{2, 1}, {2.1, 1}, {2, 1.1}, {2, 1}, {2.2, 1}, {2, 1, 1}, {0, 1}}
	if start, steady := SteadyFrom(uneven); start != 0 || !steady {
		t.Errorf("five complete launches: from %d, %v", start, steady)
	}
	if start, steady := SteadyFrom(append(uneven, []float64{2, 1.05})); start != 1 || !steady {
		t.Errorf("six complete launches: from %d, %v", start, steady)
	}
	for _, none := range [][][]float64{nil, {{}, {}, {}, {}, {}, {}}, {{1}, {1}, {1}, {1}, {1}, {1}}} {
		if start, steady := SteadyFrom(none); start != 0 || !steady {
			t.Errorf("%v: from %d, %v", none, start, steady)
		}
	}
}
