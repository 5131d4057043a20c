package main

import (
	"context"
	"fmt"
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
	var out outputs[*report.Report]
	cmd := &cobra.Command{
		Use:   "report [RUN]",
		Short: "Show a run again, the newest by default",
		Long: `Shows a run again. Without RUN it is the newest one that is no stage of a tuning. svg and png are charts,
one file each, in the folder of --output.`,
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
			return a.showRun(cmd.Context(), strings.Join(args, ""), out)
		},
	}
	out.addOutput(cmd, report.Formats, "file to write instead of standard output; for svg and png, a folder")
	return cmd
}

func (a *app) showRun(ctx context.Context, id string, out outputs[*report.Report]) error {
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
	if err != nil {
		return err
	}
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

// reportOn is the report on a run, with what was published of its plan.
func (a *app) reportOn(result *analysis.Result) (*report.Report, error) {
	r := report.New(result)
	r.Store = a.storeToShow()
	var err error
	r.Published, err = audit.Relations(result.Run.Plan)
	return r, err
}
