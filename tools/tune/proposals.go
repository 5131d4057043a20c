package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"assay/internal/stat"
)

// proposal holds what a tuning proposed.
type proposal struct {
	seed     int
	settings map[string]string
	took     time.Duration
	failed   error
}

// tunings returns what assay tune proposes with different seeds. One that fails is a proposal, too:
// of the current settings.
func (e experiment) tunings(ctx context.Context) []proposal {
	var all []proposal
	for seed := 1; seed <= e.repeats && ctx.Err() == nil; seed++ {
		c := proposal{seed: seed}
		began := time.Now()
		c.settings, c.failed = e.tuned(ctx, seed)
		c.took = time.Since(began)
		fmt.Printf("seed %d: %s; in %s\n", seed, c, c.took.Round(time.Second))
		all = append(all, c)
	}
	return all
}

func (c proposal) String() string {
	if c.failed != nil {
		return "failed: " + c.failed.Error()
	}
	return settingsText(c.settings)
}

// tuned returns what assay tune proposes with a seed.
func (e experiment) tuned(ctx context.Context, seed int) (map[string]string, error) {
	path, err := e.plan(fmt.Sprint("tuning-", seed), seed, []string{"current"}, map[string]map[string]string{"current": {}})
	if err != nil {
		return nil, err
	}
	out, err := e.run(ctx, "tune", path, "--durability", "consistent", "--memory", "256M", "--budget", e.budget.String(), "--quiet", "--format", "json")
	var answer struct{ Settings map[string]string }
	if wrong := json.Unmarshal(out, &answer); wrong != nil { // an undecided tuning is an answer, with a status of its own
		return nil, cmp.Or(err, wrong)
	}
	return answer.Settings, nil
}

// compare measures the proposals beside the best of the exhaustive search, each in twice as
// many launches as the search had, and says how many are within 2 % of the best of these
// figures: those of the search are too good of whoever is the best of them.
func (e experiment) compare(ctx context.Context) error {
	cells, exhaustive, err := e.exhaust(ctx)
	if err != nil {
		return err
	}
	bests, err := best(cells)
	if err != nil {
		return err
	}
	fmt.Printf("best of %d: %s; smoothed: %s, then %s; in %s\n", len(configurations()), settingsText(bests[0]), settingsText(bests[1]), settingsText(bests[2]), exhaustive.Round(time.Second))
	e.budget = cmp.Or(e.budget, time.Duration(e.share*float64(exhaustive)).Round(time.Second))
	proposals := e.tunings(ctx)
	all := bests
	for _, c := range proposals {
		all = append(all, c.settings)
	}
	measured, err := e.again(ctx, all)
	if err != nil {
		return err
	}
	conclude(bests, proposals, measured, exhaustive)
	return nil
}

// conclude says how good the proposals are, beside the best of the exhaustive search.
func conclude(bests []map[string]string, proposals []proposal, measured map[string]series, exhaustive time.Duration) {
	best := measured[settingsText(bests[0])]
	for _, other := range bests[1:] {
		if s := measured[settingsText(other)]; s.against(best).Center > 1 {
			best = s
		}
	}
	near, most, total := 0, 0.0, 0.0
	for _, c := range proposals {
		ratio, part := measured[settingsText(c.settings)].against(best), c.took.Seconds()/exhaustive.Seconds()
		total, most = total+part, max(most, part)
		fmt.Printf("seed %d: %.3fx [%.3f, %.3f] of the best in %.0f %% of the time: %s\n", c.seed, ratio.Center, ratio.Low, ratio.High, 100*part, c)
		if c.failed == nil && math.Log(ratio.Center) > -math.Log1p(margin) {
			near++
		}
	}
	fmt.Printf("%d of %d proposals are within 2 %% of the exhaustive best; a tuning took %.0f %% of its time, %.0f %% at most\n",
		near, len(proposals), 100*total/float64(max(1, len(proposals))), 100*most)
}

// again measures configurations beside each other, equal ones once.
func (e experiment) again(ctx context.Context, all []map[string]string) (map[string]series, error) {
	var names []string
	profiles, name := map[string]map[string]string{}, map[string]string{}
	for _, c := range all {
		if text := settingsText(c); name[text] == "" {
			name[text] = fmt.Sprint("p", len(names))
			names, profiles[name[text]] = append(names, name[text]), c
		}
	}
	e.launches *= 2
	of, err := e.measured(ctx, "proposals", names, profiles)
	if err != nil {
		return nil, err
	}
	measured := map[string]series{}
	for text, n := range name {
		measured[text] = of[n]
	}
	return measured, nil
}

// series are, by launch and operation, the natural logarithms of figures in ns/op.
type series map[int]map[string]float64

// seriesOf returns the series of a report's profiles, without disturbed launches, unless these are
// most.
func seriesOf(report []byte) (map[string]series, error) {
	all, err := launchesOf(report, true)
	if err != nil {
		return nil, err
	}
	calm, err := launchesOf(report, false)
	for profile := range all {
		if 2*len(calm[profile]) <= len(all[profile]) {
			return all, err
		}
	}
	return calm, err
}

// launchesOf are the series of all launches, or of those that were not disturbed.
func launchesOf(report []byte, disturbed bool) (map[string]series, error) {
	var r struct {
		Tables []struct {
			Rows []struct {
				Operation, Profile string
				Trials             []struct {
					Launch       int
					Disqualified bool
					Figures      map[string]*float64
				}
			}
		}
	}
	if err := json.Unmarshal(report, &r); err != nil {
		return nil, err
	}
	all := map[string]series{}
	for _, table := range r.Tables {
		for _, row := range table.Rows {
			for _, t := range row.Trials {
				ns := t.Figures["ns/op"]
				if t.Disqualified && !disturbed || ns == nil || *ns <= 0 {
					continue
				}
				if all[row.Profile] == nil {
					all[row.Profile] = series{}
				}
				if all[row.Profile][t.Launch] == nil {
					all[row.Profile][t.Launch] = map[string]float64{}
				}
				all[row.Profile][t.Launch][row.Operation] = math.Log(*ns)
			}
		}
	}
	return all, nil
}

// against returns how much better a series is than another one, as a ratio: the mean over the
// operations, in the launches that have all of them.
func (s series) against(other series) stat.Interval {
	operations := 0
	for _, of := range s {
		operations = max(operations, len(of))
	}
	var ratios []float64
	for launch, of := range s {
		total, n := 0.0, 0
		for operation, v := range of {
			if w, ok := other[launch][operation]; ok {
				total, n = total+w-v, n+1
			}
		}
		if n == operations {
			ratios = append(ratios, math.Exp(total/float64(n)))
		}
	}
	return stat.LogInterval(ratios)
}
