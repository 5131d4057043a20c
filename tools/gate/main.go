// Command gate simulates jobs of assay gate whose truth is known, with the code
// that decides in them, and prints how many of them fail. It is for whoever
// changes that code or doubts it: results/gate.md has its output.
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"assay"
	"assay/internal/analysis"
	"assay/internal/gate"
)

func main() {
	seed := flag.Uint64("seed", 2026, "of the simulation")
	jobs := flag.Int("jobs", 40, "jobs for each figure")
	flag.Parse()
	if flag.NArg() > 0 || *jobs < 1 {
		fmt.Fprintln(os.Stderr, "usage: gate [-seed N] [-jobs N]")
		os.Exit(2)
	}
	fmt.Printf("| job | launches of each run | jobs | suspected | failed |\n| --- | --- | --- | --- | --- |\n")
	for _, s := range scenarios {
		for _, launches := range []int{6, 12, 18} {
			t, err := s.simulate(*seed, *jobs, launches)
			if err != nil {
				fmt.Fprintln(os.Stderr, "gate:", err)
				os.Exit(1)
			}
			fmt.Printf("| %s | %d | %d | %d | %d |\n", s.name, launches, *jobs, t.suspected, t.failed)
		}
	}
}

const (
	tables  = 14   // of the plan quick
	layouts = 6    // link layouts of each build, which launches take in turn
	planned = 3    // launches that are fixed beforehand
	machine = 0.05 // by how much the whole machine differs between launches
	margin  = 0.02 // of quick
)

// scenario is a kind of job.
type scenario struct {
	name   string
	layout float64 // standard deviation of what a layout does to a ratio
	slower float64 // by how much the head is slower, as a fraction
	in     int     // in how many of the tables
}

var scenarios = []scenario{
	{name: "A/A, the same program"},
	{name: "A/A, functions in another order", layout: 0.02},
	{name: "1 % slower in all operations", layout: 0.02, slower: 0.01, in: tables},
	{name: "2 % slower in all operations, the limit", layout: 0.02, slower: margin, in: tables},
	{name: "3 % slower in all operations", layout: 0.02, slower: 0.03, in: tables},
	{name: "5 % slower in all operations", layout: 0.02, slower: 0.05, in: tables},
	{name: "5 % slower in 1 of 14 operations, the same order", slower: 0.05, in: 1},
	{name: "5 % slower in 1 of 14 operations", layout: 0.02, slower: 0.05, in: 1},
	{name: "10 % slower in 1 of 14 operations", layout: 0.02, slower: 0.10, in: 1},
}

type tally struct{ suspected, failed int }

// simulate makes jobs, each from a seed of its own.
func (s scenario) simulate(seed uint64, jobs, launches int) (tally, error) {
	var all tally
	var mu sync.Mutex
	var wait errgroup.Group
	for job := range jobs {
		wait.Go(func() error {
			suspected, failed, err := s.job(rand.New(rand.NewPCG(seed, uint64(job))), launches)
			mu.Lock()
			defer mu.Unlock()
			all.suspected, all.failed = all.suspected+count(suspected), all.failed+count(failed)
			return err
		})
	}
	return all, wait.Wait()
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// job returns what a job's two runs say.
func (s scenario) job(random *rand.Rand, launches int) (suspected, failed bool, err error) {
	rules := gate.Rules{MaxSlowdown: margin}
	all := s.operations(random)
	upgrade := &gate.Upgrade{}
	if upgrade.First, err = measure(random, all, launches, rules); err != nil {
		return false, false, err
	}
	only := upgrade.First.Suspects()
	if only == nil {
		return false, len(upgrade.Findings(rules)) > 0, nil
	}
	upgrade.Second, err = measure(random, selected(all, only), launches, rules)
	return true, len(upgrade.Findings(rules)) > 0, err
}

// operation is one of the plan's, with what is true of it.
type operation struct {
	cell    assay.Cell
	mode    assay.Mode
	spread  float64      // standard deviation of log ratios between launches
	slower  float64      // log ratio of the head to the base
	effects [2][]float64 // of the layouts of base and head
}

// operations draws those of a job: the spread of each, and what the layouts of its
// programs do. Both runs have the same programs.
func (s scenario) operations(random *rand.Rand) []operation {
	var all []operation
	for table := range tables {
		o := operation{spread: 0.02 * math.Pow(3.5, random.Float64()), mode: assay.Windows} // 2 to 7 %
		if table%2 == 1 {
			o.mode = assay.Blocks
		}
		if table < s.in {
			o.slower = math.Log1p(s.slower)
		}
		for build := range o.effects {
			for range layouts {
				o.effects[build] = append(o.effects[build], s.layout/math.Sqrt2*random.NormFloat64())
			}
		}
		for _, profile := range []string{"default", "web"} {
			o.cell = assay.Cell{Plan: "quick", Workload: "monster", Operation: fmt.Sprint("operation-", table), Engine: "sqlite", Driver: "modernc",
				Profile: profile, Clients: 1, Pool: 1, Idle: 1, Statement: "once"}
			all = append(all, o)
		}
	}
	return all
}

// selected returns the operations that a confirmation measures.
func selected(all []operation, only map[string][]string) []operation {
	return slices.DeleteFunc(slices.Clone(all), func(o operation) bool {
		for name, values := range only {
			if value, _ := o.cell.Coordinate(name); !slices.Contains(values, value) {
				return true
			}
		}
		return false
	})
}

var versions = []string{"v1.0.0", "v1.1.0"}

// measure draws a run and has it judged.
func measure(random *rand.Rand, operations []operation, launches int, rules gate.Rules) (*gate.Measurement, error) {
	run := assay.Run{ID: "simulated", Plan: "quick", Baseline: assay.ParseBaseline("modernc@" + versions[0]), Options: assay.Options{Margin: margin, Launches: planned}}
	for _, version := range versions {
		run.Targets = append(run.Targets, assay.Target{Driver: "modernc", DriverVersion: version, Engine: "sqlite", Build: version, Layouts: layouts})
	}
	r, err := analysis.New(run, func(yield func(assay.Trial, error) bool) {
		for i, o := range operations {
			twin := i == 0 || operations[i-1].cell.Operation != o.cell.Operation // of the first profile
			for _, t := range o.trials(random, launches, twin) {
				if !yield(t, nil) {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return gate.Judge(r, "modernc@"+versions[0], "modernc@"+versions[1], rules)
}

// trials returns the trials of base, head and, for the first profile, the A/A test.
func (o operation) trials(random *rand.Rand, launches int, twin bool) []assay.Trial {
	var all []assay.Trial
	add := func(launch, build int, common float64, twin bool) {
		c := o.cell
		c.DriverVersion, c.Build = versions[build], versions[build]
		layout := (launch - 1) % layouts
		log := common + o.slower*float64(build) + o.effects[build][layout] + o.spread/math.Sqrt2*random.NormFloat64()
		all = append(all, assay.Trial{Cell: c, Group: c.Operation, Launch: launch, Layout: layout + 1, Twin: twin, Mode: o.mode, Outcome: assay.OK,
			Figures: map[string]float64{assay.NsPerOp: 10000 * math.Exp(log)}})
	}
	for launch := 1; launch <= launches; launch++ {
		common := machine * random.NormFloat64()
		add(launch, 0, common, false)
		add(launch, 1, common, false)
		if twin {
			add(launch, 0, common, true)
		}
	}
	return all
}
