package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/internal/lab"
	"assay/internal/store"
	"assay/published"

	"github.com/spf13/cobra"
)

func (a *app) auditCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "audit [RUN]",
		Short: "Hold published claims against a run, or against the newest runs that have their cells",
		Args:  arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(audit.Formats, format) {
				return usage(fmt.Errorf("unknown format %q", format), "formats are "+strings.Join(audit.Formats, ", "))
			}
			return a.audit(cmd.Context(), strings.Join(args, ""), format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "markdown", strings.Join(audit.Formats, "|"))
	return cmd
}

func (a *app) audit(ctx context.Context, id, format string) error {
	s, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	sources, err := published.Claims()
	if err != nil {
		return err
	}
	runs, err := readRuns(ctx, s, id)
	if err != nil {
		return err
	}
	findings, err := audit.Judge(sources, runs)
	if err != nil {
		return err
	}
	return audit.Write(a.stdout, format, findings)
}

// readRuns reads the run of that id, or else the finished runs of each plan that
// is asked for, each once.
func readRuns(ctx context.Context, s *store.Store, id string) (audit.Runs, error) {
	runs, err := s.Runs(ctx)
	if id != "" {
		var run assay.Run
		if run, err = s.Run(ctx, id); errors.Is(err, store.ErrNotFound) {
			return nil, usage(err, "assay runs lists the runs, assay run quick makes one")
		}
		runs = []assay.Run{run}
	}
	if err != nil {
		return nil, err
	}
	read := map[string]*analysis.Result{}
	return func(plan string) iter.Seq2[*analysis.Result, error] {
		return func(yield func(*analysis.Result, error) bool) {
			for _, run := range runs {
				if run.Plan != plan || id == "" && run.Status != assay.Finished {
					continue
				}
				var err error
				if read[run.ID] == nil {
					read[run.ID], err = lab.Analyze(ctx, s, run.ID)
				}
				if !yield(read[run.ID], err) {
					return
				}
			}
		}
	}, nil
}
