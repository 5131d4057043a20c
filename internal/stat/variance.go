package stat

import (
	"errors"
	"math"
	"slices"
)

// Variances are the components of the variance of a figure, each free of what
// the levels below it add (Kalibera and Jones 2013); of logarithms, about the
// squares of fractions. A component that is estimated below zero is 0. One that
// cannot be told, with a single member of its level everywhere, is NaN and is
// part of the one above.
type Variances struct {
	Windows  float64 // between windows of a launch
	Launches float64 // between launches of a layout
	Layouts  float64 // between link layouts of a build
}

// EstimateVariances splits the variance of figures by layout, launch and window.
// A build with one layout is one layout. Where the numbers of windows or
// launches differ, every launch of a layout and every layout weigh alike. It
// fails where a launch has no window and where a figure is not a finite number
// above zero.
func EstimateVariances(layouts [][][]float64) (Variances, error) {
	var windows, launches pool
	var centres []float64
	var windowShare, launchShare, weight float64
	for _, layout := range layouts {
		var means []float64
		inverse := 0.0 // the sum of 1/windows
		for _, launch := range layout {
			if len(launch) == 0 || slices.ContainsFunc(launch, notPositive) {
				return Variances{}, errors.New("variances: every launch needs windows, with finite figures above zero")
			}
			s, _ := logSample(launch)
			windows.add(s)
			means = append(means, s.mean)
			inverse += 1 / float64(s.n)
		}
		s := summarize(means)
		if s.n == 0 {
			continue
		}
		n := float64(s.n)
		launches.add(s)
		if s.n > 1 {
			weight += (n - 1) * inverse / n
		}
		centres = append(centres, s.mean)
		windowShare += inverse / (n * n)
		launchShare += 1 / n
	}
	v := Variances{Windows: windows.variance()}
	v.Launches = launches.variance() - orZero(v.Windows)*weight/launches.freedom
	across := summarize(centres)
	count := float64(across.n)
	v.Layouts = across.sd*across.sd - orZero(v.Windows)*windowShare/count - orZero(v.Launches)*launchShare/count
	v.Launches, v.Layouts = above(v.Launches), above(v.Layouts)
	return v, nil
}

// pool adds up variances, weighted by their degrees of freedom.
type pool struct{ squares, freedom float64 }

func (p *pool) add(s sample) {
	if s.n > 1 {
		p.squares += s.squares()
		p.freedom += float64(s.n - 1)
	}
}

// variance is NaN without a degree of freedom.
func (p pool) variance() float64 { return p.squares / p.freedom }

// above returns x, 0 where it is below.
func above(x float64) float64 {
	if x < 0 {
		return 0
	}
	return x
}

func orZero(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return above(x)
}

// Repetitions returns how many members of a lower level are worth measuring in
// each of the level above it, at most most: the number that gives the narrowest
// interval for the time (Kalibera and Jones 2013, equation 3). Lower and upper
// are the components of the variance, for example Windows and Launches;
// lowerCost and upperCost are what one member of each takes, the upper without
// its lower members, both above zero in one unit. It is 1 where a component is
// unknown and most where the upper one is 0.
func Repetitions(lower, upper, lowerCost, upperCost float64, most int) int {
	r := math.Ceil(math.Sqrt(upperCost / lowerCost * lower / upper))
	switch {
	case math.IsNaN(r) || r < 1:
		return 1
	case r > float64(most):
		return max(1, most)
	}
	return int(r)
}
