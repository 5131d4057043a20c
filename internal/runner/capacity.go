//go:build unix

package runner

import (
	"context"
	"fmt"
	"math"
	"time"

	"assay"
	"assay/internal/load"
)

// Wish is a latency that a server shall keep to: no more than Most of the
// requests' share P.
type Wish struct {
	P    float64 // such as 0.99
	Most time.Duration
}

const (
	firstRate   = 500.0 // requests a second
	leastRate   = 10.0
	rateStep    = 1.05 // between the rate that is kept and the one that is not
	stepLength  = 500 * time.Millisecond
	mostLength  = 2 * time.Second // of a step with few requests
	leastInStep = 2000            // requests: 20 beyond the 99th percentile
)

// search finds the highest rate of arrivals at which a wish holds: doubling,
// and then halving what lies between. One bad step is tried again, and what was
// found is held against twice that rate, so that a stall of the machine is not
// the end.
type search struct {
	holds func(rate float64) (bool, error)
	limit float64 // beyond which it would be the generator's
}

// run returns 0 where the wish holds at no rate, and limited where it still
// holds at the limit.
func (s search) run() (rate float64, limited bool, err error) {
	rate, limited, err = s.climb(firstRate)
	if err != nil || limited {
		return rate, limited, err
	}
	higher := min(max(2*rate, firstRate), s.limit)
	if passed, err := s.holds(higher); err != nil || !passed {
		return rate, false, err
	}
	again, limited, err := s.climb(higher)
	return max(rate, again), limited, err // both were kept
}

// climb searches from a rate on.
func (s search) climb(from float64) (rate float64, limited bool, err error) {
	good, bad := 0.0, math.Inf(1)
	for rate = from; bad > rateStep*good; {
		holds, err := s.twice(rate)
		if err != nil {
			return 0, false, err
		}
		if holds {
			good = rate
		} else {
			bad = rate
		}
		switch {
		case holds && rate >= s.limit:
			return rate, true, nil
		case math.IsInf(bad, 1):
			rate = min(2*good, s.limit)
		case good == 0 && bad <= leastRate:
			return 0, false, nil
		case good == 0:
			rate = bad / 2
		default:
			rate = math.Sqrt(good * bad)
		}
	}
	return good, false, nil
}

func (s search) twice(rate float64) (bool, error) {
	holds, err := s.holds(rate)
	if err != nil || holds {
		return holds, err
	}
	return s.holds(rate)
}

// findCapacity searches the highest rate at which a served operation keeps the
// run's wish, and records it.
func (in *instance) findCapacity(ctx context.Context, j *job, url string, t *assay.Trial) error {
	wish := in.r.config.Wish
	began := time.Now()
	var late error // the generator was, at the last rate that broke the wish
	rate, limited, err := search{limit: nearLimit * in.r.limits[j.Cell.Clients], holds: func(rate float64) (bool, error) {
		result, err := in.step(ctx, j, url, rate)
		if err == nil && result.Wrong > 0 {
			err = answered(result, j)
		}
		if err != nil || wish.holds(result, rate) { // what the generator adds is in it
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
		return &failure{assay.Failed, fmt.Sprintf("the wish does not hold even at %g requests a second", leastRate)}
	}
	if err := end(t, in.applied); err != nil {
		return err
	}
	t.Figures[assay.CapacityPerS] = rate
	t.Figures[assay.LimitPerS] = in.r.limits[j.Cell.Clients]
	if late != nil {
		t.Warnings = append(t.Warnings, assay.Warning{Code: "generator-bound",
			Evidence: fmt.Sprintf("above %.0f requests a second the wish was broken when the load generator itself was late", rate),
			Advice:   "the server may do more: give the generator more processors, or a quieter machine, to find out"})
	}
	if limited {
		t.Warnings = append(t.Warnings, assay.Warning{Code: "generator-bound",
			Evidence: fmt.Sprintf("the wish still holds at %.0f requests a second, %g of what the load generator reaches without a database", rate, nearLimit),
			Advice:   "the server can do more: give the generator more processors to find out"})
	}
	return nil
}

// step measures one rate for a moment.
func (in *instance) step(ctx context.Context, j *job, url string, rate float64) (load.Result, error) {
	limited, cancel := context.WithTimeout(ctx, in.r.config.Timeout)
	defer cancel()
	requests := max(int(rate*stepLength.Seconds()), min(leastInStep, int(rate*mostLength.Seconds())))
	result, used, err := in.r.generate(limited, load.Config{URL: url + "/{n}", Clients: j.Cell.Clients,
		Requests: requests, Warm: requests / warmShare, Rate: rate, Expect: j.answers})
	in.loadUsed += used
	return result, err
}

// holds tells whether all was answered in time.
func (w Wish) holds(result load.Result, rate float64) bool {
	return result.Failed+result.Dropped == 0 && result.PerSecond() >= kept*rate &&
		load.Quantile(result.Histogram, w.P) <= int64(w.Most)
}
