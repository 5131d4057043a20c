// Package kvdb makes a worker of a key-value store. It imports no store: a
// worker describes one with [Driver] and implements [Store].
//
//	func main() { os.Exit(kvdb.Main(kvdb.Driver{Name: "bbolt", ...})) }
package kvdb

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/kv"
	"assay/kit/wire"
)

// Driver describes a store's library.
type Driver struct {
	Name    string // the worker's name: bbolt
	Module  string // the library's module, whose version is reported
	Version string // of the library, where no module has it
	Engine  string // the worker's name where it is empty
	// EngineVersion is asked of the engine itself where it can tell; the
	// library's version where it is nil.
	EngineVersion func() string
	Cgo           bool
	Settings      []string // that Open takes, beside none
	// NoScan says why the library cannot scan from a key on; its Store.Scan is
	// then asked for everything only. Empty: it can.
	NoScan string
	// Facts are more that tells this target apart, such as "floor": "true".
	Facts map[string]string
	// Processes says that several processes may have the store open.
	Processes bool
	// Open opens the store, or makes it.
	Open func(Config) (Store, error)
	// Busy reports whether an error means that the operation did not happen
	// because of another one at the same time, and may be tried again; nil
	// where that cannot be.
	Busy func(error) bool
}

// Config is what a store is opened with.
type Config struct {
	Path     string            // of a folder, which exists and is the store's own
	Settings map[string]string // those asked for; the library's defaults for all others
}

// Sync reports whether each commit is to be synced; otherwise is the library's
// default, for where nothing was asked for.
func (c Config) Sync(otherwise bool) bool {
	if asked, ok := c.Settings[kv.Sync]; ok {
		return asked == "1"
	}
	return otherwise
}

// Store is an open key-value store. All methods but Close may be called by
// several goroutines at the same time.
type Store interface {
	// Get appends the key's value to into and returns it. found is false where
	// there is no such key.
	Get(key, into []byte) (value []byte, found bool, err error)
	// Scan visits up to n keys in the order of bytes, from this key on; fewer
	// where there are no more. What is visited is valid during the visit.
	Scan(from []byte, n int, visit func(key, value []byte) error) error
	// Put and Delete commit by themselves, in the form that the library has for
	// single changes.
	Put(key, value []byte) error
	Delete(key []byte) error
	// Update runs a transaction: when it returns nil, all changes are committed
	// and acknowledged.
	Update(func(Writer) error) error
	// Durability is the class that holds with the settings of this store: what
	// the library's documentation promises, or less where assay crash has refuted
	// that: none, process, consistent, last-commit or power.
	Durability() string
	// Effective reads settings back from the library; those that it does not
	// show are absent.
	Effective() map[string]string
	Close() error
}

// Getter is a transaction that can be read in.
type Getter interface {
	// Get is Store.Get. Whether it sees the transaction's own changes is the
	// store's affair.
	Get(key, into []byte) (value []byte, found bool, err error)
}

// Writer is a transaction under way.
type Writer interface {
	Getter
	Put(key, value []byte) error
	Delete(key []byte) error
}

// Viewer is a Store that has read transactions or snapshots.
type Viewer interface {
	// View runs gets that all see the store as it is at one moment, which is not
	// before View was called. It may be called by several goroutines at the same
	// time.
	View(func(Getter) error) error
}

// Settler is a store that can do at once what it would do in the background
// later, such as compacting. It is called after loading.
type Settler interface{ Settle() error }

// Checker is a store whose library looks for damage in all of its files. Its
// error is what was found.
type Checker interface {
	Check() (name string, err error)
}

// Main serves the store as a worker and returns the exit status.
func Main(d Driver) int { return kit.Main(New(d)) }

// New returns the driver as an engine, for tests.
func New(d Driver) kit.Engine { return engine{d} }

type engine struct{ driver Driver }

func (e engine) Capabilities() []string {
	all := []string{wire.CapKV, wire.CapAnswers}
	if e.driver.Processes {
		all = append(all, wire.CapProcesses)
	}
	return all
}

func (e engine) Target() (wire.Target, error) {
	version := e.driver.Version
	if e.driver.Module != "" {
		version = kit.ModuleVersion(e.driver.Module)
	}
	engineVersion := version
	if e.driver.EngineVersion != nil {
		engineVersion = e.driver.EngineVersion()
	}
	facts := map[string]string{"api": "key-value", "cgo": fmt.Sprint(e.driver.Cgo), "go": runtime.Version(),
		"module": e.driver.Module, "pool": "none: one handle that all clients share"}
	maps.Copy(facts, e.driver.Facts)
	if e.driver.Cgo {
		facts["uncounted"] = "B/op and allocs/op leave out what C code allocates"
	}
	return wire.Target{Driver: e.driver.Name, DriverVersion: version, Engine: cmp.Or(e.driver.Engine, e.driver.Name),
		EngineVersion: engineVersion, Facts: facts}, nil
}

func (e engine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	if request.DSN != "" || len(request.Once)+len(request.Each) > 0 {
		return nil, wire.Opened{}, wire.Errorf(wire.Unsupported, "%s takes no DSN and no SQL", e.driver.Name)
	}
	issued := map[string]string{}
	for name, value := range request.Settings {
		if !slices.Contains(e.driver.Settings, name) {
			return nil, wire.Opened{}, wire.Errorf(wire.Unsupported, "%s has no setting %s", e.driver.Name, name)
		}
		issued[name] = value
	}
	if err := os.MkdirAll(request.Path, 0o755); err != nil {
		return nil, wire.Opened{}, err
	}
	store, err := e.driver.Open(Config{request.Path, request.Settings})
	if err != nil {
		return nil, wire.Opened{}, fmt.Errorf("open: %w", err)
	}
	return &database{e.driver, store, request}, wire.Opened{Issued: issued, Durability: store.Durability()}, nil
}

// database is an open store. Its connections are names only: there is one
// handle.
type database struct {
	driver  Driver
	store   Store
	request wire.Open
}

func (d *database) Settings(names []string) ([]wire.Connection, error) {
	effective := d.store.Effective()
	maps.DeleteFunc(effective, func(name, _ string) bool { return !slices.Contains(names, name) })
	var all []wire.Connection
	for i := range d.request.Readers {
		all = append(all, wire.Connection{Name: wire.ReaderName(i), Settings: effective})
	}
	for i := range d.request.Writers {
		all = append(all, wire.Connection{Name: wire.WriterName(i), Settings: effective})
	}
	return all, nil
}

const maxScanned = 1 << 40

// Query answers all keys with their values: behind the key, a column for each
// field that is asked for.
func (d *database) Query(_ string, returns []string, visit func(row []any) error) error {
	var row []any
	return d.store.Scan(nil, maxScanned, func(key, value []byte) (err error) {
		if row, err = cut(append(row[:0], key), value, len(returns)-1); err != nil {
			return err
		}
		return visit(row)
	})
}

// A batch of loading ends at so many records, or bytes: some engines have a
// limit of both.
const (
	loadRecords = 1000
	loadBytes   = 8 << 20
)

func (d *database) Load(records *column.File) error {
	for from := 0; from < records.Rows(); {
		to := batchEnd(records, from)
		batch := func(w Writer) error {
			for row := from; row < to; row++ {
				if err := w.Put(records.Bytes(0, row), records.Bytes(1, row)); err != nil {
					return err
				}
			}
			return nil
		}
		began := time.Now()
		err := d.store.Update(batch)
		for errors.Is(d.busy(err), kit.ErrBusy) && time.Since(began) < kit.BusyPatience {
			err = d.store.Update(batch)
		}
		if err != nil {
			return fmt.Errorf("load the records from %d on: %w", from, err)
		}
		from = to
	}
	if settler, ok := d.store.(Settler); ok {
		return settler.Settle()
	}
	return nil
}

// batchEnd is where the batch that begins at a record ends.
func batchEnd(records *column.File, from int) int {
	bytes := 0
	for row := from; row < records.Rows(); row++ {
		bytes += len(records.Bytes(0, row)) + len(records.Bytes(1, row))
		if row-from == loadRecords-1 || bytes >= loadBytes {
			return row + 1
		}
	}
	return records.Rows()
}

func (d *database) Check() (string, error) {
	checker, ok := d.store.(Checker)
	if !ok {
		return "", wire.Errorf(wire.Unsupported, "%s has no check of its own", d.driver.Name)
	}
	return checker.Check()
}

func (d *database) Splits() int64 {
	if splitter, ok := d.store.(kit.Splitter); ok {
		return splitter.Splits()
	}
	return 0
}

// busy marks errors after which an operation may be tried again.
func (d *database) busy(err error) error {
	if err != nil && d.driver.Busy != nil && d.driver.Busy(err) {
		return errors.Join(kit.ErrBusy, err)
	}
	return err
}

func (d *database) Close() error { return d.store.Close() }
