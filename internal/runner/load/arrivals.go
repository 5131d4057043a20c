package load

import (
	"math"
	"math/rand/v2"
)

// arrivals says when the requests of an open loop are due, in their order: nanoseconds
// since the load began. Independent users make a Poisson process: so many requests in a
// part of known length are at the partial sums of exponential gaps, of which there is one
// more than requests, scaled to that length. Warm-up and measured part are scaled each, so
// that they last as long as with even arrivals.
type arrivals struct {
	*Config
	random *rand.Rand
	number int     // of the next request
	sum    float64 // of the gaps of its part so far
	scale  float64 // from gaps to nanoseconds, of its part
}

func newArrivals(c *Config) *arrivals { return &arrivals{Config: c} }

// at returns when a number of requests would be over with even arrivals.
func (a *arrivals) at(number int) float64 { return float64(number) / a.Rate * 1e9 }

// next returns when the next request is due.
func (a *arrivals) next() int64 {
	number := a.number
	a.number++
	if a.Even {
		return int64(math.Round(a.at(number)))
	}
	begin := 0
	if number >= a.Warm {
		begin = a.Warm
	}
	if number == begin {
		a.enter(begin)
	}
	a.sum += a.random.ExpFloat64()
	return int64(math.Round(a.at(begin) + a.sum*a.scale))
}

// enter begins a part: its gaps are drawn to learn their sum, and again one by one. They
// are too many to be kept.
func (a *arrivals) enter(begin int) {
	n, total := a.Requests, 0.0
	if begin < a.Warm {
		n = a.Warm
	}
	gaps := func() *rand.Rand { return rand.New(rand.NewPCG(a.Seed[0]+uint64(begin), a.Seed[1])) }
	for random, i := gaps(), 0; i <= n; i++ {
		total += random.ExpFloat64()
	}
	a.random, a.sum, a.scale = gaps(), 0, a.at(n)/total
}
