package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/build"
	"assay/internal/build/footprint"
	"assay/internal/doc"
	"assay/internal/lab"
	"assay/internal/report"
	"assay/internal/runner/host"
)

func (a *app) footprintCommand() *cobra.Command {
	var cold bool
	cmd := &cobra.Command{
		Use:   "footprint [DRIVER...]",
		Short: "Show what drivers cost apart from speed: program size, start time, cold build, need for cgo",
		Long: `Measures the size of each driver's worker and the time from its start to the first answer of a new
database: the median of 9 starts with a warm page cache. With --cold-build it also compiles each
with an empty build cache, which excludes fetching sources, and for another processor without cgo: that
takes minutes. Results are kept, those of a cold build until assay changes. Without a driver it shows them.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.footprint(cmd.Context(), args, cold) },
	}
	cmd.Flags().BoolVar(&cold, "cold-build", false, "also measure a build where nothing was compiled before, and compile without cgo")
	return cmd
}

func (a *app) footprint(ctx context.Context, names []string, cold bool) error {
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	dir := filepath.Join(l.Cache, "footprint")
	var all []footprint.Footprint
	for _, name := range names {
		f, err := measureFootprint(ctx, l, name, cold)
		if err != nil {
			return err
		}
		if f, err = f.Save(dir); err != nil {
			return err
		}
		all = append(all, f)
	}
	if len(names) == 0 {
		if all, err = footprint.Load(dir); err != nil {
			return err
		}
		if len(all) == 0 {
			return usage(errors.New("no footprint was measured yet"), "assay footprint mattn modernc measures two")
		}
	}
	a.progress.close()
	return a.showFootprints(all)
}

func measureFootprint(ctx context.Context, l *lab.Lab, name string, cold bool) (footprint.Footprint, error) {
	worker, err := l.Build(ctx, name)
	if err != nil {
		return footprint.Footprint{}, err
	}
	scratch, err := os.MkdirTemp("", "assay-footprint-")
	if err != nil {
		return footprint.Footprint{}, err
	}
	defer os.RemoveAll(scratch)
	f, err := footprint.Measure(ctx, worker.Program, scratch)
	if err != nil {
		return f, fmt.Errorf("driver %s: %w", name, err)
	}
	f.Driver, f.Version, f.Build = name, worker.Version, worker.Digest
	f.Machine, f.Measured = fmt.Sprintf("%s, %d processors", host.Facts(scratch)["cpu"], runtime.NumCPU()), time.Now().UTC()
	if cold {
		made, err := l.Cold(ctx, name)
		if err != nil && !errors.Is(err, build.ErrNotGo) {
			return f, err
		}
		if err == nil {
			f.Cold = &footprint.Cold{Took: made.Took, Cross: build.Cross(), NeedsCgo: made.Without, Measured: time.Now().UTC()}
		}
	}
	return f, nil
}

func (a *app) showFootprints(all []footprint.Footprint) error {
	grid := doc.Grid{Header: []string{"DRIVER", "VERSION", "PROGRAM", "FIRST ANSWER", "COLD BUILD", "WITHOUT CGO", "MEASURED"}}
	for _, f := range all {
		cold, without := coldBuild(f)
		grid.Rows = append(grid.Rows, []string{f.Driver, cmp.Or(f.Version, "-"), size(f), known(f.Start), cold, without, f.Measured.Format(time.DateOnly) + ", " + f.Machine})
	}
	return doc.WriteList(a.stdout, doc.Listing(grid), 0)
}

func size(f footprint.Footprint) string {
	if f.Program == 0 {
		return "script"
	}
	return fmt.Sprintf("%.1f MB", float64(f.Program)/1e6)
}

func known(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return wording.Brief(d)
}

// coldBuild says what is known of a cold build, with its day where that is another
// than that of the rest.
func coldBuild(f footprint.Footprint) (took, withoutCgo string) {
	if f.Cold == nil {
		return "-", "-"
	}
	took, withoutCgo = wording.Brief(f.Cold.Took), "no"
	if day := f.Cold.Measured.Format(time.DateOnly); day != f.Measured.Format(time.DateOnly) {
		took += " (" + day + ")"
	}
	if f.Cold.NeedsCgo == "" {
		withoutCgo = "yes, " + f.Cold.Cross
	}
	return took, withoutCgo
}

func (a *app) noiseCommand() *cobra.Command {
	var flags runFlags
	var driver string
	cmd := &cobra.Command{
		Use:   "noise",
		Short: "Run A/A tests on this machine: its noise, its false-positive rate, and the smallest difference that it can show",
		Long: `Measures a driver against itself: how much the figures of equal things spread,
how often a difference is found that is none, and the smallest difference that one and ten minutes
can show.`,
		Args:       arguments(0, 0),
		SuggestFor: []string{"null"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkBudget(cmd, flags.budget); err != nil {
				return err
			}
			if driver != "" {
				flags.drivers = []string{driver}
			}
			return a.noise(cmd.Context(), flags)
		},
	}
	cmd.Flags().DurationVar(&flags.budget, "budget", 0, budgetHelp)
	cmd.Flags().StringVar(&driver, "driver", "", "driver to measure with (default the plan's)")
	cmd.Flags().BoolVar(&flags.resume, "resume", false, "resume the latest unfinished run of assay noise")
	return cmd
}

const noisePlan = "alike"

// noise runs the A/A tests and shows what they say about the machine.
func (a *app) noise(ctx context.Context, flags runFlags) error {
	request, err := flags.request(noisePlan)
	if err != nil {
		return err
	}
	s, err := a.localStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	result, err := a.measure(ctx, s, a.commandLine("noise", "--resume"), request, false)
	if err != nil {
		return err
	}
	r, err := lab.Analyze(ctx, s, result.ID)
	if err != nil {
		return err
	}
	if err := report.WriteNoise(analysis.NewNoise(r), a.stdout); err != nil {
		return err
	}
	return a.checkCells(r)
}

// checkCells fails where cells of a run ended badly.
func (a *app) checkCells(r *analysis.Result) error {
	if !r.Failed() {
		return nil
	}
	return &exitError{status: statusFailed, err: errors.New("some cells failed: see which and why with: " + a.commandLine("report", r.Run.ID))}
}
