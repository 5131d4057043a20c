package facts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"assay/internal/sys/guard"
	"assay/internal/sys/scratch"
	"assay/kit/process"
	"assay/kit/sqlite"
	"assay/kit/wire"

	"golang.org/x/sync/errgroup"
)

// connections is how many connections each experiment has: a setting counts
// as applied where all of them have it.
const connections = 2

// Worker is the program of a driver at a version.
type Worker struct {
	Program, Driver, Module, Version string
}

// Measure runs all experiments with a driver, in processes of their own and in folders
// below a scratch folder in dir.
func Measure(ctx context.Context, w Worker, dir string) (Facts, error) {
	work, err := scratch.New(dir, "facts-")
	if err != nil {
		return Facts{}, err
	}
	defer work.Remove()
	lab := &lab{worker: w, scratch: work.Path}
	f, err := lab.describe(ctx)
	if err != nil {
		return Facts{}, err
	}
	for _, step := range []func(context.Context, *Facts) error{lab.defaults, lab.effects, lab.readOnlyWAL, lab.pool, lab.memory} {
		if err := step(ctx, &f); err != nil {
			return f, fmt.Errorf("facts of %s: %w", f.At(), err)
		}
	}
	return f, nil
}

type lab struct {
	worker   Worker
	scratch  string
	database []byte // a rollback-journal database with a table
	inGo     bool
	// unchanged are the defaults of a driver that is none of Go: it hands a DSN to SQLite, which
	// knows few parameters. nil for others, which read their own.
	unchanged map[string]string
}

// describe asks the worker what it is, and makes the database.
func (l *lab) describe(ctx context.Context) (Facts, error) {
	f := Facts{Common: Common{Driver: l.worker.Driver, Version: l.worker.Version, On: runtime.GOOS + "/" + runtime.GOARCH, Effects: map[Effect][]string{}},
		Module: l.worker.Module, Memory: map[string]Sharing{}}
	err := l.inWorker(ctx, func(w *process.Worker, folder string) error {
		target, path := w.Hello().Target, filepath.Join(folder, "data.db")
		l.inGo = target.Facts["go"] != ""
		if target.Engine != "sqlite" {
			return &NoDSNError{fmt.Sprintf("driver %s reaches %s: facts are about drivers of SQLite", l.worker.Driver, target.Engine)}
		}
		f.Engine, f.Cgo, f.On = target.EngineVersion, target.Facts["cgo"] == "true", strings.TrimSpace(f.On+" "+target.Facts["go"])
		request := wire.Open{Path: path, Settings: map[string]string{"journal_mode": "delete"}, Readers: 1, Idle: 1, Once: []string{"CREATE TABLE t (n)"}}
		if err := w.Call(ctx, wire.TypeOpen, request, nil); err != nil {
			return err
		}
		if _, err := w.Stop(ctx); err != nil {
			return err
		}
		var err error
		l.database, err = os.ReadFile(path)
		return err
	})
	return f, err
}

// NoDSNError says that a driver takes no DSN of SQLite, and why: it has no such settings. Facts
// beside it have the version of SQLite, where the driver reaches it.
type NoDSNError struct{ why string }

func (e *NoDSNError) Error() string { return e.why }

// inWorker runs a process of the worker in a folder of its own.
func (l *lab) inWorker(ctx context.Context, do func(w *process.Worker, folder string) error) error {
	folder, err := os.MkdirTemp(l.scratch, "facts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	worker, err := process.Start(ctx, l.worker.Program, process.Options{Dir: folder})
	if err != nil {
		return err
	}
	defer worker.Kill()
	return do(worker, folder)
}

// attempt is a DSN to open, in which PATH stands for the database's, and what to read back.
type attempt struct {
	wire.Open
	observe []string
	exists  bool // the database is there before
}

// open opens a DSN in a process of its own.
func (l *lab) open(ctx context.Context, o attempt) (a answer, err error) {
	err = l.inWorker(ctx, func(w *process.Worker, folder string) error {
		o.Path, o.Readers = filepath.Join(folder, "data.db"), connections
		o.DSN = strings.Replace(o.DSN, "PATH", o.Path, 1)
		if o.exists {
			if err := os.WriteFile(o.Path, l.database, 0o600); err != nil {
				return err
			}
		}
		a.asWritten = true
		var read wire.SettingsRead
		err := w.Call(ctx, wire.TypeOpen, o.Open, nil)
		if err == nil {
			err = w.Call(ctx, wire.TypeSettings, wire.Settings{Names: o.observe}, &read)
		}
		if refusal, is := errors.AsType[*wire.Error](err); is {
			a.Refused, a.unsupported, err = refusal.Error(), refusal.Code == wire.Unsupported, nil
		}
		for _, c := range read.Connections {
			a.Connections = append(a.Connections, c.Settings)
		}
		entries, listErr := os.ReadDir(folder)
		a.Literal = slices.ContainsFunc(entries, func(entry os.DirEntry) bool { return strings.Contains(entry.Name(), "?") })
		a.onDisk = len(entries) > 0
		return errors.Join(err, listErr)
	})
	return a, err
}

// accepted is open where a refusal is an error.
func (l *lab) accepted(ctx context.Context, o attempt) (answer, error) {
	a, err := l.open(ctx, o)
	switch {
	case err == nil && a.unsupported:
		err = &NoDSNError{a.Refused}
	case err == nil && a.Refused != "":
		err = errors.New(a.Refused)
	}
	return a, err
}

func (l *lab) defaults(ctx context.Context, f *Facts) error {
	for parameters, settings := range map[string]*map[string]string{"": &f.Defaults, "?_pragma=application_id(7)": &f.BesidePragma} {
		a, err := l.accepted(ctx, attempt{Open: wire.Open{DSN: "file:PATH" + parameters, Idle: connections}, observe: Settings()})
		if err != nil {
			return err
		}
		*settings = a.Connections[0]
	}
	if !l.inGo {
		l.unchanged = f.Defaults
	}
	maps.DeleteFunc(f.BesidePragma, func(name, value string) bool { return f.Defaults[name] == value })
	if len(f.BesidePragma) == 0 {
		f.BesidePragma = nil // as it is read from a file
	}
	return nil
}

// effects tries all options of a DSN.
func (l *lab) effects(ctx context.Context, f *Facts) error {
	return noteEffects(ctx, l, f.Defaults, spellings, f.Effects)
}

// run opens the DSN of each trial, several at a time.
func (l *lab) run(ctx context.Context, trials []trial) ([]answer, error) {
	answers := make([]answer, len(trials))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for _, some := range l.batches(trials) {
		group.Go(func() error {
			return guard.Error(func() error { return l.runSome(ctx, trials, some, answers) })
		})
	}
	return answers, group.Wait()
}

// maxBatch parameters fit into the name of a file, which they are a part of for some drivers.
const maxBatch = 8

// batches returns the trials that one DSN makes, by index: each alone, or where most parameters are
// none to the driver, those of different settings. Ways to open a file stay alone.
func (l *lab) batches(trials []trial) (all [][]int) {
	type kind struct {
		place  string
		exists bool
		nth    int // of its setting
	}
	of, seen := map[kind]int{}, map[string]int{}
	for i, t := range trials {
		setting, _ := sqlite.Lookup(t.Observe[0])
		place := t.Settings[0].Place
		seen[place+t.Observe[0]]++
		k := kind{place, !setting.OfFile, seen[place+t.Observe[0]]}
		at, is := of[k]
		switch {
		case l.unchanged == nil || !slices.ContainsFunc(questions, func(q question) bool { return q.setting == t.Observe[0] && q.pragma }):
			all = append(all, []int{i})
		case is && len(all[at]) < maxBatch:
			all[at] = append(all[at], i)
		default:
			of[k], all = len(all), append(all, []int{i})
		}
	}
	return all
}

// runSome opens one DSN with the settings of some trials. Where that changes anything, it opens
// one for each of them.
func (l *lab) runSome(ctx context.Context, trials []trial, some []int, answers []answer) error {
	setting, _ := sqlite.Lookup(trials[some[0]].Observe[0])
	o := attempt{exists: !setting.OfFile} // those are for new files
	var parameters []string
	for _, i := range some {
		parameters = append(parameters, trials[i].Settings[0].parameter())
		o.observe = append(o.observe, trials[i].Observe...)
	}
	o.Open = wire.Open{DSN: strings.TrimSuffix(trials[some[0]].Settings[0].Place, "?") + "PATH?" + strings.Join(parameters, "&"), Idle: connections}
	a, err := l.open(ctx, o)
	if err != nil {
		return err
	}
	changed := func(settings map[string]string) bool {
		return slices.ContainsFunc(o.observe, func(name string) bool { return settings[name] != l.unchanged[name] })
	}
	if len(some) > 1 && (a.Refused != "" || slices.ContainsFunc(a.Connections, changed)) {
		for _, i := range some {
			if err := l.runSome(ctx, trials, []int{i}, answers); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range some {
		answers[i] = a
	}
	return nil
}

// parameter is one of a DSN.
func (w written) parameter() string { return fmt.Sprintf("%s=%v", w.Key, w.Value) }

// readOnlyWAL asks for WAL on connections that may not write.
func (l *lab) readOnlyWAL(ctx context.Context, f *Facts) error {
	works := f.WorkingIn("journal_mode", true)
	if len(works) == 0 || f.Defaults["journal_mode"] == "wal" {
		return nil
	}
	f.ReadOnlyWAL = map[string]Effect{}
	for _, parameter := range []string{"mode=ro", "immutable=1"} {
		dsn := "file:PATH?" + parameter + "&" + works[0].With("WAL")
		a, err := l.open(ctx, attempt{Open: wire.Open{DSN: dsn, Idle: connections}, observe: []string{"journal_mode"}, exists: true})
		if err != nil {
			return err
		}
		f.ReadOnlyWAL[parameter] = a.effect("journal_mode", "wal", f.Defaults)
	}
	return nil
}

// pool sends a PRAGMA to a pool, with all of its connections kept, and with
// none of them kept while unused: a driver that always keeps all may refuse that.
func (l *lab) pool(ctx context.Context, f *Facts) error {
	sent := attempt{Open: wire.Open{DSN: "file:PATH", Idle: connections, Once: []string{"PRAGMA cache_size = 4321"}}, observe: []string{"cache_size"}}
	kept, err := l.accepted(ctx, sent)
	if err != nil {
		return err
	}
	sent.Idle = 0
	closed, err := l.open(ctx, sent)
	switch {
	case err != nil:
		return err
	case closed.unsupported:
		closed = kept
	case closed.Refused != "":
		return errors.New(closed.Refused)
	}
	f.Exec, f.Reopened = kept.having("cache_size", "4321"), closed.having("cache_size", "4321")
	return nil
}

// memory writes through one connection and looks through each.
func (l *lab) memory(ctx context.Context, f *Facts) error {
	for _, dsn := range memoryDSNs {
		a, err := l.open(ctx, attempt{Open: wire.Open{DSN: dsn, Idle: connections, Once: []string{"PRAGMA user_version = 7"}}, observe: []string{"user_version"}})
		f.Memory[dsn] = Private
		switch {
		case err != nil:
			return err
		case a.onDisk:
			f.Memory[dsn] = OnDisk
		case a.Refused != "":
			f.Memory[dsn] = Refused
		case a.having("user_version", "7") == connections:
			f.Memory[dsn] = Shared
		}
	}
	return nil
}
