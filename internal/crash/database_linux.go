package crash

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/kit/duckdb"
	"assay/kit/kv"
	"assay/kit/postgres"
	"assay/kit/process"
	"assay/kit/wire"
)

const (
	// callPatience is how long a worker may take for one answer. A database that
	// takes longer to open is one that does not open.
	callPatience = 20 * time.Second
	putName      = "put"
)

type database struct {
	task   Task
	worker *process.Worker
	native bool  // a key-value store
	duck   bool  // DuckDB, which has the words of PostgreSQL for types, and a file like SQLite
	server *host // that the worker is a client of; nil where the engine is in the worker
	opened wire.Opened
	took   time.Duration // opening it
}

// createTable makes the workload's table where it is missing: a power cut while
// the database was made can leave a database without it. It has an index beside it, which
// the engine's own check compares, and not every engine has tables without rowid.
var createTable = strings.NewReplacer("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", " WITHOUT ROWID", "").Replace(kv.Schema)

// errStart says that a program did not start, which no database is to blame for.
var errStart = errors.New("start")

// open starts a fresh worker and opens the database at path, making it where it
// does not exist; under is a program with arguments that runs the worker.
func (l *lane) open(ctx context.Context, t Task, path string, under ...string) (*database, error) {
	worker, err := process.Start(ctx, t.Program, process.Options{Dir: l.work, Under: append(l.inside(), under...)})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errStart, err)
	}
	capabilities := worker.Hello().Capabilities
	if err := unfit(capabilities, t); err != nil {
		worker.Kill()
		return nil, err
	}
	db := &database{task: t, worker: worker, native: slices.Contains(capabilities, wire.CapKV), duck: slices.Contains(capabilities, wire.CapDuckDB)}
	began := time.Now()
	if isClient(capabilities) {
		err = db.connect(ctx, l, path)
	} else {
		err = db.call(ctx, wire.TypeOpen, db.request(path), &db.opened)
	}
	if err != nil {
		db.kill()
		return nil, err
	}
	db.took = time.Since(began)
	return db, nil
}

func (db *database) request(path string) wire.Open {
	t, request := db.task, wire.Open{Path: path, Settings: db.task.Settings, Writers: 1}
	escape := strings.NewReplacer("{{path}}", strings.ReplaceAll(path, "'", "''"))
	table := createTable
	switch {
	case db.duck:
		request.Settings, _ = duckdb.Settings.Own(t.Settings)
		table = postgres.Schema(createTable)
	case !db.native:
		request.Settings = kv.InSQLite(t.Settings)
	}
	if !db.native {
		for _, text := range t.Each {
			request.Each = append(request.Each, escape.Replace(text))
		}
		for _, text := range t.Once {
			request.Once = append(request.Once, escape.Replace(text))
		}
		request.Once = append(request.Once, table)
	}
	if t.DSN != "" {
		request.DSN = strings.ReplaceAll(t.DSN, "{{path}}", path)
	}
	return request
}

// connect starts the server on its data at path, and opens a connection to it.
func (db *database) connect(ctx context.Context, l *lane, path string) error {
	settings, err := settingsOfServer(db.task)
	if err != nil {
		return err
	}
	if db.server, err = l.startHost(path, settings); err != nil {
		return err
	}
	request := wire.Open{Path: db.server.socket, Writers: 1, Each: db.task.Each,
		Once: append(slices.Clone(db.task.Once), postgres.Schema(createTable))}
	return db.call(ctx, wire.TypeOpen, request, &db.opened)
}

func (db *database) kill() {
	db.worker.Kill()
	_ = db.server.kill() // it may have ended by itself
}

func isClient(capabilities []string) bool {
	return slices.Contains(capabilities, wire.CapPostgreSQL)
}

// unfit says why a worker cannot run the workload under a task's fault; nil where it can.
func unfit(capabilities []string, t Task) error {
	switch {
	case isClient(capabilities) && t.FileSystem == assay.Tmpfs:
		return wire.Errorf(wire.Unsupported, "%s is a client of a server, which is started as a user of its own: it needs a disk that runs full, which needs root. Run it with sudo", t.Driver)
	case isClient(capabilities) && about(t.Fault).level == fileLevel:
		return wire.Errorf(wire.Unsupported, "%s is a client of a server, whose files are another user's: the model of files is for engines in the worker's own process. Cut the power of a disk (--faults power), which needs root", t.Driver)
	case about(t.Fault).shared && (isClient(capabilities) || slices.Contains(capabilities, wire.CapKV) || slices.Contains(capabilities, wire.CapDuckDB)):
		return wire.Errorf(wire.Unsupported, "%s has no write-ahead log of SQLite that a second process can copy", t.Driver)
	case len(capabilities) == 0: // one with calls alone may run the workload's SQL: it says so itself
		return wire.Errorf(wire.Unsupported, "%s runs neither SQL nor the operations of a key-value store", t.Driver)
	}
	return nil
}

func (db *database) call(ctx context.Context, kind string, request, reply any) error {
	limited, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	if err := db.worker.Call(limited, kind, request, reply); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

// claimed is the class that the settings promise, and those settings, as they
// are read back; what a store does not show is as it was asked for.
func (db *database) claimed(ctx context.Context) (assay.Durability, map[string]string, error) {
	names := []string{"journal_mode", "synchronous", "memory"}
	switch {
	case db.native:
		names = []string{kv.Sync}
	case db.duck:
		names = []string{"checkpoint_threshold"}
	case db.server != nil:
		names = []string{"fsync", "full_page_writes", "synchronous_commit"}
	}
	var read wire.SettingsRead
	if err := db.call(ctx, wire.TypeSettings, wire.Settings{Names: names}, &read); err != nil {
		return "", nil, err
	}
	class, settings := kv.Claimed(db.worker.Hello().Capabilities, db.opened, read.Connections)
	if settings == nil {
		return "", nil, errors.New("the worker read back no setting of a writer")
	}
	if asked, ok := db.task.Settings[kv.Sync]; ok && db.native && settings[kv.Sync] == "" {
		settings = map[string]string{kv.Sync: asked}
	}
	return assay.Durability(class), settings, nil
}

// prepare makes the workload's operation ready.
func (db *database) prepare(ctx context.Context, arguments string) error {
	operation := wire.Operation{Name: putName, Trace: arguments, Changes: true, Transaction: rowsPerTransaction,
		Steps: []wire.Step{{SQL: kv.Put, KV: wire.Put, Args: 2, Rows: 1}}}
	switch {
	case db.native:
		operation.Steps[0].SQL = ""
	case db.server != nil:
		operation = postgres.Operation(operation)
	}
	return db.call(ctx, wire.TypePrepare, wire.Prepare{Operation: operation, Clients: 1}, nil)
}

// write commits transactions, with a mark after each where marks is given.
func (db *database) write(ctx context.Context, from, count int, marks string) error {
	var m wire.Measured
	request := wire.Measure{Operation: putName, Start: int64(from * rowsPerTransaction), Operations: int64(count * rowsPerTransaction), Marks: marks}
	if err := db.call(ctx, wire.TypeMeasure, request, &m); err != nil {
		return err
	}
	if m.Errors+m.Misses > 0 {
		return fmt.Errorf("%d transactions failed: %s%s", m.Errors+m.Misses, m.Error, m.Miss)
	}
	return nil
}

// all digests every key with its value.
func (db *database) all(ctx context.Context) (wire.Verified, error) {
	request := wire.Verify{SQL: kv.All, Returns: []string{"blob", "blob"}}
	if db.native {
		request = wire.Verify{All: true, Returns: request.Returns}
	}
	var found wire.Verified
	err := db.call(ctx, wire.TypeVerify, request, &found)
	return found, err
}

// check runs the engine's own check.
func (db *database) check(ctx context.Context) error {
	if db.native {
		err := db.call(ctx, wire.TypeCheck, nil, nil)
		if remote := (*wire.Error)(nil); errors.As(err, &remote) && remote.Code == wire.Unsupported {
			return nil // reading everything is all there is
		}
		return err
	}
	if db.server != nil {
		return db.server.check(ctx)
	}
	if db.duck {
		return nil // it has no check of its own
	}
	const check = "PRAGMA integrity_check" // the only table has no foreign keys
	var found wire.Verified
	err := db.call(ctx, wire.TypeVerify, wire.Verify{SQL: check, Returns: []string{"text"}}, &found)
	if err == nil && (found.Digest != digestOK || found.Rows != 1) {
		err = fmt.Errorf("%s answered %d rows, and not ok", check, found.Rows)
	}
	return err
}

// close ends the worker; its error is that of closing the database.
func (db *database) close(ctx context.Context) error {
	_, err := db.worker.Stop(ctx)
	return errors.Join(err, db.server.stop())
}

// dataName is the file, or the folder, of the database.
const dataName = "data.db"

func dataPath(folder string) string { return filepath.Join(folder, dataName) }
