// Package analysistest has runs made by hand, for tests of what analyses and of
// what prints them.
package analysistest

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"time"

	"assay"
)

// sampleStart is when the hand-made run started.
var SampleStart = time.Date(2026, 11, 20, 15, 30, 0, 0, time.UTC)

// Each turns a list of trials into what New reads.
func Each(trials []assay.Trial) iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		for _, t := range trials {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// Broken yields one trial and then an error.
func Broken(yield func(assay.Trial, error) bool) {
	_ = yield(assay.Trial{}, nil) && yield(assay.Trial{}, errors.New("disk on fire"))
}

// Cell is a read by one client with defaults that tests change.
func Cell(operation, driver, profile string) assay.Cell {
	return assay.Cell{
		Plan: "quick", Workload: "monster", Operation: operation, Engine: "sqlite",
		Driver: driver, DriverVersion: Versions[driver], Build: "b-" + driver, Profile: profile,
		Clients: 1, Pool: 1, Idle: 1, Statement: "once", Params: map[string]string{"rows": "1000"},
	}
}

// Versions are the versions of the drivers.
var Versions = map[string]string{"mattn": "v1.14.52", "modernc": "v1.61.1", "glebarez": "v1.11.2"}

// Wobble spreads the launches of a figure a little, the same way for every
// cell, with a part that is a cell's own.
func Wobble(launch, own int) float64 {
	return 1 + 0.01*float64(launch%3) + 0.001*float64((launch*own)%4)
}

// Launches makes n ok trials of a cell around a time per operation.
func Launches(c assay.Cell, n int, ns float64, own int) []assay.Trial {
	var trials []assay.Trial
	for i := 1; i <= n; i++ {
		v := ns * Wobble(i, own)
		trials = append(trials, assay.Trial{
			Cell: c, Launch: i, Layout: i, Mode: assay.Windows, Outcome: assay.OK,
			Figures: map[string]float64{"ns/op": v, "op/s": 1e9 / v, "B/op": 400, "allocs/op": 0},
			Samples: []assay.Sample{{Operations: 1000, Nanos: int64(1000 * v)}, {Operations: 1000, Nanos: int64(1000 * v)}},
			DSN:     "file:{{path}}?_journal_mode=WAL", Each: []string{"PRAGMA cache_size=-65536"},
			Histogram: []assay.Bucket{{Upper: 1000, Count: 5}}, Digest: "d1",
			Started: SampleStart.Add(time.Duration(i) * time.Minute), Took: 20 * time.Second,
		})
	}
	return trials
}

// Ended makes one trial without figures.
func Ended(c assay.Cell, outcome assay.Outcome, reason string) assay.Trial {
	return assay.Trial{Cell: c, Launch: 1, Outcome: outcome, Reason: reason, Started: SampleStart, Took: time.Second}
}

// Change applies a change to every trial.
func Change(trials []assay.Trial, f func(*assay.Trial)) []assay.Trial {
	for i := range trials {
		f(&trials[i])
	}
	return trials
}

// Durable marks trials of an operation that changes data.
func Durable(trials []assay.Trial, d assay.Durability, synchronous string) []assay.Trial {
	return Change(trials, func(t *assay.Trial) {
		t.Mode, t.Durability = assay.Blocks, d
		t.Settings = []assay.Setting{
			{Name: "synchronous", Connection: "writer-1", Effective: synchronous, Applied: true},
			{Name: "journal_mode", Connection: "writer-1", Requested: "wal", Issued: "_journal_mode=WAL", Effective: "wal", Applied: true},
			{Name: "journal_mode", Connection: "reader-1", Requested: "wal", Issued: "_journal_mode=WAL", Effective: "wal", Applied: true},
		}
	})
}

// SampleRun is small and has one of everything: each outcome, ties, a twin,
// classes of durability, warnings, several clients.
func SampleRun() (assay.Run, []assay.Trial) {
	run := assay.Run{
		ID: "20261120-153000-1f2e", Plan: "quick", PlanText: "workload: monster\n", Seed: 42,
		Options: assay.Options{Drivers: []string{"mattn", "modernc", "glebarez"}, Only: map[string][]string{"rows": {"1000", "100000"}},
			Budget: 5 * time.Minute, Precision: 0.01, Exact: true, Margin: 0.02},
		Started: SampleStart, Finished: SampleStart.Add(time.Hour), Status: assay.Finished, Version: "v0.1.0",
		Host:     map[string]string{"cpu": "AMD EPYC 7K62", "kernel": "6.12", "filesystem": "ext4"},
		Baseline: assay.ParseBaseline("modernc@v1.61.1"),
	}
	for i, driver := range []string{"mattn", "modernc", "glebarez"} {
		run.Targets = append(run.Targets, assay.Target{
			Driver: driver, DriverVersion: Versions[driver], Engine: "sqlite", EngineVersion: []string{"3.53.4", "3.53.4", "3.41.2"}[i],
			Build: "b-" + driver, Facts: map[string]string{"cgo": strconv.FormatBool(i == 0)},
			CompileOptions: []string{[]string{"THREADSAFE=1", "THREADSAFE=2", "THREADSAFE=1"}[i], []string{"ENABLE_FTS5", "DQS=0", "DQS=0"}[i]},
		})
	}
	var trials []assay.Trial
	for _, part := range [][]assay.Trial{sampleReads(), sampleWrites(), sampleClients(), sampleOutcomes()} {
		trials = append(trials, part...)
	}
	return run, trials
}

// sampleReads has a winner, a tie, a twin, and a cell with few launches.
func sampleReads() []assay.Trial {
	trials := Launches(Cell("point-read", "modernc", "web"), 8, 12000, 1)
	trials = append(trials, Change(Launches(Cell("point-read", "modernc", "web"), 8, 12100, 2), func(t *assay.Trial) { t.Twin = true })...)
	trials = append(trials, Change(Launches(Cell("point-read", "mattn", "web"), 8, 8000, 3), func(t *assay.Trial) {
		t.Samples[0].Nanos *= 2
		t.Samples = append(t.Samples, t.Samples[1])
		if t.Launch > 2 {
			t.Warnings = []assay.Warning{{Code: "drift", Evidence: fmt.Sprintf("%d %% between first and last window", t.Launch), Advice: "let the machine settle"}}
		}
		t.Disqualified = t.Launch == 8
	})...)
	trials = append(trials, Launches(Cell("point-read", "glebarez", "web"), 8, 12050, 5)...)
	trials = append(trials, Launches(Cell("point-read", "mattn", "tuned"), 8, 8040, 2)...)
	trials = append(trials, Launches(Cell("point-read", "modernc", "tuned"), 3, 11000, 1)...)

	large := func(c assay.Cell) assay.Cell {
		c.Params = map[string]string{"rows": "100000"}
		return c
	}
	trials = append(trials, Launches(large(Cell("point-read", "modernc", "web")), 6, 15000, 1)...)
	return append(trials, Change(Launches(large(Cell("point-read", "mattn", "web")), 6, 15100, 2), func(t *assay.Trial) {
		t.Figures["ns/op"] *= 1 + 0.06*float64(t.Launch%2)
	})...)
}

// sampleWrites has two classes of durability and unequal settings.
func sampleWrites() []assay.Trial {
	trials := Durable(Launches(Cell("insert", "modernc", "web"), 6, 250000, 1), assay.Power, "2")
	trials = append(trials, Durable(Launches(Cell("insert", "glebarez", "web"), 6, 300000, 2), assay.Power, "2")...)
	trials = append(trials, Durable(Launches(Cell("insert", "mattn", "web"), 6, 30000, 3), assay.Consistent, "1")...)
	trials = append(trials, Durable(Launches(Cell("insert", "modernc", "tuned"), 6, 40000, 2), assay.Consistent, "1")...)
	return append(trials, Durable(Launches(Cell("insert", "mattn", "tuned"), 6, 31000, 3), assay.Consistent, "1")...)
}

// sampleClients has throughput, percentiles and answers of busy.
func sampleClients() []assay.Trial {
	var trials []assay.Trial
	for i, driver := range []string{"modernc", "mattn"} {
		c := Cell("mixed", driver, "tuned")
		c.Clients, c.Pool, c.Idle, c.Transaction = 8, 4, 4, 100
		trials = append(trials, Change(Launches(c, 6, 20000/float64(1+i), 1+i), func(t *assay.Trial) {
			t.Mode, t.Durability = assay.Blocks, assay.Consistent
			maps.Copy(t.Figures, map[string]float64{"p50": 9000, "p99": 4.2e6, "busy/op": 0.04 * float64(i)})
		})...)
	}
	return trials
}

// sampleOutcomes has every way to end, and user text that could break a
// format.
func sampleOutcomes() []assay.Trial {
	trials := Launches(Cell("scan", "modernc", "web"), 6, 2e6, 1)
	trials = append(trials, Change(Launches(Cell("scan", "mattn", "web"), 6, 1e6, 2), func(t *assay.Trial) {
		t.Outcome, t.Reason = assay.NotApplied, "mmap_size requested 268435456, effective 0"
	})...)
	trials = append(trials, Ended(Cell("scan", "glebarez", "web"), assay.Unsupported, "no such option"))
	failed := Launches(Cell("scan", "mattn", "tuned"), 6, 1e6, 2)
	failed[3] = Ended(Cell("scan", "mattn", "tuned"), assay.Failed, "worker died: exit status 2\n\x1b[31mpanic | <b>oops</b>\x00 `x` "+
		"and a long tail of a message that does not fit on one line of a terminal and therefore has to be wrapped")
	trials = append(trials, failed...)
	trials = append(trials, Ended(Cell("scan", "modernc", "tuned"), assay.WrongAnswer, "row 3 differs"))
	slow := Cell("scan", "glebarez", "tuned")
	slow.AsPublished = true
	return append(trials,
		Ended(slow, assay.TimedOut, "no answer in 60s"),
		Ended(Cell("scan", "modernc", "late"), assay.NotRun, "the budget ended"))
}

// InGroup moves trials into a group.
func InGroup(trials []assay.Trial, group string) []assay.Trial {
	return Change(trials, func(t *assay.Trial) { t.Group = group })
}

// Ablation moves trials into the ablation.
func Ablation(trials []assay.Trial) []assay.Trial {
	return Change(trials, func(t *assay.Trial) { t.Ablation, t.Group = true, "g" })
}

// Without makes trials those of a target that lacks one setting.
func Without(trials []assay.Trial, setting string) []assay.Trial {
	return Change(Ablation(trials), func(t *assay.Trial) { t.Cell.Without = setting })
}

// PlainRun is a run against modernc that says nothing else.
var PlainRun = assay.Run{Baseline: assay.ParseBaseline("modernc@v1.61.1"), Options: assay.Options{Margin: 0.02}}
