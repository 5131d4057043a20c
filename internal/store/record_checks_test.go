package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"assay"
	"pgregory.net/rapid"
)

// possible is a trial with values that trials can have.
func possible(rt *rapid.T, trial assay.Trial) assay.Trial {
	c := &trial.Cell
	c.Processes &= 0xff
	c.Clients, c.Pool, c.Idle, c.Transaction = 1+c.Clients&0xff, c.Pool&0xff, c.Idle&0xff, c.Transaction&0xff
	c.Rate, trial.Launch, trial.Layout, trial.Took = math.Abs(c.Rate), trial.Launch&0xff, trial.Layout&0xff, max(0, trial.Took)
	trial.Mode = rapid.SampledFrom([]assay.Mode{"", assay.Windows, assay.Blocks}).Draw(rt, "mode")
	trial.Outcome = rapid.SampledFrom(assay.Outcomes()).Draw(rt, "outcome")
	c.Begin = rapid.SampledFrom(append([]assay.Begin{""}, assay.Begins...)).Draw(rt, "begin")
	trial.Durability = rapid.SampledFrom(assay.Durabilities).Draw(rt, "durability")
	trial.Noise = assay.Noise{Steal: math.Abs(math.Sin(trial.Noise.Steal)), Foreign: math.Abs(math.Sin(trial.Noise.Foreign))}
	for i, s := range trial.Samples {
		trial.Samples[i] = assay.Sample{Operations: max(0, s.Operations), Nanos: max(0, s.Nanos)}
	}
	for i, b := range trial.Histogram {
		trial.Histogram[i] = assay.Bucket{Upper: max(0, b.Upper), Count: max(0, b.Count)}
	}
	for i, metric := range slices.Sorted(maps.Keys(trial.Figures)) {
		value := trial.Figures[metric]
		delete(trial.Figures, metric)
		trial.Figures[assay.Metrics[i%len(assay.Metrics)].Name] = max(math.SmallestNonzeroFloat64, value)
	}
	return trial
}

// trialLines are changes of the line of a trial, by what is to be said of them.
var trialLines = map[string][2]string{
	`figure "ns/op" is -5: want at least 0`:                    {`"ns/op":7.25`, `"ns/op":-5`},
	`figure "ns/op" is 0: want more`:                           {`"ns/op":7.25`, `"ns/op":0`},
	`figure "op/s" is -1: want at least 0`:                     {`"ns/op":7.25`, `"op/s":-1`},
	`figure "op/s" is -Inf: want at least 0`:                   {`"ns/op":7.25`, `"op/s":"-Inf"`},
	`figure "fun/op" is of no metric`:                          {`"ns/op":7.25`, `"fun/op":1`},
	"clients is 0: want at least 1":                            {`"clients":1`, `"clients":0`},
	"clients is -1: want at least 1":                           {`"clients":1`, `"clients":-1`},
	"pool is -1: want at least 0":                              {`"pool":0`, `"pool":-1`},
	"idle is -1: want at least 0":                              {`"idle":0`, `"idle":-1`},
	"transaction_size is -1: want at least 0":                  {`"transaction_size":0`, `"transaction_size":-1`},
	"launch is -3: want at least 0":                            {`"launch":1`, `"launch":-3`},
	"layout is -1: want at least 0":                            {`"layout":0`, `"layout":-1`},
	"took_ns is -1: want at least 0":                           {`"took_ns":0`, `"took_ns":-1`},
	"rate is -1: want 0 to ":                                   {`"rate":0`, `"rate":-1`},
	"rate is +Inf: want 0 to ":                                 {`"rate":0`, `"rate":"+Inf"`},
	"steal is -4: want 0 to 1":                                 {`"steal":0`, `"steal":-4`},
	"foreign_cpu is 1e+300: want 0 to 1":                       {`"foreign_cpu":0`, `"foreign_cpu":1e300`},
	"samples has [-5 7]: want counts of at least 0":            {`[[5,7]]`, `[[-5,7]]`},
	"samples has [5 -7]: want counts of at least 0":            {`[[5,7]]`, `[[5,-7]]`},
	"histogram has [5 -1]: want counts of at least 0":          {`"histogram":"null"`, `"histogram":"[[5,-1]]"`},
	`mode is "fast": want one of`:                              {`"mode":""`, `"mode":"fast"`},
	`outcome is "great": want one of ["ok"`:                    {`"outcome":"ok"`, `"outcome":"great"`},
	`durability is "eternal": want one of`:                     {`"durability":""`, `"durability":"eternal"`},
	"column figures: a count or no value expected, found -1":   {`"figures":2`, `"figures":-1`},
	"column settings: a count or no value expected, found yes": {`"settings":1`, `"settings":"yes"`},
}

// runLines are changes of the line of a run.
var runLines = map[string][2]string{
	"least_ns is -5: want at least 0":                          {`"least_ns":0`, `"least_ns":-5`},
	`reference is "fastest": want DRIVER@VERSION`:              {`"reference":""`, `"reference":"fastest"`},
	"column targets: a count or no value expected, found many": {`"targets":2`, `"targets":"many"`},
	"column targets: a count or no value expected, found 1.5":  {`"targets":2`, `"targets":1.5`},
	`the run's status is "best": want one of`:                  {`"status":"finished"`, `"status":"best"`},
}

// What no trial and no run can have is refused, and the error names line and field.
func TestImportRefusesTheImpossible(t *testing.T) {
	_, file := exported(t)
	lines := strings.Split(strings.TrimSpace(string(unzip(t, file))), "\n")
	to := fresh(t)
	for place, changes := range []map[string][2]string{1: runLines, 2: trialLines} {
		for want, change := range changes {
			changed := slices.Clone(lines[:3])
			if changed[place] = strings.Replace(changed[place], change[0], change[1], 1); changed[place] == lines[place] {
				t.Fatalf("%s does not have %s", lines[place], change[0])
			}
			_, _, err := to.Import(t.Context(), bytes.NewReader(sealed(t, append(changed, endOfTrials, endOfProofs)...)), MaxUnpacked)
			if place := "line " + fmt.Sprint(place+1) + ": "; !errors.As(err, new(*ImportError)) || !strings.Contains(err.Error(), place) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want an ImportError with %q and %q", change[1], err, place, want)
			}
			if got := content(t, to); got != "" {
				t.Errorf("%s: the store has\n%s\nwant nothing", change[1], got)
			}
		}
	}
}

// What assay writes passes: a trial without a worker, one without a launch, figures that
// are zero in fact, phases that a worker names, and every outcome.
func TestImportOfAllThatCanBe(t *testing.T) {
	s := fresh(t)
	run := start(exportedID, "quick", 0)
	run.Targets, run.Baseline = []assay.Target{{Driver: "mattn", DriverVersion: "v1"}}, assay.ParseBaseline("mattn@v1/web")
	must(t, s.Begin(t.Context(), run))
	cell := assay.Cell{Clients: 1}
	made := []assay.Trial{
		{Cell: cell, Outcome: assay.NotRun},
		{Cell: cell, Outcome: assay.Unsupported, Reason: "its worker could not be built"},
		{Cell: cell, Launch: 1, Twin: true, Ablation: true, Mode: assay.Windows, Outcome: assay.OK, Noise: assay.Noise{Steal: 1, Foreign: 1}},
		{Cell: assay.Cell{Clients: 8, Rate: 0.5}, Launch: 1, Mode: assay.Blocks, Outcome: assay.OK, Durability: assay.Power,
			Figures: map[string]float64{assay.NsPerOp: 1, assay.FetchedPerOp: 0, assay.SyncsPerOp: 0, assay.P50: 0, assay.Lag: 0, "sleep" + assay.PhaseSuffix: 0},
			Samples: []assay.Sample{{}}, Histogram: []assay.Bucket{{Upper: 0, Count: 1}}},
	}
	for i, outcome := range assay.Outcomes() {
		made = append(made, assay.Trial{Cell: cell, Launch: 10 + i, Outcome: outcome})
	}
	for _, trial := range made {
		must(t, s.Append(t.Context(), run.ID, trial))
	}
	importInto(t, fresh(t), export(t, s), true)
}

// A proof is of a target, at a time, and of states of which each count is a part.
func TestPossibleProofs(t *testing.T) {
	const now = "2026-11-22T00:00:00Z"
	for _, c := range []struct {
		target, proved        string
		states, held, refuted int
		want                  string
	}{
		{"mattn@v1", now, 1, 0, 0, ""}, {"mattn@v1", now, 3, 3, 0, ""}, {"mattn@v1", now, 3, 0, 3, ""},
		{"", now, 3, 3, 0, `not a proof of "": states 3, held 3, refuted 0`},
		{"mattn@v1", now, 0, 0, 0, `not a proof of "mattn@v1": states 0, held 0, refuted 0`},
		{"mattn@v1", now, 3, -1, 0, `not a proof of "mattn@v1": states 3, held -1, refuted 0`},
		{"mattn@v1", now, 3, 0, -1, `not a proof of "mattn@v1": states 3, held 0, refuted -1`},
		{"mattn@v1", now, 3, 4, 0, `not a proof of "mattn@v1": states 3, held 4, refuted 0`},
		{"mattn@v1", now, 3, 2, 2, `not a proof of "mattn@v1": states 3, held 2, refuted 2`},
		{"mattn@v1", now, 3, 0, 4, `not a proof of "mattn@v1": states 3, held 0, refuted 4`},
		{"mattn@v1", "yesterday", 3, 3, 0, "a proof has no time: "},
	} {
		got := ""
		if err := (&datedProof{assay.Proof{Target: c.target, States: c.states, Held: c.held, Refuted: c.refuted}, c.proved}).check(); err != nil {
			got = err.Error()
		}
		if got != c.want && !(strings.HasSuffix(c.want, ": ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%+v: got %q, want %q", c, got, c.want)
		}
	}
}
