package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/internal/analysis"
	"assay/internal/lab"
	"assay/internal/report"
)

func (a *app) reportCommand() *cobra.Command {
	var out outputs[*report.Report]
	var margin share
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Show a run again, the newest by default",
		Long: `Shows a run again. Without RUN it is the newest one that is no stage of a tuning. svg is charts, one file
each, in the folder of --output.`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out.format.Files != nil && out.file == "" {
				return usage(fmt.Errorf("format %s is one file for each chart", out.format.Name), "name a folder: -o FOLDER")
			}
			if out.format.Files == nil {
				if err := checkPlace(out.file); err != nil {
					return usage(err)
				}
			}
			return a.showRun(cmd.Context(), strings.Join(args, ""), float64(margin), out)
		},
	}
	cmd.Flags().Var(&margin, "margin", marginHelp+" (default the run's)")
	out.addOutput(cmd, report.Formats, "file to write instead of standard output; for svg, a folder")
	return cmd
}

func (a *app) showRun(ctx context.Context, id string, margin float64, out outputs[*report.Report]) error {
	debug.SetGCPercent(40) // a report keeps most of what it reads until it is written
	s, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	result, err := lab.AnalyzeWithin(ctx, s, id, margin)
	if err != nil {
		return err
	}
	r := a.reportOn(result)
	switch {
	case out.format.Name == "text" && out.file == "":
		return r.WriteText(a.stdout, a.columns())
	case out.format.Files == nil:
		return out.write(a.stdout, r)
	}
	if info, err := os.Stat(out.file); err == nil && !info.IsDir() {
		return usage(fmt.Errorf("%s is a file: name a folder", out.file))
	}
	paths, err := out.format.Files(out.file, r)
	if err == nil {
		fmt.Fprintf(a.stderr, "%s: charts as files: %d\n", out.file, len(paths))
	}
	return err
}

// reportOn is the report on a run.
func (a *app) reportOn(result *analysis.Result) *report.Report {
	r := report.New(result)
	r.Store = a.storeToShow()
	return r
}

func (a *app) compareCommand() *cobra.Command {
	var run string
	var out outputs[*analysis.Versus]
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs, or two drivers, versions or profiles of one run",
		Long: `Compare two runs, or two drivers, versions or profiles of one run.

A and B are two runs, as assay runs lists them, or what a run has: a driver
(mattn), a driver's version (mattn@v1.14.37), compile options (mattn:DQS=0), a
profile (web), or any coordinate (clients=8). Cells that are alike in all else
are compared: by launch within a run. Launches of two runs are not paired.`,
		Args: arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.compare(cmd.Context(), args[0], args[1], run, out)
		},
	}
	cmd.Flags().StringVar(&run, "run", "", "the run that has both; the newest by default")
	out.addFormat(cmd, report.VersusFormats)
	return cmd
}

func (a *app) compare(ctx context.Context, first, second, run string, out outputs[*analysis.Versus]) error {
	s, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	sides, err := lab.Sides(ctx, s, [2]string{first, second}, run)
	if err != nil {
		return err
	}
	versus, err := analysis.NewVersus(sides[0], sides[1])
	if errors.Is(err, analysis.ErrUnlikeSides) || errors.Is(err, analysis.ErrSeveralBuilds) || errors.Is(err, analysis.ErrSameSide) {
		return usage(err, "name two drivers, two versions, two profiles, or two values of one coordinate")
	}
	if err != nil {
		return err
	}
	if len(versus.Lines) == 0 {
		return usage(fmt.Errorf("no cell of %s matches one of %s in all other coordinates", first, second), "assay report shows the cells of a run")
	}
	return out.write(a.stdout, versus)
}

// timeShares says what the time of a run's launches went into: the measured
// part first, and then the largest others.
func timeShares(spent assay.Spent) string {
	if spent.Total() == 0 {
		return ""
	}
	text := fmt.Sprintf(", %.0f %% of it inside measured windows and blocks", 100*spent.Share(assay.StageMeasured))
	var others []assay.Stage
	for stage := range spent {
		if stage != assay.StageMeasured && spent.Share(stage) >= 0.02 {
			others = append(others, stage)
		}
	}
	slices.SortFunc(others, func(a, b assay.Stage) int {
		return cmp.Or(cmp.Compare(spent[b], spent[a]), cmp.Compare(a, b))
	})
	for i, stage := range others {
		text += fmt.Sprintf("%s%s %.0f %%", []string{" (", ", "}[min(i, 1)], stage, 100*spent.Share(stage))
	}
	if len(others) > 0 {
		text += ")"
	}
	return text
}
