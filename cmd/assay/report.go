package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/internal/lab"
	"assay/internal/report"
)

func (a *app) reportCommand() *cobra.Command {
	var name, output string
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Show a run again, the newest by default",
		Args:  arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			format, err := report.FormatNamed(name)
			if err != nil {
				return usage(fmt.Errorf("unknown format %q", name), "formats are "+strings.Join(report.FormatNames(), ", "))
			}
			if format.Chart != nil && output == "" {
				return usage(fmt.Errorf("format %s is one file for each chart", name), "name a folder: -o FOLDER")
			}
			return a.showRun(cmd.Context(), strings.Join(args, ""), format, output)
		},
	}
	cmd.Flags().StringVar(&name, "format", "text", strings.Join(report.FormatNames(), "|"))
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write instead of standard output; for svg and png, a folder")
	return cmd
}

func (a *app) showRun(ctx context.Context, id string, format report.Format, output string) error {
	debug.SetGCPercent(40) // a report keeps most of what it reads until it is written
	s, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	result, err := lab.Analyze(ctx, s, id)
	if err != nil {
		return err
	}
	r, err := a.reportOn(result)
	switch {
	case err != nil:
		return err
	case format.Chart != nil:
		return a.writeCharts(r, format, output)
	case output == "":
		return format.Write(r, a.stdout)
	}
	return writeReport(output, func(w io.Writer) error { return format.Write(r, w) })
}

// reportOn is the report on a run, with what was published of its plan.
func (a *app) reportOn(result *analysis.Result) (*report.Report, error) {
	r := report.New(result)
	r.Store = a.storeToShow()
	var err error
	r.Published, err = audit.Relations(result.Run.Plan)
	return r, err
}

// writeCharts writes a file for each chart and says where.
func (a *app) writeCharts(r *report.Report, format report.Format, dir string) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return usage(fmt.Errorf("%s is a file: name a folder", dir))
	}
	paths, err := r.WriteCharts(dir, format)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s: charts as files: %d\n", dir, len(paths))
	return nil
}
