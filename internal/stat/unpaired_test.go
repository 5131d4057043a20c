package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"assay/internal/stat"
)

// series are figures whose logarithms have a spread of 5 %, resemble those before them,
// and drift by some total.
func series(r *rand.Rand, n int, correlation, drift float64) []float64 {
	const spread = 0.05
	figures := make([]float64, n)
	x := spread * r.NormFloat64()
	for i := range figures {
		figures[i] = 1000 * math.Exp(x+drift*(float64(i)/float64(n-1)-0.5))
		x = correlation*x + spread*math.Sqrt(1-correlation*correlation)*r.NormFloat64()
	}
	return figures
}

// Where dependent launches are found, the interval that allows for them covers the true
// ratio at least as often as one of independent launches does. Few launches hide much.
func TestAllowingCovers(t *testing.T) {
	const draws = 1000
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 30, 100} {
		for _, test := range []struct{ correlation, drift, apart float64 }{
			{0.4, 0, 0}, {0.6, 0, 0}, {0.8, 0, 0},
			{0, 0.1, 0}, {0, 0.2, 0.1}, {0.4, 0.15, 0.075}, // apart: one series is of the first half of the drift, the other of the second
		} {
			found, plain, allowing := 0, 0, 0
			for range draws {
				a, b := series(r, n, test.correlation, test.drift-test.apart), series(r, n, test.correlation, test.drift-test.apart)
				for i := range b {
					b[i] *= math.Exp(test.apart)
				}
				d := stat.Dependent(a, b)
				if !d.Found() {
					continue
				}
				c, err := stat.Rule{}.CompareUnpaired(a, b, false)
				if err != nil {
					t.Fatal(err)
				}
				found++
				plain += covers(c)
				allowing += covers(c.Allowing(d, false))
			}
			if found < draws/20 {
				t.Fatalf("n %d, %+v: dependence was found in %d of %d draws only", n, test, found, draws)
			}
			name := fmt.Sprintf("n %d, correlation %v, drift %v apart %v", n, test.correlation, test.drift, test.apart)
			t.Logf("%s: found in %d of %d; coverage %.1f %%, allowing %.1f %%", name, found, draws, 100*float64(plain)/float64(found), 100*float64(allowing)/float64(found))
			if got := float64(allowing) / float64(found); got < 0.97 {
				t.Errorf("%s: coverage of %d intervals is %.3f, want at least 0.97", name, found, got)
			}
		}
	}
}

// What changes slowly is common to launches in turn: where it is found, their interval
// covers as often as one of independent launches does, and is narrower than that of
// launches apart.
func TestInTurnCovers(t *testing.T) {
	const draws = 1000
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{20, 30, 100} {
		for _, test := range []struct{ correlation, drift, own float64 }{ // own: correlation of what each has for itself
			{0, 0, 0}, {0.6, 0, 0}, {0.9, 0, 0}, {0, 0.2, 0}, {0.8, 0.2, 0}, {0, 0, 0.6}, {0.6, 0.2, 0.6},
		} {
			found, turn, apart, width := 0, 0, 0, 0.0 // width is a sum of logarithms
			for range draws {
				common := series(r, 2*n, test.correlation, test.drift)
				a, b := series(r, n, test.own, 0), series(r, n, test.own, 0)
				for i := range a {
					a[i] *= common[2*i]
					b[i] *= common[2*i+1]
				}
				d := stat.Dependent(a, b)
				if !d.Found() {
					continue
				}
				one, ok := stat.Rule{}.CompareInTurn(a, b, false)
				other, err := stat.Rule{}.CompareUnpaired(a, b, false)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					continue
				}
				other = other.Allowing(d, false)
				found++
				turn += covers(one)
				apart += covers(other)
				width += math.Log(math.Log(one.Ratio.High/one.Ratio.Low) / math.Log(other.Ratio.High/other.Ratio.Low))
			}
			name := fmt.Sprintf("n %d, common correlation %v and drift %v, own correlation %v", n, test.correlation, test.drift, test.own)
			coverage := float64(turn) / float64(found)
			t.Logf("%s: in turn in %d of %d; coverage %.1f %%, apart %.1f %%; width %.2f of apart", name, found, draws,
				100*coverage, 100*float64(apart)/float64(found), math.Exp(width/float64(found)))
			if test.drift > 0 && found < draws/2 {
				t.Errorf("%s: in turn in %d of %d draws only", name, found, draws)
			}
			if found >= draws/10 && coverage < 0.93 {
				t.Errorf("%s: coverage %.3f, want at least 0.93", name, coverage)
			}
			if got := math.Exp(width / float64(found)); got > 0.8 {
				t.Errorf("%s: width %.2f of launches apart, want at most 0.8", name, got)
			}
		}
	}
}

func covers(c stat.Comparison) int {
	if c.Ratio.Low <= 1 && 1 <= c.Ratio.High {
		return 1
	}
	return 0
}

// What is allowed for widens the interval, and can take a verdict away.
func TestAllowing(t *testing.T) {
	a, b := []float64{100, 101, 102, 103}, []float64{110, 111, 112, 113}
	c, err := stat.Rule{}.CompareUnpaired(a, b, false)
	if err != nil || c.Verdict != stat.Faster {
		t.Fatalf("%+v, %v", c, err)
	}
	half := math.Log(c.Ratio.High / c.Ratio.Center)
	for _, test := range []struct {
		d    stat.Dependence
		half float64
		want stat.Verdict
	}{
		{stat.Dependence{}, half, stat.Faster},
		{stat.Dependence{Drift: 0.02}, half + 0.02, stat.Faster},
		{stat.Dependence{Drift: 0.1}, half + 0.1, stat.Undecided},
		{stat.Dependence{Correlation: 0.5}, half * math.Sqrt(3), stat.Faster},
		{stat.Dependence{Correlation: 0.99}, 0, stat.Undecided},
	} {
		got := c.Allowing(test.d, false)
		if gotHalf := math.Log(got.Ratio.High / got.Ratio.Center); got.Verdict != test.want || test.half > 0 && math.Abs(gotHalf-test.half) > 1e-9 {
			t.Errorf("%+v: got %s, half-width %v; want %s, %v", test.d, got.Verdict, gotHalf, test.want, test.half)
		}
	}
}
