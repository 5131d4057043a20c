package load

import (
	"fmt"
	"math"
	"slices"
)

const (
	firstRate = 500.0 // requests a second
	// MinRate is the lowest that is tried.
	MinRate     = 10.0
	maxRateStep = 2.0 // from one rate to the next while it is far away
	// MinRateStep is the ratio of the rates that steps confirm.
	MinRateStep  = 1.05
	sameResults  = 6 // in a row, after which steps become larger again
	maxLowest    = 12
	confirmSteps = 10
	limitSteps   = 3 // in a row that hold at the limit: it is a bound and no estimate
	maxSteps     = 80
)

// ErrNoRate says that a search found no rate.
var ErrNoRate = fmt.Errorf("no rate was found in %d steps: whether the latency target holds changes with time; measure again on a quieter machine", maxSteps)

// Search finds the rate of arrivals at which a latency target holds as often as not, by
// the up-and-down method (Dixon and Mood 1948): a rate that holds is followed by
// a higher one, any other by a lower one, and each change of direction halves
// the distance. Both directions have one rule, so noise moves the result in
// neither: a second try of a failed rate would move it up, of one that held, down.
// Where the distance is the shortest, steps of their own confirm what was found.
type Search struct {
	Holds func(rate float64, confirm bool) (bool, error)
	Limit float64 // beyond which it would be the generator's
}

// Run returns the mean of the rates that held in the steps that confirm: 0 where
// the target holds at no rate, and limited where it still holds at the limit.
func (s Search) Run() (rate float64, limited bool, err error) {
	w := walk{rate: min(firstRate, s.Limit), step: math.Log(maxRateStep), limit: s.Limit}
	var confirmed []attempt
	for steps := 0; len(confirmed) < confirmSteps && !s.atLimit(confirmed); steps++ {
		if w.lowest == maxLowest {
			return 0, false, nil
		}
		if steps == maxSteps {
			return 0, false, ErrNoRate
		}
		confirm := w.near()
		holds, err := s.Holds(w.rate, confirm)
		if err != nil {
			return 0, false, err
		}
		if confirm {
			confirmed = append(confirmed, attempt{w.rate, holds})
		}
		if w.next(holds) {
			confirmed = nil
		}
	}
	if s.atLimit(confirmed) {
		return s.Limit, true, nil
	}
	return mean(confirmed), false, nil
}

// atLimit reports whether the last steps held at the limit.
func (s Search) atLimit(steps []attempt) bool {
	if len(steps) < limitSteps {
		return false
	}
	return !slices.ContainsFunc(steps[len(steps)-limitSteps:], func(a attempt) bool { return !a.holds || a.rate < s.Limit })
}

// attempt is a step that confirms.
type attempt struct {
	rate  float64
	holds bool
}

// mean is the geometric mean of the rates that held; 0 where none did.
func mean(steps []attempt) float64 {
	sum, held := 0.0, 0
	for _, a := range steps {
		if a.holds {
			sum += math.Log(a.rate)
			held++
		}
	}
	if held == 0 {
		return 0
	}
	return math.Exp(sum / float64(held))
}

// walk says where a search stands.
type walk struct {
	rate, limit float64
	step        float64 // distance to the next rate: its logarithm
	held        bool    // the last step
	same        int     // how many steps in a row had that result; 0: there was none yet
	lowest      int     // how many of them in a row failed at the lowest rate
}

// near reports whether a step confirms a rate: those around it differ by little, or
// there is no higher one.
func (w *walk) near() bool { return w.step <= math.Log(MinRateStep) || w.rate >= w.limit }

// next goes to the next rate. It reports whether what was confirmed so far is
// void, since the rate that is searched is far away.
func (w *walk) next(holds bool) (void bool) {
	if w.same > 0 && holds != w.held {
		w.same = 0
		w.step = max(math.Log(MinRateStep), w.step/2)
	}
	w.same++
	if w.same >= sameResults && w.step < math.Log(maxRateStep) && w.rate < w.limit {
		w.step, w.same, void = min(math.Log(maxRateStep), 2*w.step), 1, true
	}
	w.held = holds
	if holds {
		w.lowest = 0
		w.rate = min(w.rate*math.Exp(w.step), w.limit)
		return void
	}
	if w.rate <= MinRate {
		w.lowest++
	}
	w.rate = max(w.rate/math.Exp(w.step), MinRate)
	return void
}
