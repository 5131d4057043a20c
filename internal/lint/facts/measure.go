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

// Measure runs all experiments with a driver, each in a process of its own and
// in a folder below a scratch folder in dir.
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
	for _, step := range []func(context.Context, *Facts) error{lab.defaults, lab.spellings, lab.readOnlyWAL, lab.pool, lab.memory} {
		if err := step(ctx, &f); err != nil {
			return Facts{}, fmt.Errorf("facts of %s: %w", f.Name(), err)
		}
	}
	return f, nil
}

type lab struct {
	worker   Worker
	scratch  string
	database []byte // a rollback-journal database with a table
}

// describe asks the worker what it is, and makes the database.
func (l *lab) describe(ctx context.Context) (Facts, error) {
	f := Facts{Driver: l.worker.Driver, Module: l.worker.Module, Version: l.worker.Version, On: runtime.GOOS + "/" + runtime.GOARCH,
		Effects: map[Effect][]string{}, Memory: map[string]Sharing{}}
	err := l.experiment(ctx, func(e *experiment) error {
		target := e.worker.Hello().Target
		f.Engine, f.Cgo, f.On = target.EngineVersion, target.Facts["cgo"] == "true", strings.TrimSpace(f.On+" "+target.Facts["go"])
		if target.Engine != "sqlite" {
			return &NoSQLiteError{l.worker.Driver, target.Engine}
		}
		request := wire.Open{Path: e.path, Settings: map[string]string{"journal_mode": "delete"}, Readers: 1, Idle: 1, Once: []string{"CREATE TABLE t (n)"}}
		if err := e.worker.Call(ctx, wire.TypeOpen, request, nil); err != nil {
			return err
		}
		if _, err := e.worker.Stop(ctx); err != nil {
			return err
		}
		var err error
		l.database, err = os.ReadFile(e.path)
		return err
	})
	return f, err
}

// NoSQLiteError says that a driver is none of SQLite: it has no such settings.
type NoSQLiteError struct{ Driver, Engine string }

func (e *NoSQLiteError) Error() string {
	return fmt.Sprintf("driver %s reaches %s: facts are about drivers of SQLite", e.Driver, e.Engine)
}

// experiment is one worker process with a folder of its own.
type experiment struct {
	worker *process.Worker
	folder string
	path   string // of the database
}

func (l *lab) experiment(ctx context.Context, do func(*experiment) error) error {
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
	return do(&experiment{worker, folder, filepath.Join(folder, "data.db")})
}

// settings opens a database and returns the settings of each connection. The
// second error is the driver's own refusal.
func (e *experiment) settings(ctx context.Context, request wire.Open, names ...string) ([]map[string]string, error, error) {
	request.Path, request.Readers = e.path, connections
	var read wire.SettingsRead
	err := e.worker.Call(ctx, wire.TypeOpen, request, nil)
	if err == nil {
		err = e.worker.Call(ctx, wire.TypeSettings, wire.Settings{Names: names}, &read)
	}
	if refusal, is := errors.AsType[*wire.Error](err); is {
		return nil, nil, refusal
	}
	var all []map[string]string
	for _, c := range read.Connections {
		all = append(all, c.Settings)
	}
	return all, err, nil
}

// having is how many connections have a value of a setting.
func having(all []map[string]string, setting, value string) int {
	n := 0
	for _, settings := range all {
		if settings[setting] == value {
			n++
		}
	}
	return n
}

func (l *lab) defaults(ctx context.Context, f *Facts) error {
	read := func(parameters string) (settings map[string]string, err error) {
		err = l.experiment(ctx, func(e *experiment) error {
			all, err, refusal := e.settings(ctx, wire.Open{DSN: "file:" + e.path + parameters, Idle: connections}, Settings()...)
			if err := errors.Join(err, refusal); err != nil {
				return err
			}
			settings = all[0]
			return nil
		})
		return settings, err
	}
	var err error
	if f.Defaults, err = read(""); err != nil {
		return err
	}
	if f.BesidePragma, err = read("?_pragma=application_id(7)"); err != nil {
		return err
	}
	maps.DeleteFunc(f.BesidePragma, func(name, value string) bool { return f.Defaults[name] == value })
	if len(f.BesidePragma) == 0 {
		f.BesidePragma = nil // as it is read from a file
	}
	return nil
}

// tried is a spelling with a value that is not the default.
type tried struct {
	Spelling
	value value
}

// value returns the value to try, which is not the default; false where nothing
// could be told.
func (q question) value(f Facts) (value, bool) {
	i := slices.IndexFunc(q.values[:], func(v value) bool { return v.read != "" && v.read != f.Defaults[q.setting] })
	if _, readable := f.Defaults[q.setting]; !readable || i < 0 {
		return value{}, false
	}
	return q.values[i], true
}

// spellings tries every spelling.
func (l *lab) spellings(ctx context.Context, f *Facts) error {
	var trials []tried
	for _, q := range questions {
		v, tells := q.value(*f)
		if !tells {
			continue
		}
		for _, s := range q.spellings() {
			trials = append(trials, tried{s, v})
		}
	}
	return l.try(ctx, f, trials)
}

// try makes trials and notes their effects.
func (l *lab) try(ctx context.Context, f *Facts, trials []tried) error {
	effects := make([]Effect, len(trials))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, t := range trials {
		group.Go(func() error {
			return guard.Error(func() (err error) {
				effects[i], err = l.effect(ctx, t.Spelling, t.value)
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	all := map[Effect][]string{}
	for effect, spellings := range f.Effects {
		all[effect] = slices.Clone(spellings)
	}
	for i, t := range trials {
		if effects[i] != "" {
			all[effects[i]] = append(all[effects[i]], t.String())
		}
	}
	f.Effects = all
	return nil
}

// effect opens a database with a spelling and reads the setting back on every
// connection; empty where nothing can be told.
func (l *lab) effect(ctx context.Context, s Spelling, v value) (effect Effect, err error) {
	err = l.experiment(ctx, func(e *experiment) error {
		if setting, _ := sqlite.Lookup(s.Setting); !setting.OfFile { // those are for new files
			if err := os.WriteFile(e.path, l.database, 0o600); err != nil {
				return err
			}
		}
		all, err, refusal := e.settings(ctx, wire.Open{DSN: s.dsn(e.path, v.written), Idle: connections}, s.Setting)
		literal, globErr := e.literal()
		if err := errors.Join(err, globErr); err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(settings map[string]string) bool { _, known := settings[s.Setting]; return !known }) {
			return nil
		}
		switch {
		case literal:
			effect = Literal
		case refusal != nil:
			effect = Fails
		case having(all, s.Setting, v.read) == len(all):
			effect = Applied
		default:
			effect = Ignored
		}
		return nil
	})
	return effect, err
}

// readOnlyWAL asks for WAL on connections that may not write.
func (l *lab) readOnlyWAL(ctx context.Context, f *Facts) error {
	works := f.Working("journal_mode", true)
	if len(works) == 0 || f.Defaults["journal_mode"] == "wal" {
		return nil
	}
	f.ReadOnlyWAL = map[string]Effect{}
	for _, parameter := range []string{"mode=ro", "immutable=1"} {
		s := works[0]
		s.Key = parameter + "&" + s.Key
		effect, err := l.effect(ctx, s, value{"WAL", "wal"})
		if err != nil {
			return err
		}
		f.ReadOnlyWAL[parameter] = effect
	}
	return nil
}

// literal reports whether the driver made a file whose name has a parameter in it.
func (e *experiment) literal() (bool, error) {
	entries, err := os.ReadDir(e.folder)
	return slices.ContainsFunc(entries, func(entry os.DirEntry) bool { return strings.Contains(entry.Name(), "?") }), err
}

// pool sends a PRAGMA to a pool, with all of its connections kept, and with
// none of them kept while unused.
func (l *lab) pool(ctx context.Context, f *Facts) error {
	for idle, count := range map[int]*int{connections: &f.Exec, 0: &f.Reopened} {
		err := l.experiment(ctx, func(e *experiment) error {
			request := wire.Open{DSN: "file:" + e.path, Idle: idle, Once: []string{"PRAGMA cache_size = 4321"}}
			all, err, refusal := e.settings(ctx, request, "cache_size")
			*count = having(all, "cache_size", "4321")
			return errors.Join(err, refusal)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// memory writes through one connection and looks through each.
func (l *lab) memory(ctx context.Context, f *Facts) error {
	for _, dsn := range memoryDSNs {
		err := l.experiment(ctx, func(e *experiment) error {
			request := wire.Open{DSN: dsn, Idle: connections, Once: []string{"PRAGMA user_version = 7"}}
			all, err, refusal := e.settings(ctx, request, "user_version")
			entries, listErr := os.ReadDir(e.folder)
			if err := errors.Join(err, listErr); err != nil {
				return err
			}
			f.Memory[dsn] = Private
			switch {
			case len(entries) > 0:
				f.Memory[dsn] = OnDisk
			case refusal != nil:
				f.Memory[dsn] = Refused
			case having(all, "user_version", "7") == connections:
				f.Memory[dsn] = Shared
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
