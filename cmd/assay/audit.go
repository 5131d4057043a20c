package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/audit"
	"assay/published"
	"assay/report"
	"assay/store"

	"github.com/spf13/cobra"
)

func (a *app) auditCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "audit [RUN]",
		Short: "Hold published claims against a run, or against the newest run of each plan",
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
	s, _, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	sources, err := published.Claims()
	if err != nil {
		return err
	}
	reports, err := claimedRuns(ctx, s, sources, id)
	if err != nil {
		return err
	}
	findings, err := audit.Judge(sources, reports)
	if err != nil {
		return err
	}
	return audit.Write(a.stdout, format, findings, reports)
}

// claimedRuns reads the run of that id, or else the newest finished run of
// each plan that claims are about.
func claimedRuns(ctx context.Context, s *store.Store, sources []published.Source, id string) (map[string]*report.Report, error) {
	reports := map[string]*report.Report{}
	if id != "" {
		r, err := loadReport(ctx, s, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, usage(err, "assay runs lists the runs")
		}
		if err != nil {
			return nil, err
		}
		reports[r.Run.Plan] = r
		return reports, nil
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		for _, claim := range source.Claims {
			i := slices.IndexFunc(runs, func(r assay.Run) bool { return r.Plan == claim.Plan && r.Status == assay.Finished })
			if i < 0 || reports[claim.Plan] != nil {
				continue
			}
			if reports[claim.Plan], err = loadReport(ctx, s, runs[i].ID); err != nil {
				return nil, err
			}
		}
	}
	return reports, nil
}
