// Command tune simulates tunings whose truth is known, with the code that searches
// and decides in assay tune, and prints how often they are right. It is for whoever
// changes that code or doubts it: results/tuning.md has its output.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"assay/internal/stat"
	"assay/internal/tune"
)

func main() {
	seed := flag.Uint64("seed", 2026, "of the simulation")
	tunings := flag.Int("tunings", 200, "tunings for each row")
	only := flag.String("only", "", "scenarios whose name has this")
	real := flag.Bool("exhaustive", false, "instead of simulating, measure all configurations of a space on this machine, and tune it")
	var e experiment
	flag.StringVar(&e.assay, "assay", "bin/assay", "with -exhaustive: the program")
	flag.IntVar(&e.launches, "launches", exhaustive, "with -exhaustive: of each configuration")
	flag.IntVar(&e.rows, "rows", 300_000, "with -exhaustive: of the table")
	flag.IntVar(&e.repeats, "repeats", 10, "with -exhaustive: tunings, each with a seed of its own")
	flag.DurationVar(&e.budget, "budget", 0, "with -exhaustive: of a tuning; 0: as -share has it")
	flag.Float64Var(&e.share, "share", 1./6, "with -exhaustive: the part of the time of the exhaustive search that is a tuning's budget")
	flag.Parse()
	if flag.NArg() > 0 || *tunings < 1 || e.launches < 2 || e.repeats < 1 || e.rows < 100 || e.budget < 0 || e.share <= 0 {
		fmt.Fprintln(os.Stderr, "usage: tune [-seed N] [-tunings N] [-only TEXT], or tune -exhaustive [-assay PROGRAM] [-launches N] [-rows N] [-repeats N] [-budget D] [-share N]")
		os.Exit(2)
	}
	if *real {
		if err := e.inFolder(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "tune:", err)
			os.Exit(1)
		}
		return
	}
	fmt.Println("| settings | noise | proposes | within 2 % of the best | of the exhaustive choices | intervals that hold | first finalist's | without effect in it | time, % of exhaustive |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, s := range scenarios {
		if !strings.Contains(s.name, *only) {
			continue
		}
		for _, noise := range []float64{0.02, 0.05} {
			t, err := s.simulate(*seed, *tunings, noise)
			if err != nil {
				fmt.Fprintln(os.Stderr, "tune:", err)
				os.Exit(1)
			}
			if t.forbidden > 0 {
				fmt.Fprintf(os.Stderr, "tune: %s: %d unsafe proposals\n", s.name, t.forbidden)
				os.Exit(1)
			}
			fmt.Printf("| %s | %.0f %% | %d | %d | %d | %s | %s | %d | %.0f |\n", s.name, 100*noise, t.proposed, t.nearBest, t.exhaustive,
				share(t.held, t.proposed), share(t.firstHeld, t.confirmed), t.useless, 100*float64(t.launches)/float64(s.exhaustiveTime()*t.tunings))
		}
	}
	if *only != "" {
		return
	}
	if err := printRobust(*seed, *tunings); err != nil {
		fmt.Fprintln(os.Stderr, "tune:", err)
		os.Exit(1)
	}
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

const (
	margin     = 0.02
	operations = 5
	perLaunch  = 11 // points that share a launch with the current settings
	// exhaustive is how many launches of every configuration an exhaustive search has:
	// as many as the confirmation.
	exhaustive = 12
)

// scenario is a kind of space: the gain of each level but the first, by factor.
type scenario struct {
	name   string
	gains  [][]float64
	pairs  map[[2]int]float64 // what two factors do together, beyond each alone
	unsafe bool               // the first factor's last level is faster than all and not allowed
	// budget is what a tuning may take, as a part of the time of the exhaustive search; 0:
	// as long as it takes. With one, it also asks what statistics do, and has other data.
	budget float64
	// small says that most gains are below what a setting has to be worth to be proposed.
	small bool
}

var scenarios = []scenario{
	{name: "10 identical candidates", gains: [][]float64{make([]float64, 10)}},
	{name: "8 of 2 levels, none has an effect", gains: [][]float64{{0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}}},
	{name: "72 configurations, 2 of 5 matter", gains: [][]float64{{0.25, 0.1}, {0, 0}, {0.08}, {0}, {0}}},
	{name: "72 configurations, 3 of 5 matter, 2 of them together", gains: [][]float64{{0.15, 0.12}, {0.06, 0.10}, {-0.03}, {0}, {0}}, pairs: map[[2]int]float64{{0, 2}: 0.08}},
	{name: "72 configurations, all but one make it slower", gains: [][]float64{{-0.05, -0.1}, {-0.02, -0.2}, {-0.03}, {-0.01}, {0.05}}},
	{name: "72 configurations, 2.7x and 4, 3 and 2 %, in a sixth of the time", gains: [][]float64{{1.0, 0.75}, {0.03, 0.02}, {0.04}, {0.02}, {0}}, budget: 1. / 6},
	{name: "the same, 2 of them together", gains: [][]float64{{1.0, 0.75}, {0.03, 0.02}, {0.06}, {0.02}, {0}}, pairs: map[[2]int]float64{{1, 2}: -0.04, {0, 3}: 0.02}, budget: 1. / 6},
	{name: "432 configurations, 2.7x, 4 and 2 %, in a sixth of the time of 72", gains: [][]float64{{1.0, 0.12}, {0, 0.01}, {0.04}, {0.02}, {0}, {0, 0}, {0}}, budget: 1. / 36},
	{name: "432 configurations, 2.7x and 2, 1.5 and 1 %, in a sixth of the time of 72", gains: [][]float64{{1.0, 0.11}, {0.02, 0.015}, {0.01}, {0.015}, {0}, {0, 0}, {0}}, budget: 1. / 36, small: true},
	{name: "2.7x and 4 %, none else matters, in a sixth of the time", gains: [][]float64{{1.0, 0.75}, {0, 0}, {0.04}, {0}, {0}}, budget: 1. / 6},
	{name: "768 configurations, 2 of 8 matter", gains: [][]float64{{0.3, 0.2}, {0.1}, {0, 0}, {0}, {0}, {0}, {0}, {-0.02, 0}}},
	{name: "as before, with a faster unsafe setting", gains: [][]float64{{0.3, 0.2, 0.9}, {0.1}, {0, 0}, {0}, {0}, {0}, {0}, {-0.02, 0}}, unsafe: true},
}

func (s scenario) space() tune.Space {
	space := tune.Space{StartIsCurrent: true}
	for j, gains := range s.gains {
		f := tune.Factor{Name: fmt.Sprint("setting-", j), Levels: make([]tune.Level, 1+len(gains))}
		if j == 0 && s.unsafe {
			f.Levels[len(gains)].Price = "process"
		}
		space.Factors = append(space.Factors, f)
	}
	if s.budget > 0 {
		space = space.With([]tune.Factor{{Name: "statistics", First: true, Levels: make([]tune.Level, 3)}})
	}
	return space
}

// exhaustiveTime returns the time of the exhaustive search, in members of launches.
func (s scenario) exhaustiveTime() int {
	configurations := s.space().Configurations()
	return exhaustive * (configurations + (configurations-1)/perLaunch)
}

func (s scenario) config(seed uint64) tune.Config {
	c := tune.Config{Space: s.space(), Margin: margin, Seed: seed}
	if s.budget > 0 {
		c.Budget, c.Conditions = time.Duration(s.budget*float64(s.exhaustiveTime())*float64(time.Second)), tune.Conditions()[:2]
	}
	return c
}

func (s scenario) truth(p tune.Point) float64 {
	total := 0.0
	for j, level := range p {
		if level > 0 && j < len(s.gains) {
			total += s.gains[j][level-1]
		}
	}
	for pair, gain := range s.pairs {
		if p[pair[0]] > 0 && p[pair[1]] > 0 {
			total += gain
		}
	}
	return total
}

// points returns all that are permitted.
func (s scenario) points() []tune.Point {
	all := []tune.Point{{}}
	for _, f := range s.space().Factors {
		var more []tune.Point
		for _, p := range all {
			for level, l := range f.Levels {
				if l.Price == "" && (level == 0 || !f.First) {
					more = append(more, append(slices.Clone(p), level))
				}
			}
		}
		all = more
	}
	return all
}

// best is the highest gain of a permitted point.
func (s scenario) best() float64 {
	best := 0.0
	for _, p := range s.points() {
		best = max(best, s.truth(p))
	}
	return best
}

// exhaustively is the gain of the point that the same noise shows as the best where each
// is measured.
func (s scenario) exhaustively(measure tune.Measure) (float64, error) {
	points := s.points()
	totals := make([]float64, len(points))
	for range exhaustive {
		m, err := measure(context.Background(), tune.Block{Points: points})
		if err != nil {
			return 0, err
		}
		for i, member := range m.Members {
			for _, g := range member.Gains {
				totals[i] += g
			}
		}
	}
	return s.truth(points[slices.Index(totals, slices.Max(totals))]), nil
}

// useless reports whether the point has a setting that makes nothing better.
func (s scenario) useless(p tune.Point) bool {
	for j, level := range p {
		without := slices.Clone(p)
		without[j] = 0
		if level > 0 && s.truth(p) <= s.truth(without) {
			return true
		}
	}
	return false
}

// measure is a machine: every member of a launch has noise of its own in each
// operation, a part of it alike in all operations. The current settings are members
// too, and all points of a launch are compared with the same one.
func (s scenario) measure(random *rand.Rand, noise float64, launches *int) tune.Measure {
	member := func() []float64 {
		all := make([]float64, operations)
		common := random.NormFloat64() * noise / 2
		for i := range all {
			all[i] = common + random.NormFloat64()*noise
		}
		*launches++
		return all
	}
	return func(_ context.Context, b tune.Block) (tune.Measured, error) {
		before := *launches
		var m tune.Measured
		var current []float64
		for i, p := range b.Points {
			if i%perLaunch == 0 {
				current = member()
			}
			gains := member()
			for k := range gains {
				gains[k] += s.truth(p) - current[k]
			}
			m.Members = append(m.Members, tune.Member{Gains: gains, Launch: i / perLaunch})
		}
		m.Took = time.Duration(*launches-before) * time.Second
		return m, nil
	}
}

type tally struct {
	tunings, proposed, nearBest, held, confirmed, firstHeld, useless, forbidden int
	exhaustive                                                                  int // proposals within 2 % of the best
	launches                                                                    int
}

// simulate makes tunings, each from a seed of its own.
func (s scenario) simulate(seed uint64, tunings int, noise float64) (tally, error) {
	var all tally
	var mu sync.Mutex
	var wait errgroup.Group
	best := s.best()
	for i := range tunings {
		wait.Go(func() error {
			var launches int
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			outcome, err := tune.Run(context.Background(), s.config(random.Uint64()), s.measure(random, noise, &launches))
			other := 0
			found, errOfAll := s.exhaustively(s.measure(random, noise, &other))
			mu.Lock()
			defer mu.Unlock()
			if err := cmp.Or(err, errOfAll); err != nil {
				return err
			}
			all.add(s, outcome, best)
			if near(found, best) {
				all.exhaustive++
			}
			all.launches += launches
			return nil
		})
	}
	return all, wait.Wait()
}

func (t *tally) add(s scenario, o *tune.Outcome, best float64) {
	t.tunings++
	truth := 0.0
	if c := o.Chosen; c != nil {
		t.proposed++
		truth = s.truth(c.Point)
		t.held += holds(c.Gain, truth)
		if s.useless(c.Point) {
			t.useless++
		}
		for j, level := range c.Point {
			if s.space().Factors[j].Levels[level].Price != "" {
				t.forbidden++
			}
		}
	}
	if near(truth, best) {
		t.nearBest++
	}
	if len(o.Finalists) > 0 {
		t.confirmed++
		t.firstHeld += holds(o.Finalists[0].Gain, s.truth(o.Finalists[0].Point))
	}
}

func near(gain, best float64) bool { return gain > best-math.Log1p(margin) }

func holds(i stat.Interval, truth float64) int {
	if ratio := math.Exp(truth); i.Low <= ratio && ratio <= i.High {
		return 1
	}
	return 0
}
