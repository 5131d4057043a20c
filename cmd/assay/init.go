package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/dataset"
	"assay/internal/draft"
	"assay/internal/runner/host"
	"assay/internal/sys/file"

	"github.com/spf13/cobra"
)

// initFlags holds what the init subcommand was asked for.
type initFlags struct {
	db, queries, output string
	logs                []string
	force, asRecorded   bool
}

func (a *app) initCommand() *cobra.Command {
	var flags initFlags
	cmd := &cobra.Command{
		Use:   "init --db FILE {--queries FILE | --log FILE}",
		Short: "Draft a plan for your own SQLite file, and its queries or a log of its traffic; the file is only read",
		Long: `Drafts a plan for your own SQLite file. Give a file of queries, logs of your program's traffic, or both.
The database is only read. Of a program with several processes, give the log of each: the plan's mix
has as many.`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.init(cmd.Context(), flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.db, "db", "", "your SQLite file; other programs may use it meanwhile (default the one that the recorder kept)")
	f.StringVar(&flags.queries, "queries", "", "file with SQL statements, separated by semicolons")
	f.StringArrayVar(&flags.logs, "log", nil, "log of your program's traffic, in the format of docs/traffic.md; of several processes, one each, or a folder of them")
	f.BoolVar(&flags.asRecorded, "as-recorded", false, "the database is as it was when recording began, though the file was changed later")
	addFile(cmd, &flags.output, "output", "o", "file of the plan (default the database's name with .yaml, in this folder)")
	f.BoolVar(&flags.force, "force", false, "overwrite the plan")
	return cmd
}

// init drafts a plan and writes it.
func (a *app) init(ctx context.Context, flags initFlags) error {
	if len(flags.logs) == 1 && flags.db == "" && file.CheckRegular(draft.SnapshotOf(flags.logs[0])) == nil {
		flags.db = draft.SnapshotOf(flags.logs[0])
	}
	if flags.db != "" {
		if err := file.CheckRegular(flags.db); err != nil {
			return usage(err)
		}
	}
	if flags.db == "" || flags.queries == "" && len(flags.logs) == 0 {
		return usage(errors.New("--db and --queries are required, or --db and --log; --db may be left out where the recorder kept the database"), "assay help init")
	}
	if flags.output == "" {
		base := filepath.Base(flags.db)
		flags.output = strings.TrimSuffix(base, filepath.Ext(base)) + ".yaml"
	}
	var err error
	if flags.logs, err = filesOf(flags.logs); err != nil {
		return usage(err)
	}
	if err := errors.Join(a.checkFile(flags.output), flags.writable()); err != nil {
		return err
	}
	queries, logs, err := flags.read()
	if err != nil {
		return usage(err)
	}
	d, err := a.draft(ctx, flags, string(queries), logs)
	if errors.As(err, new(*draft.InputError)) {
		return usage(err)
	}
	if err != nil {
		return err
	}
	if err := file.Write(flags.output, []byte(d.Text)); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if d.Recorded != nil {
		if err := file.WritePrivate(draft.RecordedName(flags.output), d.Recorded); err != nil {
			return fmt.Errorf("write the recorded arguments: %w", err)
		}
	}
	a.progress.close()
	a.printDraft(flags.output, d)
	if d.Interrupted {
		return ctx.Err()
	}
	return nil
}

// filesOf are files, and those in the place of a folder that lie in it.
func filesOf(paths []string) (files []string, err error) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		before := len(files)
		for _, e := range entries {
			if file.CheckRegular(filepath.Join(path, e.Name())) == nil && !strings.HasPrefix(e.Name(), ".") && !strings.HasSuffix(e.Name(), draft.SnapshotOf("")) {
				files = append(files, filepath.Join(path, e.Name()))
			}
		}
		if len(files) == before {
			return nil, fmt.Errorf("%s: the folder has no log", path)
		}
	}
	for i, path := range files {
		if slices.ContainsFunc(files[:i], func(other string) bool { return file.Same(other, path) }) {
			return nil, fmt.Errorf("%s: the log is given twice", path)
		}
	}
	return files, nil
}

// read reads the queries and the logs, whichever there are.
func (f initFlags) read() (queries []byte, logs []draft.Log, err error) {
	if f.queries != "" {
		if queries, err = file.Read(f.queries, maxQueries); err != nil {
			return nil, nil, err
		}
	}
	left := int64(maxLogs)
	for _, name := range f.logs {
		data, err := file.Read(name, left)
		if err != nil {
			return nil, nil, err
		}
		left -= int64(len(data))
		logs = append(logs, draft.Log{Name: name, Data: data})
	}
	return queries, logs, nil
}

const (
	maxLogs      = 512 << 20        // bytes of all logs
	maxQueries   = 1 << 20          // bytes of the file of queries
	queryTimeout = 10 * time.Second // of CPU time of what is tried of one query
	totalTimeout = 3 * time.Minute  // of what is tried of all queries
	blockTime    = 10 * time.Second // of the operations of a block, in this process
	copyTimeout  = 30 * time.Minute // of copying the database
)

// draft tries the queries on a copy of the database.
func (a *app) draft(ctx context.Context, flags initFlags, queries string, logs []draft.Log) (*draft.Draft, error) {
	l, err := a.lab(false)
	if err != nil {
		return nil, err
	}
	work, err := l.Workspace()
	if err != nil {
		return nil, err
	}
	defer work.Close()
	drivers, err := l.Source.Catalog()
	if err != nil {
		return nil, err
	}
	return draft.Make(ctx, draft.Options{Database: flags.db, Drivers: drivers, Queries: flags.queries, SQL: queries, Logs: logs, AsRecorded: flags.asRecorded, Plan: flags.output,
		Next:   []string{wording.Command("", "plan", "check", flags.output), wording.Command("", "run", flags.output), wording.Command("", "report")},
		Folder: work.Dir, Timeout: queryTimeout, Total: totalTimeout, CPU: host.SelfCPU, Block: blockTime, CopyTimeout: copyTimeout, Progress: a.progress.Step,
		Estimate: func(data *dataset.Data, cases []assay.Case, launches int) time.Duration {
			return l.Estimate(ctx, data, cases, launches, checkPatience)
		},
		Refused: func(ctx context.Context, driver, path string, data *dataset.Data, operations []assay.Operation) (map[string]error, error) {
			return l.Refused(ctx, driver, path, data, operations, queryTimeout)
		}})
}

// writable says why the plan, or what is recorded, cannot be written where it should.
func (f initFlags) writable() error {
	outputs := []string{f.output}
	if len(f.logs) > 0 {
		outputs = append(outputs, draft.RecordedName(f.output))
	}
	for _, output := range outputs {
		if err := f.free(output); err != nil {
			return err
		}
	}
	return nil
}

func (f initFlags) free(output string) error {
	if err := checkOverwrite(output, slices.Concat([]string{f.db, f.queries}, f.logs, file.OfDatabase(f.db))...); err != nil {
		return err
	}
	_, err := os.Lstat(output)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(output)); err != nil {
			return usage(fmt.Errorf("%s: no such folder", filepath.Dir(output)))
		}
		return nil
	}
	if err != nil {
		return usage(err)
	}
	if !f.force {
		return usage(fmt.Errorf("%s exists already", output), "--force overwrites it; -o FILE writes another one")
	}
	return nil
}

func (a *app) printDraft(path string, d *draft.Draft) {
	fmt.Fprintf(a.stdout, "wrote %s: %s, %s, budget %s\n", path, wording.Plural(len(d.Operations), "operation"), wording.Plural(d.Cells, "cell"), wording.Brief(d.Budget))
	interrupted := ""
	if d.Interrupted {
		interrupted = "drivers were not asked whether they can run the queries; the run shows it"
	}
	for _, said := range []struct {
		about string
		texts []string
	}{
		{"in the log", d.Measured}, {"no replay", []string{d.Unreplayable}}, {"differs from the log", d.Differs}, {"left out", d.LeftOut},
		{"interrupted", []string{interrupted}}, {"assumed", d.Decisions}, {"to do", d.ToDo},
	} {
		for _, text := range slices.DeleteFunc(slices.Clone(said.texts), func(text string) bool { return text == "" }) {
			fmt.Fprintf(a.stdout, "%s: %s\n", said.about, text)
		}
	}
	if len(d.ToDo) > 0 {
		fmt.Fprintln(a.stdout, "write what stands in the plan as TODO, which this finds:", a.commandLine("plan", "check", path))
	} else {
		fmt.Fprintln(a.stdout, "look at the plan, then:", a.commandLine("run", path))
	}
	if d.Mix != "" {
		fmt.Fprintln(a.stdout, "a first answer, of the mix alone:", a.commandLine("run", path, "--only", "operation="+d.Mix, "--budget", "2m"))
	}
}
