package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"assay/internal/tune"
)

// elsewhere holds what a proposal does to the operations in a condition: natural logarithms
// of how many times better they are. Those in no condition gain.
type elsewhere struct {
	name  string
	gains map[tune.Stage][]float64
}

// limit is the loss that an operation may have.
var limit = -math.Log1p(0.05)

var robust = []elsewhere{
	{"no operation loses anywhere", nil},
	{"one operation loses just 5 %, at four times the data", map[tune.Stage][]float64{"four-times-data": {limit, 0, 0, 0, 0}}},
	{"all operations lose just 5 % everywhere", map[tune.Stage][]float64{"four-times-data": all(limit), "twice-clients": all(limit), "quarter-data": all(limit), "half-clients": all(limit)}},
	{"one operation loses 10 %, at four times the data", map[tune.Stage][]float64{"four-times-data": {-math.Log1p(0.10), 0, 0, 0, 0}}},
	{"one operation loses 20 %, at four times the data", map[tune.Stage][]float64{"four-times-data": {-math.Log1p(0.20), 0, 0, 0, 0}}},
}

func all(gain float64) []float64 {
	gains := make([]float64, operations)
	for i := range gains {
		gains[i] = gain
	}
	return gains
}

// told counts what tunings say of other data and clients.
type told struct{ proposed, within, miscounted, slower, wrong int }

// simulate tunes a space in which one setting helps on the plan's data.
func (e elsewhere) simulate(seed uint64, tunings int, noise float64) (told, error) {
	var t told
	s := scenario{gains: [][]float64{{0.3}, {0}, {0}, {0}}}
	for i := range tunings {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		launches := 0
		measure := s.measure(random, noise, &launches)
		outcome, err := tune.Run(context.Background(), tune.Config{Space: s.space(), Margin: margin, Seed: random.Uint64(), Conditions: tune.Conditions()},
			func(ctx context.Context, b tune.Block) (tune.Measured, error) {
				m, err := measure(ctx, b)
				if b.Where != "" {
					e.instead(s, b, m)
				}
				return m, err
			})
		if err != nil {
			return t, err
		}
		t.add(e, outcome)
	}
	return t, nil
}

// instead gives the proposal the gains of the condition instead of those of the search.
func (e elsewhere) instead(s scenario, b tune.Block, m tune.Measured) {
	gains := e.gains[b.Stage]
	for i, p := range b.Points {
		for k := range m.Members[i].Gains {
			m.Members[i].Gains[k] -= s.truth(p)
			if gains != nil {
				m.Members[i].Gains[k] += gains[k]
			}
		}
	}
}

func (t *told) add(e elsewhere, o *tune.Outcome) {
	if o.Chosen == nil {
		return
	}
	t.proposed++
	within, miscounted, slower, wrong := 1, 0, 0, 0
	for _, r := range o.Robustness {
		gains := e.gains[r.Condition.Stage]
		for k, l := range r.Losses {
			switch {
			case !l.Within:
				within = 0
			case gains != nil && gains[k] <= limit:
				miscounted = 1
			}
			if !l.Beyond {
				continue
			}
			slower = 1
			if gains == nil || gains[k] >= limit {
				wrong = 1
			}
		}
	}
	t.within, t.miscounted, t.slower, t.wrong = t.within+within, t.miscounted+miscounted, t.slower+slower, t.wrong+wrong
}

// printRobust prints what is said of other data and clients.
func printRobust(seed uint64, tunings int) error {
	fmt.Println("\n| truth | noise | says that all keep within 5 % | counts one that does not among those that keep | names a slower operation | names a wrong one |\n| --- | --- | --- | --- | --- | --- |")
	var failure error
	for _, e := range robust {
		for _, noise := range []float64{0.02, 0.05} {
			t, err := e.simulate(seed, tunings, noise)
			failure = cmp.Or(failure, err)
			fmt.Printf("| %s | %.0f %% | %s | %s | %s | %s |\n", e.name, 100*noise, share(t.within, t.proposed), share(t.miscounted, t.proposed), share(t.slower, t.proposed), share(t.wrong, t.proposed))
		}
	}
	return failure
}
