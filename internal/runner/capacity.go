//go:build unix

package runner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"assay"
	"assay/internal/runner/load"
)

// LatencyTarget is the latency that a server has to keep: at most Max, of the share
// Quantile of the requests.
type LatencyTarget struct {
	Quantile float64 // such as 0.99
	Max      time.Duration
}

const (
	firstRate    = 500.0 // requests a second
	minRate      = 10.0
	maxRateStep  = 2.0 // from one rate to the next while it is far away
	minRateStep  = 1.05
	sameResults  = 6 // in a row, after which steps become larger again
	maxLowest    = 12
	confirmSteps = 10
	limitSteps   = 3 // in a row that hold at the limit: it is a bound and no estimate
	maxSteps     = 80

	stepLength        = 500 * time.Millisecond
	maxLength         = 2 * time.Second // of a step with few requests
	maxConfirmLength  = 3 * time.Second
	minInStep         = 2000 // requests: 20 beyond the 99th percentile
	minBeyondQuantile = 100  // requests, in the steps that confirm a rate
)

// search finds the rate of arrivals at which a latency target holds as often as not, by
// the up-and-down method (Dixon and Mood 1948): a rate that holds is followed by
// a higher one, any other by a lower one, and each change of direction halves
// the distance. Both directions have one rule, so noise moves the result in
// neither: a second try of a failed rate would move it up, of one that held, down.
// Where the distance is the shortest, steps of their own confirm what was found.
type search struct {
	holds func(rate float64, confirm bool) (bool, error)
	limit float64 // beyond which it would be the generator's
}

// run returns the mean of the rates that held in the steps that confirm: 0 where
// the target holds at no rate, and limited where it still holds at the limit.
func (s search) run() (rate float64, limited bool, err error) {
	w := walk{rate: min(firstRate, s.limit), step: math.Log(maxRateStep), limit: s.limit}
	var confirmed []attempt
	for steps := 0; len(confirmed) < confirmSteps && !s.atLimit(confirmed); steps++ {
		if w.lowest == maxLowest {
			return 0, false, nil
		}
		if steps == maxSteps {
			return 0, false, &failure{assay.Failed, fmt.Sprintf("no rate was found in %d steps: whether the latency target holds changes with time; measure again on a quieter machine", maxSteps)}
		}
		confirm := w.near()
		holds, err := s.holds(w.rate, confirm)
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
		return s.limit, true, nil
	}
	return mean(confirmed), false, nil
}

// atLimit reports whether the last steps held at the limit.
func (s search) atLimit(steps []attempt) bool {
	if len(steps) < limitSteps {
		return false
	}
	return !slices.ContainsFunc(steps[len(steps)-limitSteps:], func(a attempt) bool { return !a.holds || a.rate < s.limit })
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

// walk is where a search stands.
type walk struct {
	rate, limit float64
	step        float64 // distance to the next rate: its logarithm
	held        bool    // the last step
	same        int     // how many steps in a row had that result; 0: there was none yet
	lowest      int     // how many of them in a row failed at the lowest rate
}

// near reports whether a step confirms a rate: those around it differ by little, or
// there is no higher one.
func (w *walk) near() bool { return w.step <= math.Log(minRateStep) || w.rate >= w.limit }

// next goes to the next rate. It reports whether what was confirmed so far is
// void, since the rate that is searched is far away.
func (w *walk) next(holds bool) (void bool) {
	if w.same > 0 && holds != w.held {
		w.same = 0
		w.step = max(math.Log(minRateStep), w.step/2)
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
	if w.rate <= minRate {
		w.lowest++
	}
	w.rate = max(w.rate/math.Exp(w.step), minRate)
	return void
}

// findCapacity searches the highest rate at which a served operation keeps the
// latency target, and records it.
func (in *instance) findCapacity(ctx context.Context, j *job, url string, t *assay.Trial) error {
	target := in.r.config.LatencyTarget
	began := time.Now()
	steps := 0
	var late error // the generator was, at the last rate that missed the target
	rate, limited, err := search{limit: nearLimit * in.r.observed.limits[j.Cell.Clients], holds: func(rate float64, confirm bool) (bool, error) {
		count := target.requests(rate, confirm)
		steps++
		result, err := in.load(ctx, j, url, loadSize{measured: count, warm: count / warmShare, rate: rate, seed: in.r.arrivalSeed(t.Launch, steps)})
		if err == nil && result.Wrong > 0 {
			err = answered(result, j)
		}
		if err != nil || target.holds(result, rate) { // what the generator adds is in it
			return err == nil, err
		}
		late = lagged(result)
		return false, nil
	}}.run()
	in.r.time.add(assay.StageMeasured, time.Since(began))
	if err != nil {
		return fail("load", err)
	}
	if rate == 0 && late != nil {
		return late
	}
	if rate == 0 {
		return &failure{assay.Failed, fmt.Sprintf("the latency target does not hold even at %g requests a second", minRate)}
	}
	if err := end(t, in.applied); err != nil {
		return err
	}
	t.Figures[assay.CapacityPerS] = rate
	t.Figures[assay.LimitPerS] = in.r.observed.limits[j.Cell.Clients]
	t.Warnings = append(t.Warnings, target.sampleWarning(rate)...)
	if late != nil {
		t.Warnings = append(t.Warnings, assay.Warning{Code: "generator-bound",
			Evidence: fmt.Sprintf("above %.0f requests a second the latency target was missed when the load generator itself was late", rate),
			Advice:   "the server may do more: give the generator more processors, or a quieter machine, to find out"})
	}
	if limited {
		t.Warnings = append(t.Warnings, assay.Warning{Code: "generator-bound",
			Evidence: fmt.Sprintf("the latency target still holds at %.0f requests a second, %g of what the load generator reaches without a database", rate, nearLimit),
			Advice:   "the server can do more: give the generator more processors to find out"})
	}
	return nil
}

// requests is how many requests a step has. One that confirms a rate has so many
// that enough of them lie beyond the percentile, unless the rate is too low.
func (t LatencyTarget) requests(rate float64, confirm bool) int {
	n := max(rate*stepLength.Seconds(), min(minInStep, rate*maxLength.Seconds()))
	if confirm {
		n = max(n, min(math.Ceil(minBeyondQuantile/(1-t.Quantile)), rate*maxConfirmLength.Seconds()))
	}
	return int(n)
}

// sampleWarning is about a percentile of which few requests lie beyond.
func (t LatencyTarget) sampleWarning(rate float64) []assay.Warning {
	requests := t.requests(rate, true)
	beyond := float64(requests) * (1 - t.Quantile)
	if beyond >= minBeyondQuantile/minRateStep { // rates that held are not all the same
		return nil
	}
	return []assay.Warning{{Code: "few-samples",
		Evidence: fmt.Sprintf("each step that confirms the rate has about %d requests, of which %.0f lie beyond the percentile; %d are needed", requests, beyond, minBeyondQuantile),
		Advice:   "use a lower percentile in --find-capacity, or read the rate as an estimate with more noise"}}
}

// holds reports whether all was answered in time.
func (t LatencyTarget) holds(result load.Result, rate float64) bool {
	return result.Failed+result.Dropped == 0 && result.PerSecond() >= kept*rate &&
		load.Quantile(result.Histogram, t.Quantile) <= int64(t.Max)
}
