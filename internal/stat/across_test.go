package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// ofMachines are comparisons with these log ratios and their variances.
func ofMachines(logs, variances []float64) []Comparison {
	var all []Comparison
	for i, y := range logs {
		all = append(all, Comparison{Ratio: Interval{Center: math.Exp(y)}, gain: sample{n: 4, sd: math.Sqrt(4 * variances[i])}})
	}
	return all
}

// The trials of BCG vaccine of Colditz and others (JAMA 271(9), 1994), which manuals of
// meta-analysis use: the variance of Paule and Mandel is 0.318, the mean -0.715.
func TestOverVector(t *testing.T) {
	logs := []float64{-0.8893, -1.5854, -1.3481, -1.4416, -0.2175, -0.7861, -1.6209, 0.0120, -0.4694, -1.3713, -0.3394, 0.4459, -0.0173}
	variances := []float64{0.3256, 0.1946, 0.4154, 0.0200, 0.0512, 0.0069, 0.2230, 0.0040, 0.0564, 0.0730, 0.0124, 0.5325, 0.0714}
	a := Rule{}.Over(ofMachines(logs, variances), false)
	if got := a.Between * a.Between; math.Abs(got-0.318) > 0.0005 {
		t.Errorf("variance between machines: got %.4f, want 0.318", got)
	}
	if got := math.Log(a.Ratio.Center); math.Abs(got+0.715) > 0.0005 {
		t.Errorf("mean: got %.4f, want -0.715", got)
	}
	// t(12) is 2.1788, t(11) 2.2010; the standard error is one over the root of the weights.
	weights := 0.0
	for _, v := range variances {
		weights += 1 / (v + a.Between*a.Between)
	}
	for name, c := range map[string]struct{ got, want float64 }{
		"interval": {math.Log(a.Ratio.High) + 0.715, 2.1788 / math.Sqrt(weights)},
		"one more": {math.Log(a.Next.High) + 0.715, 2.2010 * math.Sqrt(a.Between*a.Between+1/weights)},
	} {
		if math.Abs(c.got-c.want) > 0.001 {
			t.Errorf("%s: got half-width %.4f, want %.4f", name, c.got, c.want)
		}
	}
	if a.Verdict != Faster || a.Ratio.N != 13 {
		t.Errorf("got %s over %d machines, want faster over 13", a.Verdict, a.Ratio.N)
	}
}

func TestOverFew(t *testing.T) {
	one := Rule{}.Over(ofMachines([]float64{1}, []float64{0.01}), false)
	if one.Verdict != Undecided || one.Reason != TooFew || one.Ratio.Known() {
		t.Errorf("one machine: got %+v, want undecided", one)
	}
	two := Rule{}.Over(ofMachines([]float64{0.4, 0.4}, []float64{0.01, 0.01}), true)
	if two.Next.Known() || two.Between != 0 || math.Abs(two.Ratio.Center-math.Exp(0.4)) > 1e-9 {
		t.Errorf("two machines that agree: got %+v", two)
	}
	// Equals of which one launch was like the other: no division by zero.
	if same := (Rule{Margin: 0.02}).Over(ofMachines([]float64{0, 0, 0}, []float64{0, 0, 0}), false); same.Verdict != Equivalent {
		t.Errorf("three machines of equals: got %+v, want equivalent", same)
	}
}

// The variance between machines explains just what the launches leave; the other way
// round all is mirrored.
func TestOverProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "machines")
		logs := rapid.SliceOfN(rapid.Float64Range(-2, 2), n, n).Draw(t, "logs")
		variances := rapid.SliceOfN(rapid.Float64Range(1e-6, 1), n, n).Draw(t, "variances")
		a := Rule{}.Over(ofMachines(logs, variances), false)
		_, squares, _ := weighted(logs, variances, a.Between*a.Between)
		if want := float64(n - 1); a.Between > 0 && math.Abs(squares-want) > 1e-6*want || a.Between == 0 && squares > want {
			t.Fatalf("between %g: the weighted squares are %g, want %g", a.Between, squares, want)
		}
		mirrored := make([]float64, n)
		for i, y := range logs {
			mirrored[i] = -y
		}
		b := Rule{}.Over(ofMachines(mirrored, variances), false)
		if math.Abs(math.Log(a.Ratio.Low)+math.Log(b.Ratio.High)) > 1e-9 || a.Verdict == Faster && b.Verdict != Slower {
			t.Fatalf("got %+v, mirrored %+v", a, b)
		}
	})
}
