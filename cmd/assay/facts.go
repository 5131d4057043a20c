package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"assay"
	"assay/internal/doc"
	"assay/internal/lab"
	"assay/internal/lint/facts"
	"assay/internal/sys/format"
	"assay/kit/kv"

	"github.com/spf13/cobra"
)

// factsFlags holds what the facts subcommand was asked for.
type factsFlags struct {
	outputs[facts.Facts]
	save string
}

var factsFormats = format.List[facts.Facts]{
	{Name: "text", Write: func(out io.Writer, f facts.Facts) error { return doc.WriteList(out, factsDocument(f), 0) }},
	{Name: "json", Write: func(out io.Writer, f facts.Facts) error {
		data, err := facts.Encode(f)
		if err == nil {
			_, err = out.Write(data)
		}
		return err
	}},
}

func (a *app) factsCommand() *cobra.Command {
	var flags factsFlags
	cmd := &cobra.Command{
		Use:   "facts [DRIVER[@VERSION]...]",
		Short: "Find out by experiment which settings of a DSN take effect with a driver at a version",
		Long: `Builds each driver at its version, opens databases with every spelling of every setting,
and reads the settings back on every connection of a pool. assay lint uses these facts.
Without a driver it lists the versions that were measured.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listFacts()
			}
			return a.measureFacts(cmd.Context(), args, flags)
		},
	}
	flags.addFormat(cmd, factsFormats)
	cmd.Flags().StringVar(&flags.save, "save", "", "also write the facts of each version into a file of this folder")
	return cmd
}

// factsDir returns where lint --measure keeps facts.
func factsDir() (string, error) {
	cache, err := cacheDir()
	return filepath.Join(cache, "facts"), err
}

// factsTable returns what assay and this user have measured, and notes what it leaves out.
func (a *app) factsTable() (*facts.Table, error) {
	dir, err := factsDir()
	if err != nil {
		return nil, err
	}
	drivers, err := knownDrivers()
	if err != nil {
		return nil, err
	}
	table, err := facts.Load(drivers, dir)
	if err == nil && len(table.Unknown) > 0 {
		fmt.Fprintf(a.stderr, "assay: note: facts about drivers that are not known are left out; remove what no other checkout needs: %s\n", strings.Join(table.Unknown, ", "))
	}
	return table, err
}

func (a *app) listFacts() error {
	table, err := a.factsTable()
	if err != nil {
		return err
	}
	for _, name := range table.Names() {
		var versions []string
		for _, f := range table.Versions(name) {
			versions = append(versions, strings.TrimPrefix(f.At().String(), name+"@"))
		}
		fmt.Fprintf(a.stdout, "%s: %s\n", name, strings.Join(versions, ", "))
	}
	return nil
}

func (a *app) measureFacts(ctx context.Context, specs []string, flags factsFlags) error {
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	for _, spec := range specs {
		f, err := factsOf(ctx, l, spec)
		if err != nil && ctx.Err() == nil {
			f, err = a.storedFacts(spec, err)
		}
		if err == nil && flags.save != "" {
			_, err = facts.Save(flags.save, f)
		}
		if err == nil {
			err = flags.write(a.stdout, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// storedFacts returns the facts that were measured before, where an experiment cannot be made now
// for a reason.
func (a *app) storedFacts(spec string, reason error) (found facts.Facts, err error) {
	table, err := a.factsTable()
	if err != nil {
		return found, err
	}
	named := assay.ParseDriverName(spec)
	all := table.Versions(named.Name)
	i := slices.IndexFunc(all, func(f facts.Facts) bool { return f.At().String() == named.Name+"@"+named.Version })
	if i < 0 {
		return found, reason
	}
	a.progress.close()
	line, _, _ := strings.Cut(reason.Error(), "\n")
	fmt.Fprintf(a.stderr, "assay: note: these facts were measured before, and not again: %s\n", line)
	return all[i], nil
}

// factsOf runs the experiments with a driver, or with a library, such as django@5.2.19.
func factsOf(ctx context.Context, l *lab.Lab, spec string) (facts.Facts, error) {
	named := assay.ParseDriverName(spec)
	if !slices.Contains(facts.LibraryNames(), named.Name) {
		return l.Facts(ctx, spec)
	}
	version, driver, _ := strings.Cut(named.Version, "+")
	if version == "" {
		return facts.Facts{}, usage(fmt.Errorf("%s: want a version", spec), "for example django@5.2.19, sqlalchemy@2.0.41, or activerecord@7.1.6+1.7.3 with the gem sqlite3 at 1.7.3")
	}
	f, err := facts.MeasureLibrary(ctx, named.Name, version, driver, filepath.Join(l.Cache, "experiments"))
	if errors.Is(err, facts.ErrNoRelease) {
		err = usage(err)
	}
	return f, err
}

// factsDocument shows what was measured of a driver or of a library.
func factsDocument(f facts.Facts) (d doc.Document) {
	grid := doc.Grid{Header: []string{"", ""}}
	add := func(name, text string) { grid.Rows = append(grid.Rows, []string{name, cmp.Or(text, "-")}) }
	defaults := func(values map[string]string) string {
		return fmt.Sprintf("busy_timeout %s, foreign_keys %s, journal_mode %s, synchronous %s", cmp.Or(values["busy_timeout"], "-"),
			kv.Word("foreign_keys", values["foreign_keys"]), values["journal_mode"], kv.Word("synchronous", values["synchronous"]))
	}
	note := ""
	if f.OfLibrary() {
		d.Add(doc.Paragraph, "%s, SQLite %s, measured on %s", f.At(), f.Engine, f.On)
		add("default", defaults(f.Defaults)+", transactions "+f.Defaults[facts.Begin])
		for _, effect := range []facts.Effect{facts.Applied, facts.Ignored, facts.Fails, facts.Literal} {
			add(string(effect), strings.Join(f.Effects[effect], " "))
		}
	} else {
		d.Add(doc.Paragraph, "%s (%s), SQLite %s, measured on %s", f.At(), f.Module, f.Engine, f.On)
		add("default", defaults(f.Defaults))
		for _, name := range slices.Sorted(maps.Keys(f.BesidePragma)) {
			add("with any _pragma in the DSN", name+" "+f.BesidePragma[name])
		}
		add("a PRAGMA by Exec on a pool of 2", fmt.Sprintf("%d have it, %d after the pool closed idle connections", f.Exec, f.Reopened))
		for _, dsn := range slices.Sorted(maps.Keys(f.Memory)) {
			add(dsn, string(f.Memory[dsn]))
		}
		for _, setting := range facts.Settings() {
			add(setting, "works: "+cmp.Or(workingSpellings(f, setting), "-"))
		}
		note = fmt.Sprintf("%d spellings are ignored, %d become part of the file's name: --format json lists them", len(f.Effects[facts.Ignored]), len(f.Effects[facts.Literal]))
	}
	d.AddTable(grid)
	d.AddSome(doc.Footnote, note)
	return d
}

// workingSpellings lists how a setting is written, and where only with file:.
func workingSpellings(f facts.Facts, setting string) string {
	plain := f.WorkingIn(setting, false)
	var all []string
	for _, s := range f.WorkingIn(setting, true) {
		text := s.With("...")
		if !slices.ContainsFunc(plain, func(p facts.Option) bool { return p.Key == s.Key }) {
			text = "file:?" + text
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}
