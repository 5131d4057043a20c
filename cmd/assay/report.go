package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/internal/file"
	"assay/internal/lab"
	"assay/internal/report"

	"github.com/spf13/cobra"
)

// reportFormats are all that assay report can write.
var reportFormats = slices.Concat(report.Formats, []string{report.HTML}, report.ChartFormats)

func (a *app) reportCommand() *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Show a run again, the newest by default",
		Args:  arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(reportFormats, format) {
				return usage(fmt.Errorf("unknown format %q", format), "formats are "+strings.Join(reportFormats, ", "))
			}
			if slices.Contains(report.ChartFormats, format) && output == "" {
				return usage(fmt.Errorf("format %s is one file for each chart", format), "name a folder: -o FOLDER")
			}
			return a.showRun(cmd.Context(), strings.Join(args, ""), format, output)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", strings.Join(reportFormats, "|"))
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write instead of standard output; of svg and png, the folder")
	return cmd
}

func (a *app) showRun(ctx context.Context, id, format, output string) error {
	debug.SetGCPercent(40) // a report keeps most of what it reads until it is written
	s, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := lab.Analyze(ctx, s, id)
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(report.ChartFormats, format):
		return a.writeCharts(r, format, output)
	case output == "":
		return formatReport(r, format, a.stdout)
	}
	return writeReport(r, format, output)
}

// writeCharts writes a file for each chart and says where.
func (a *app) writeCharts(r *analysis.Result, format, dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usage(fmt.Errorf("%s is a file: name a folder", dir))
	}
	paths, err := report.New(r).WriteCharts(dir, format)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s: charts as files: %d\n", dir, len(paths))
	return nil
}

// formatReport writes a report in a format that is one text.
func formatReport(r *analysis.Result, format string, w io.Writer) error {
	if format != report.HTML {
		return report.New(r).Write(w, format)
	}
	published, err := audit.Relations(r.Run.Plan)
	if err != nil {
		return err
	}
	return report.New(r).WriteHTML(w, published)
}

// writeReport writes a report to a file.
func writeReport(r *analysis.Result, format, path string) error {
	var text bytes.Buffer
	if err := formatReport(r, format, &text); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usage(fmt.Errorf("%s is a folder: name a file", path))
	}
	if err := file.Write(path, text.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (a *app) runsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "runs",
		Short: "List the runs in the store, newest first",
		Args:  arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.readStore(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			runs, err := s.Runs(cmd.Context())
			if err != nil {
				return err
			}
			return a.listRuns(runs)
		},
	}
}

func (a *app) listRuns(runs []assay.Run) error {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tPLAN\tSTARTED\tSTATUS\tTARGETS")
	for _, run := range runs {
		var targets []string
		for _, t := range run.Targets {
			targets = append(targets, t.Name())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", run.ID, run.Plan, run.Started.Local().Format(time.DateTime), run.Status, strings.Join(targets, " "))
	}
	return w.Flush()
}
