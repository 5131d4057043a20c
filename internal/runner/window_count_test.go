//go:build unix

package runner

import (
	"math"
	"slices"
	"testing"
	"time"

	"assay"
)

// windowed is a runner with a group of two instances whose windows and launches
// vary by so much: the ratio to the reference of window w of launch l is
// launch^±1 · window^±1. Windows take 20 ms, the rest of a launch 200 ms.
func windowed(launches int, launch, window float64) (*Runner, *group) {
	a, b := at(assay.Windows, "get a p"), at(assay.Windows, "get b p")
	g := groupCases([]*job{a, b}, assay.ParseBaseline("a"))[0]
	r := &Runner{config: Config{Launches: 6}, measurement: measurement{baseline: assay.ParseBaseline("a"), groups: []*group{g}}}
	for l := 1; l <= launches; l++ {
		figure, reference := trialOf(b, l, false, 100), trialOf(a, l, false, 100)
		for w := range windowsPerLaunch + 1 {
			sign := func(i int) float64 { return float64(1 - 2*(i%2)) }
			ratio := math.Pow(launch, sign(l)) * math.Pow(window, sign(w))
			figure.Samples = append(figure.Samples, assay.Sample{Operations: 1, Nanos: int64(1e8 * ratio)})
			reference.Samples = append(reference.Samples, assay.Sample{Operations: 1, Nanos: 1e8})
		}
		g.record.note(&figure)
		g.record.note(&reference)
		g.windows.add(a.Cell.Peer(), windowsPerLaunch+1, (windowsPerLaunch+1)*windowLength)
		g.launches.add(200*time.Millisecond+(windowsPerLaunch+1)*windowLength, false)
	}
	return r, g
}

func TestWindowsFollowVariances(t *testing.T) {
	for _, c := range []struct {
		name           string
		launches       int
		launch, window float64
		want           int
	}{
		{"while nothing is known", 5, 1.01, 1.2, windowsPerLaunch},
		{"launches vary more", 6, 1.10, 1.0625, windowsPerLaunch},
		// n of which half are up and half down by ln x have the variance n/(n-1) ln² x:
		// √(200/5 · 0.03490/(0.00407-0.03490/21)) = 24.1.
		{"windows vary more", 6, 1.06, 1.20, 25},
		{"windows do not vary", 6, 1.05, 1, windowsPerLaunch},
		{"launches do not vary", 6, 1, 1.1, maxWindows},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, g := windowed(c.launches, c.launch, c.window)
			if got := r.windowCount(g, g.operations()[0], window{length: windowLength}); got != c.want {
				t.Errorf("%d windows, want %d (variances %+v, a window %v, the rest %v)", got, c.want,
					g.variances(g.operations()[0], assay.ParseBaseline("a")), g.windows.efforts[g.operations()[0]].round(), g.overhead())
			}
		})
	}
}

// One window in each launch says nothing about windows, and an operation
// without a reference has no ratio: both keep the fixed number.
func TestWindowsWithoutVariances(t *testing.T) {
	r, g := windowed(6, 1.1, 1.1)
	for _, launches := range g.record.samples {
		for l := range launches {
			launches[l] = launches[l][:1]
		}
	}
	if got := r.windowCount(g, g.operations()[0], window{length: longWindows}); got != 1 {
		t.Errorf("%d windows of an operation that had one, want 1", got)
	}
	r.baseline = assay.ParseBaseline("c")
	if got := r.windowCount(g, g.operations()[0], window{length: windowLength}); got != windowsPerLaunch {
		t.Errorf("%d windows without a reference, want %d", got, windowsPerLaunch)
	}
}

// One client counts slow operations, so that instances alternate after a few of them;
// a launch has ten of them or more.
func TestWindowOf(t *testing.T) {
	one := assay.Case{Cell: assay.Cell{Clients: 1}}
	two, ten := one, one
	two.Cell.Clients, ten.Operation.Transaction = 2, 10
	for _, test := range []struct {
		name  string
		each  time.Duration
		of    assay.Case
		want  window
		count int
	}{
		{"fast", time.Microsecond, one, window{windowLength, 0}, windowsPerLaunch},
		{"a tenth of a window", windowLength / 10, one, window{windowLength, 0}, windowsPerLaunch},
		{"a sixth", 800 * time.Microsecond, one, window{4800 * time.Microsecond, 6}, windowsPerLaunch},
		{"half", 2500 * time.Microsecond, one, window{10 * time.Millisecond, 4}, 20},
		{"longer than a window", 25 * time.Millisecond, one, window{100 * time.Millisecond, 4}, 2},
		{"longer than those of a launch", 250 * time.Millisecond, one, window{time.Second, 4}, 1},
		{"of several clients", 2 * time.Millisecond, two, window{20 * time.Millisecond, 0}, 10},
		{"transactions", time.Millisecond, ten, window{40 * time.Millisecond, 4}, 5},
	} {
		got := windowOf(test.each, test.of)
		if got != test.want || got.count(false) != test.count {
			t.Errorf("%s: got %+v, %d of them, want %+v, %d", test.name, got, got.count(false), test.want, test.count)
		}
	}
}

// Beside a slow instance a fast one fills its windows by the clock: as few operations
// as the slow one does take next to no time.
func TestFastBesideSlow(t *testing.T) {
	for name, c := range map[string]struct {
		each []time.Duration
		want []int64 // units of the windows
	}{
		"both fast":               {[]time.Duration{time.Microsecond, 2 * time.Microsecond}, []int64{0, 0}},
		"fast beside slow":        {[]time.Duration{time.Microsecond, 25 * time.Millisecond}, []int64{0, minCounted}},
		"slow beside the slowest": {[]time.Duration{800 * time.Microsecond, 2500 * time.Microsecond}, []int64{4, 4}},
	} {
		v, got := &variant{}, []int64(nil)
		for _, each := range c.each {
			v.turns = append(v.turns, &turn{each: each, j: &job{Case: assay.Case{Cell: assay.Cell{Clients: 1}}}})
		}
		v.window()
		for _, turn := range v.turns {
			got = append(got, turn.units)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: windows of %v have the units %v, want %v", name, c.each, got, c.want)
		}
	}
}
