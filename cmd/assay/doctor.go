package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"assay"
	"assay/internal/advisories"
	"assay/internal/dataset"
	"assay/internal/doc"
	"assay/internal/doctor"
	"assay/internal/lab"
	"assay/internal/runner/host"
	"assay/internal/runner/syncs"
	"assay/internal/sys/file"
	"assay/internal/sys/format"
	"assay/kit/process"
	"assay/kit/sqlite"
	"assay/kit/wire"

	"github.com/spf13/cobra"
)

// doctorFlags holds what the doctor subcommand was asked for.
type doctorFlags struct {
	outputs[examined]
	queries, driver, dsn string
	disk                 bool
}

// examined holds what was found in a file.
type examined struct {
	path     string
	found    []doctor.Finding
	settings map[string]string // of a connection; nil: not asked for
	asked    []doctor.Asked    // parameters of its DSN
}

// wrong reports whether something is, beside what could not be checked.
func (e examined) wrong() bool {
	return slices.ContainsFunc(e.found, func(f doctor.Finding) bool { return f.Problem != doctor.NotChecked })
}

var doctorFormats = format.List[examined]{
	{Name: "text", Write: func(out io.Writer, e examined) error { return doc.WriteList(out, e.document(), 0) }},
	{Name: "json", Write: func(out io.Writer, e examined) error { return format.JSON(out, append([]doctor.Finding{}, e.found...)) }},
}

func (e examined) document() (d doc.Document) {
	for i, f := range e.found {
		d.AddLines(doc.Code, fmt.Sprintf("%d. %s: %s\n   %s\n   fix: %s", i+1, f.Problem, f.Says, f.Evidence, f.Fix))
	}
	if !e.wrong() {
		d.AddLines(doc.Code, e.path+": nothing found")
	}
	return append(d, e.readBack()...)
}

func (a *app) doctorCommand() *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor FILE",
		Short: "Say what is wrong with an SQLite file, its disk and an application's settings; the file is only read",
		Long: `Copies the file with SQLite's backup API, even while programs write to it, and examines the copy.
With --queries it also checks the query plans. With --driver and --dsn it opens the copy as the
application would, and prints what the DSN asks for and what the settings read back as. Exit status 1: there are findings.`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.doctor(cmd.Context(), args[0], flags) },
	}
	f := cmd.Flags()
	flags.addFormat(cmd, doctorFormats)
	f.StringVar(&flags.queries, "queries", "", "file with the application's SQL statements, separated by semicolons")
	f.StringVar(&flags.driver, "driver", "", "driver of the application, NAME[@VERSION], to read its settings back")
	f.StringVar(&flags.dsn, "dsn", "", "the application's DSN; it must name FILE, by any path")
	f.BoolVar(&flags.disk, "disk", false, "also measure how many syncs the disk does, with a file in the folder that is removed again")
	return cmd
}

func (f doctorFlags) check(path string) error {
	if (f.driver == "") != (f.dsn == "") {
		return usage(errors.New("--driver and --dsn go together"), "assay drivers lists the drivers")
	}
	if err := file.CheckRegular(path); err != nil {
		return usage(err)
	}
	if _, same := onCopy(f.dsn, path, ""); f.dsn != "" && !same {
		return usage(fmt.Errorf("--dsn %q does not name %s: the settings are read back on a copy that takes its place", f.dsn, path),
			"paths in the DSN begin in the folder that assay runs in")
	}
	return nil
}

func (a *app) doctor(ctx context.Context, path string, flags doctorFlags) error {
	a.failed = statusUsage
	if err := flags.check(path); err != nil {
		return err
	}
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	work, err := l.Workspace()
	if err != nil {
		return err
	}
	defer work.Close()
	options := doctor.Options{Path: path, Folder: work.Dir, Copy: dataset.Snapshot, Disk: func(folder string) string { _, why := host.Persistence(folder); return why }}
	if flags.queries != "" {
		text, err := file.Read(flags.queries, maxQueries)
		if err != nil {
			return usage(err)
		}
		options.Queries = doctor.Split(string(text))
	}
	if flags.disk {
		if options.SyncRate, err = syncs.Rate(filepath.Dir(path)); err != nil {
			return err
		}
	}
	if flags.driver != "" {
		if err := a.readSettings(ctx, l, work.Dir, flags, &options); err != nil {
			return err
		}
	}
	found, err := doctor.Examine(ctx, options)
	if errors.As(err, new(*doctor.InputError)) {
		return usage(err)
	}
	if err != nil {
		return err
	}
	a.progress.close()
	result := examined{path, found, options.Settings, options.Asked}
	if err := flags.write(a.stdout, result); err != nil {
		return err
	}
	if result.wrong() {
		return &exitError{status: statusFailed}
	}
	return nil
}

// readSettings opens a copy as the application opens its file, and reads back
// what connections have.
func (a *app) readSettings(ctx context.Context, l *lab.Lab, folder string, flags doctorFlags, options *doctor.Options) error {
	program, err := l.Build(ctx, flags.driver)
	if err != nil {
		return err
	}
	table, err := a.factsTable()
	if err != nil {
		return err
	}
	f, _ := table.Find(program.Name, program.Version)
	copied := filepath.Join(folder, "settings.db")
	if err := dataset.Snapshot(ctx, options.Path, copied); doctor.Damaged(err) {
		return nil // a finding, and nothing else is looked at then
	} else if err != nil {
		return err
	}
	dsn, _ := onCopy(flags.dsn, options.Path, copied)
	options.Asked = askedBy(flags.dsn, f)
	said, settings, err := settingsOf(ctx, program.Program, wire.Open{Path: copied, DSN: dsn, Readers: 1, Idle: 1})
	if errors.As(err, new(*wire.Error)) {
		return usage(fmt.Errorf("driver %s cannot open %q: %w", flags.driver, flags.dsn, err))
	}
	if err != nil {
		return err
	}
	wal, err := sqlite.IsWAL(options.Path)
	options.Settings, options.Bugs = settings, bugsOf(said, program.Version, wal || settings["journal_mode"] == "wal")
	return err
}

// bugsOf are the known faults of what a worker is made of, but for those of attached
// databases: few programs have some.
func bugsOf(said wire.Target, version string, wal bool) (all []doctor.Finding) {
	for _, bug := range advisories.OfTarget(assay.Target{Engine: said.Engine, EngineVersion: said.EngineVersion, DriverVersion: version, Facts: said.Facts}) {
		if bug.Attached || bug.WAL && !wal {
			continue
		}
		all = append(all, doctor.Finding{Problem: "known-bug", Says: bug.Sentence(),
			Evidence: fmt.Sprintf("%s %s has %s %s", said.Driver, version, said.Engine, said.EngineVersion),
			Fix:      "use a build with " + strings.Join(bug.Fixed, " or ") + " or newer: " + bug.URL})
	}
	return all
}

// settingsOf asks a worker what it is made of, and which settings a connection has.
func settingsOf(ctx context.Context, program string, open wire.Open) (said wire.Target, settings map[string]string, err error) {
	worker, err := process.Start(ctx, program, process.Options{Dir: filepath.Dir(open.Path)})
	if err != nil {
		return said, nil, err
	}
	defer worker.Kill()
	var read wire.SettingsRead
	err = worker.Call(ctx, wire.TypeOpen, open, nil)
	if err == nil {
		err = worker.Call(ctx, wire.TypeSettings, wire.Settings{Names: sqlite.Settings.Names()}, &read)
	}
	if err == nil && len(read.Connections) > 0 {
		settings = read.Connections[0].Settings
	}
	return worker.Hello().Target, settings, err
}
