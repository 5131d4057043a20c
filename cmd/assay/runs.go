package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/store"
	"assay/internal/sys/file"

	"github.com/spf13/cobra"
)

func (a *app) runsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the runs in the store, newest first; export and import move a run to another store",
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
	cmd.AddCommand(a.exportCommand(), a.importCommand())
	return cmd
}

func (a *app) listRuns(runs []assay.Run) error {
	rows := [][]string{{"RUN", "PLAN", "STARTED", "STATUS", "TARGETS"}}
	for _, run := range runs {
		var targets []string
		for _, t := range run.Targets {
			targets = append(targets, t.Name())
		}
		status := string(run.Status)
		if run.Imported {
			status += ", imported"
		}
		rows = append(rows, []string{run.ID, wording.Clean(run.Plan), run.Started.Local().Format(time.DateTime), status,
			wording.Clean(strings.Join(targets, " "))})
	}
	return writeTable(a.stdout, a.columns(), rows)
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
