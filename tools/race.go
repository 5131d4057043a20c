//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"assay"
	"assay/internal/stat"
	"assay/kit/handwritten/gobench"
)

const (
	// raced is the half-width at which a comparison counts as decided.
	raced = 0.02
	// longestRace ends it where a machine is too noisy for that.
	longestRace = 10 * time.Minute
	// races is how often it is run: how long either takes is much a matter of
	// what else the machine does.
	races = 6
)

// race asks how long it takes until mattn and modernc are compared to within
// 2 %: with assay, and with go test -bench and benchstat, which gets every
// advantage: a pair of runs at a time, in turn, and it ends as soon as both
// medians are known well enough, which nobody knows beforehand.
func (t *tools) race() error {
	tests, err := newGoTests(t)
	if err != nil {
		return err
	}
	var ratios []float64
	var theirsAll, oursAll time.Duration
	for range races {
		theirs, counts, err := tests.race()
		if err != nil {
			return err
		}
		ours, ratio, err := t.raceAssay()
		if err != nil {
			return err
		}
		fmt.Printf("  go test -bench, benchstat: %s, -count %d; assay run: %s, modernc / mattn %.3f [%.3f, %.3f], %d launches\n",
			reached(theirs), counts, reached(ours), ratio.Center, ratio.Low, ratio.High, ratio.N)
		ratios = append(ratios, float64(ours)/float64(theirs))
		theirsAll, oursAll = theirsAll+theirs, oursAll+ours
	}
	fmt.Printf("  in all: %s and %s\n", theirsAll.Round(time.Second), oursAll.Round(time.Second))
	say("time until +-2 % is known, assay / go test and benchstat", stat.LogInterval(ratios), "", "at most 0.1", 0, 0.1)
	return nil
}

func reached(took time.Duration) string {
	if took >= longestRace {
		return "not within " + longestRace.String()
	}
	return took.Round(time.Second).String()
}

// raceAssay runs the point read of quick as a user would; what was built before
// is not counted. A run that misses the precision counts as the longest.
func (t *tools) raceAssay() (time.Duration, stat.Interval, error) {
	began := time.Now()
	location, _, err := t.assay("quick", "race", "--quiet", "--drivers", "mattn,modernc", "--only", "operation=point-read",
		"--only", "rows=100000", "--only", "profile=default", "--precision", fmt.Sprint(raced), "--budget", longestRace.String())
	if err != nil {
		return 0, stat.Interval{}, err
	}
	took := time.Since(began)
	ratio, err := t.ratioOf(location, "modernc")
	if err != nil {
		return 0, stat.Interval{}, err
	}
	if ratio.High/ratio.Center > 1+1.05*raced { // widths are of logarithms
		took = longestRace
	}
	return took, ratio, nil
}

// ratioOf is a driver's ratio to the reference in a run of one table.
func (t *tools) ratioOf(location, driver string) (stat.Interval, error) {
	r, err := t.readReport(location)
	if err != nil {
		return stat.Interval{}, err
	}
	for _, row := range r.Tables[0].Rows {
		if f, ok := row.Figure(assay.NsPerOp); ok && row.Cell.Driver == driver && f.Comparison != nil {
			return f.Comparison.Ratio, nil
		}
	}
	return stat.Interval{}, errors.New("the run compares nothing with " + driver)
}

// goTests are the compiled benchmarks of both drivers, each with its database.
type goTests struct {
	*tools
	keys     string
	programs map[string]string // by driver
}

func newGoTests(t *tools) (*goTests, error) {
	c, err := pointRead("mattn")
	if err != nil {
		return nil, err
	}
	data, _, keys, err := t.material(c)
	if err != nil {
		return nil, err
	}
	g := &goTests{tools: t, keys: keys, programs: map[string]string{}}
	for _, driver := range raceDrivers {
		if g.programs[driver], err = t.testProgram(driver); err != nil {
			return nil, err
		}
		if err := data.Copy(t.raceData(driver)); err != nil {
			return nil, err
		}
	}
	return g, nil
}

var raceDrivers = []string{"mattn", "modernc"}

// race runs both benchmarks until benchstat's intervals are narrow.
func (g *goTests) race() (took time.Duration, counts int, err error) {
	values := map[string][]float64{}
	began := time.Now()
	for time.Since(began) < longestRace {
		counts++
		for _, driver := range raceDrivers {
			value, err := g.goTest(g.programs[driver], g.raceData(driver), g.keys)
			if err != nil {
				return 0, 0, fmt.Errorf("go test -bench of %s: %w", driver, err)
			}
			values[driver] = append(values[driver], value)
		}
		if narrow(values["mattn"]) && narrow(values["modernc"]) {
			return time.Since(began), counts, nil
		}
	}
	return longestRace, counts, nil
}

func (t *tools) raceData(driver string) string { return filepath.Join(t.dir, "race-"+driver+".db") }

// testProgram compiles the benchmark that lies beside a worker in the checkout:
// packed sources have no tests.
func (t *tools) testProgram(driver string) (string, error) {
	program := filepath.Join(t.dir, "gobench-"+driver)
	command := exec.CommandContext(t.ctx, "go", "test", "-c", "-o", program, "./handwritten")
	command.Dir = filepath.Join("workers", driver)
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the benchmark of %s: %w\n%s", driver, err, out)
	}
	return program, nil
}

// goTest runs a benchmark once and returns its ns/op.
func (t *tools) goTest(program, path, keys string) (float64, error) {
	command := exec.CommandContext(t.ctx, program, "-test.run", "^$", "-test.bench", "PointRead")
	command.Env = append(os.Environ(), gobench.DSN+"=file:"+path, gobench.Keys+"="+keys)
	out, err := command.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	for reader := benchfmt.NewReader(bytes.NewReader(out), program); reader.Scan(); {
		if result, ok := reader.Result().(*benchfmt.Result); ok {
			if seconds, ok := result.Value("sec/op"); ok {
				return 1e9 * seconds, nil
			}
		}
	}
	return 0, fmt.Errorf("no result in %s", strings.TrimSpace(string(out)))
}

// narrow reports whether benchstat's interval of the median is within the width.
// With fewer than six values it has no ends, or one.
func narrow(values []float64) bool {
	summary := benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95)
	return summary.Lo > 0 && max(summary.Hi/summary.Center, summary.Center/summary.Lo) <= 1+raced
}
