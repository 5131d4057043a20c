package main

import (
	"context"
	"fmt"
	"strings"

	"assay"
	"assay/internal/history"
	"assay/internal/lab"
	"assay/internal/store"

	"github.com/spf13/cobra"
)

func (a *app) historyCommand() *cobra.Command {
	var out outputs[[]*history.Series]
	var machines bool
	cmd := &cobra.Command{
		Use:   "history CELL...",
		Short: "Show a cell over the runs of one class of machines, and where its ratio to the baseline shifts",
		Long: `Shows the cell's ratio to the baseline of its run, for every finished run on machines like the
newest run's, and finds where it shifts. CELL is an operation and KEY=VALUE for coordinates:
  assay history point-read driver=modernc profile=web rows=100000
With --machines it compares the machines of the store instead, by their finished runs of the newest
one's plan, and says what holds over machines like these.`,
		Args: arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := history.NewFilter(args)
			if err != nil {
				return usage(err)
			}
			if machines {
				return a.overMachines(cmd.Context(), filter, strings.Join(args, " "), out)
			}
			return a.history(cmd.Context(), filter, strings.Join(args, " "), out)
		},
	}
	out.addFormat(cmd, history.Formats())
	cmd.Flags().BoolVar(&machines, "machines", false, "over machines instead of over time")
	return cmd
}

func (a *app) history(ctx context.Context, filter history.Filter, cell string, out outputs[[]*history.Series]) error {
	s, runs, err := a.finishedRuns(ctx, filter)
	if err != nil {
		return err
	}
	defer s.Close()
	same := history.OfClass(runs)
	h := history.New(filter)
	for _, run := range same {
		r, err := lab.Analyze(ctx, s, run.ID)
		if err != nil {
			return err
		}
		h.Add(history.Entries(r))
	}
	series := h.Series()
	if len(series) == 0 {
		return usage(fmt.Errorf("no finished run compares %s with a baseline", cell), "assay report shows the cells of a run; a baseline has no history of its own, and a cell of one launch has no ratio to one")
	}
	if machine := same[0].Machine(); machine != "" {
		fmt.Fprintf(a.stderr, "assay: note: runs of machines like %s\n", machine)
	}
	if others := len(runs) - len(same); others > 0 {
		fmt.Fprintf(a.stderr, "assay: note: runs of other machines that are left out: %d\n", others)
	}
	return out.write(a.stdout, series)
}

// overMachines shows what holds over the machines of the store.
func (a *app) overMachines(ctx context.Context, filter history.Filter, cell string, out outputs[[]*history.Series]) error {
	s, runs, err := a.finishedRuns(ctx, filter)
	if err != nil {
		return err
	}
	defer s.Close()
	results, unknown, err := lab.Machines(ctx, s, runs)
	if err != nil {
		return err
	}
	if unknown > 0 {
		fmt.Fprintf(a.stderr, "assay: note: runs that do not say which machine made them are left out: %d\n", unknown)
	}
	all := history.OverMachines(filter, results)
	if len(all) == 0 {
		return usage(fmt.Errorf("no two machines compare %s with the same baseline by the same plan", cell),
			"measure the same plan, with the same versions, on each machine; share a store, or move runs by assay runs export and import; plan=NAME selects a plan")
	}
	return history.MachineFormats().Write(a.stdout, out.format.Name, all)
}

// finishedRuns opens the store and returns its finished runs that the filter has, the
// newest first.
func (a *app) finishedRuns(ctx context.Context, filter history.Filter) (*store.Store, []assay.Run, error) {
	s, err := a.readStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, filter.Finished(runs), nil
}
