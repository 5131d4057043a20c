package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay"
	"assay/internal/doc"
	"assay/internal/history"
	"assay/internal/lab"
	"assay/internal/store"
	"assay/internal/sys/file"
)

func (a *app) runsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs in the store, newest first; export, import and push bring them to another store",
		Args:  noSubcommand,
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
	cmd.AddCommand(a.exportCommand(), a.importCommand(), a.pushCommand())
	return cmd
}

func (a *app) listRuns(runs []assay.Run) error {
	grid := doc.Grid{Header: []string{"RUN", "PLAN", "STARTED", "STATUS", "TARGETS"}, Prose: true}
	for _, run := range runs {
		var targets []string
		for _, t := range run.Targets {
			targets = append(targets, t.Name())
		}
		status := string(run.Status)
		if run.Imported {
			status += ", imported"
		}
		grid.Rows = append(grid.Rows, []string{run.ID, run.Plan, run.Started.Local().Format(time.DateTime), status, strings.Join(targets, " ")})
	}
	return doc.WriteList(a.stdout, doc.Listing(grid), a.columns())
}

func (a *app) exportCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "export RUN -o FILE",
		Short: "Write a run with all its trials and proofs to one file",
		Args:  arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usage(errors.New("no file to write"), "name one: -o "+args[0]+".assay")
			}
			if err := checkPlace(output); err != nil {
				return usage(err)
			}
			return a.export(cmd.Context(), args[0], output)
		},
	}
	addFile(cmd, &output, "output", "o", "file to write")
	return cmd
}

func (a *app) export(ctx context.Context, id, path string) error {
	s, err := a.readStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	var data bytes.Buffer
	run, err := s.Export(ctx, id, &data)
	if errors.Is(err, store.ErrNotFound) {
		return usage(err, "assay runs lists the runs")
	}
	if err != nil {
		return err
	}
	if err := file.Write(path, data.Bytes()); err != nil {
		return fmt.Errorf("write the run: %w", err)
	}
	fmt.Fprintf(a.stderr, "%s: run %s of plan %s, %d bytes\n", path, run.ID, run.Plan, data.Len())
	return nil
}

func (a *app) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Import a run from a file of assay runs export",
		Args:  arguments(1, 1),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.importFile(cmd.Context(), args[0]) },
	}
}

func (a *app) importFile(ctx context.Context, path string) error {
	in, err := file.Open(path)
	if err != nil {
		return usage(err)
	}
	defer in.Close()
	if err := store.CheckImport(ctx, in, store.MaxUnpacked); err != nil { // before a store is made
		return notImported(path, err)
	}
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	run, added, err := s.Import(ctx, in, store.MaxUnpacked)
	if err != nil {
		return notImported(path, err)
	}
	if !added {
		fmt.Fprintf(a.stderr, "run %s is there already: nothing was changed\n", run.ID)
		return nil
	}
	fmt.Fprintf(a.stderr, "imported run %s of plan %s; show it with: %s\n", run.ID, run.Plan, a.commandLine("report", run.ID))
	return nil
}

// notImported makes wrong usage of what the file is to blame for.
func notImported(path string, err error) error {
	if errors.As(err, new(*store.ImportError)) {
		return usage(fmt.Errorf("%s: %w", path, err), "nothing was added; assay runs export writes such a file")
	}
	return fmt.Errorf("%s: %w", path, err)
}

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
	results, unknown, unlike, err := lab.Machines(ctx, s, runs)
	if err != nil {
		return err
	}
	if unknown > 0 {
		fmt.Fprintf(a.stderr, "assay: note: runs that do not say which machine made them are left out: %d\n", unknown)
	}
	if unlike > 0 {
		fmt.Fprintf(a.stderr, "assay: note: runs of other data, of another version of assay or with other launches are left out: %d\n", unlike)
	}
	all := history.OverMachines(filter, results)
	if len(all) == 0 {
		return usage(fmt.Errorf("no two machines compare %s by the same metric with the same baseline by the same plan", cell),
			"measure the same plan, with the same versions, on each machine, busy or quiet alike; share a store, or move runs by assay runs export and import; plan=NAME selects a plan")
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
