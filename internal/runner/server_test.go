//go:build unix

package runner

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/internal/runner/syncs"
	"assay/kit"
	"assay/kit/column"
	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
	"assay/kit/wire"
)

// servedEngine is a worker of PostgreSQL that asks psql. One named
// served-killer kills its server in the middle of a block, served-crowded gets no
// more than ten connections.
type servedEngine struct{ name string }

func (e servedEngine) Capabilities() []string { return []string{wire.CapSQL, wire.CapPostgreSQL} }

func (e servedEngine) Target() (wire.Target, error) {
	return wire.Target{Driver: e.name, DriverVersion: "v1", Engine: postgres.Engine, EngineVersion: "server"}, nil
}

func (e servedEngine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	if len(request.Settings) > 0 {
		return nil, wire.Opened{}, fmt.Errorf("settings %v are the server's", request.Settings)
	}
	if e.name == "served-crowded" && request.Readers > 10 {
		return nil, wire.Opened{}, errors.New("FATAL: sorry, too many clients already (SQLSTATE 53300)")
	}
	db := servedDatabase{name: e.name, socket: request.Path, readers: request.Readers, writers: request.Writers}
	said, err := db.ask("SHOW server_version")
	if err != nil {
		return nil, wire.Opened{}, err
	}
	return db, wire.Opened{DSN: "host=" + request.Path, EngineVersion: said[0][0]}, nil
}

type servedDatabase struct {
	name, socket     string
	readers, writers int
}

// ask runs one statement and returns the rows of its answer.
func (d servedDatabase) ask(sql string) ([][]string, error) {
	var problems bytes.Buffer
	command := exec.Command("psql", "-X", "-q", "-A", "-t", "-F", "\t", "-h", d.socket, "-p", strconv.Itoa(postgres.Port),
		"-U", postgres.User, "-d", postgres.Database, "-c", sql)
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		return nil, errors.New(problems.String())
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSpace(line), "\t"))
	}
	return rows, nil
}

func (d servedDatabase) Settings(names []string) ([]wire.Connection, error) {
	settings := map[string]string{}
	for _, name := range names {
		rows, err := d.ask("SHOW " + name)
		if err != nil {
			return nil, err
		}
		settings[name] = rows[0][0]
	}
	var all []wire.Connection
	for i := range d.readers {
		all = append(all, wire.Connection{Name: fmt.Sprintf("reader-%d", i+1), Settings: settings})
	}
	for i := range d.writers {
		all = append(all, wire.Connection{Name: fmt.Sprintf("writer-%d", i+1), Settings: settings})
	}
	return all, nil
}

func (d servedDatabase) Prepare(op wire.Operation, trace *column.File) (kit.Operation, error) {
	return servedOperation{d, op, trace}, nil
}

// Query visits answers of whole numbers.
func (d servedDatabase) Query(sql string, _ []string, visit func([]any) error) error {
	rows, err := d.ask(sql)
	if err != nil {
		return err
	}
	for _, row := range rows {
		values := make([]any, len(row))
		for i, text := range row {
			if values[i], err = strconv.ParseInt(text, 10, 64); err != nil {
				return err
			}
		}
		if err := visit(values); err != nil {
			return err
		}
	}
	return nil
}

func (d servedDatabase) Close() error { return nil }

type servedOperation struct {
	servedDatabase
	spec  wire.Operation
	trace *column.File
}

func (o servedOperation) QueryPlan() string { return "" }

func (o servedOperation) Client() (kit.Client, error) { return o, nil }

func (o servedOperation) sql(position int) string {
	text := o.spec.Steps[0].SQL
	for i := range o.spec.Steps[0].Args {
		text = strings.ReplaceAll(text, "$"+strconv.Itoa(i+1), fmt.Sprint(o.trace.Value(i, position)))
	}
	return text
}

func (o servedOperation) Answer(position int, visit func(int, []any) error) error {
	return o.Query(o.sql(position), nil, func(row []any) error { return visit(0, row) })
}

// Do changes one row, or reads.
func (o servedOperation) Do(position int) (int, error) {
	if o.name == "served-killer" && position == 5 {
		text, err := os.ReadFile(filepath.Join(o.socket, "data.db", "postmaster.pid"))
		if err != nil {
			return 0, err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		pid, err := strconv.Atoi(first)
		if err != nil {
			return 0, err
		}
		return 0, errors.Join(errors.New("killed"), syscall.Kill(pid, syscall.SIGKILL))
	}
	sql := o.sql(position)
	if o.name == "served-forger" && o.spec.Changes && position%5 == 4 {
		sql = strings.Replace(sql, "hp = hp + ", "hp = hp - ", 1)
	}
	rows, err := o.ask(sql)
	if o.spec.Changes {
		return 1, err
	}
	return len(rows), err
}

// installed skips a test where PostgreSQL is not installed.
func installed(t *testing.T) {
	t.Helper()
	if _, err := cluster.Find(t.Context()); errors.Is(err, cluster.ErrMissing) {
		t.Skip(err)
	}
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip(err)
	}
}

const served = `name: test
drivers: [DRIVERS]
profiles:
  default: {}
  fast: {synchronous_commit: off, journal_mode: wal}
  lite: {journal_mode: wal}
workload:
  name: monster
  schema: CREATE TABLE monster (id INTEGER PRIMARY KEY, hp INTEGER NOT NULL) STRICT;
  data:
    monster: SELECT value, random(1, 99) FROM generate_series(1, 100)
operations:
`

// A PostgreSQL server is measured beside SQLite: the same data, the same
// answers, the settings that are its own, and what it itself used.
func TestServer(t *testing.T) {
	installed(t)
	b := newBench(t, strings.Replace(served, "DRIVERS", "served, honest", 1)+`  read: {sql: "SELECT id, hp FROM monster WHERE hp >= ? ORDER BY id", args: SELECT 0, rows: 100, returns: [int, int]}
`+insert)
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	must(t, r.Launch(t.Context(), 1, b.Cases))
	var got []string
	for _, trial := range b.trials {
		outcome := string(trial.Outcome)
		if trial.Outcome == assay.OK && trial.Figures["cpu-ns/op"] <= 0 {
			outcome = "used no CPU time"
		}
		got = append(got, strings.Join([]string{trial.Cell.Driver, trial.Cell.Operation, trial.Cell.Profile, outcome, string(trial.Durability)}, " "))
		if trial.Outcome == assay.Unsupported && !strings.Contains(trial.Reason, "profile lite has settings of SQLite only") {
			t.Error(trial.Reason)
		}
		for _, s := range trial.Settings {
			if s.Name == "synchronous_commit" && s.Requested == "off" && (s.Effective != "off" || s.Issued != "-c synchronous_commit=off") {
				t.Errorf("setting %+v", s)
			}
		}
	}
	slices.Sort(got)
	same(t, "trials", slices.Compact(got), []string{
		"honest insert default ok last-commit", "honest insert fast ok power", "honest insert lite ok power",
		"honest read default ok ", "honest read fast ok ", "honest read lite ok ",
		"served insert default ok power", "served insert fast ok consistent", "served insert lite unsupported ",
		"served read default ok ", "served read fast ok ", "served read lite unsupported ",
	})
}

// More clients than a server takes fail their own cell; others are measured.
func TestTooManyClientsOfAServer(t *testing.T) {
	installed(t)
	b := newBench(t, strings.Replace(served, "DRIVERS", "served-crowded", 1)+
		`  read: {sql: "SELECT id, hp FROM monster WHERE id = ?", args: "SELECT random(1, 100)", rows: 1, returns: [int, int], clients: [1, 16], count: 32}
`)
	b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool {
		return c.Cell.Profile != "default"
	})
	launchOnce(t, &b.Config)
	got := map[int]assay.Trial{}
	for _, trial := range b.trials {
		got[trial.Cell.Clients] = trial
	}
	if many := got[16]; many.Outcome != assay.Failed || !strings.Contains(many.Reason, "too many clients already") {
		t.Errorf("16 clients: got %s: %s, want that it failed with what the server says", many.Outcome, many.Reason)
	}
	if one := got[1]; one.Outcome != assay.OK {
		t.Errorf("1 client: got %s: %s, want ok", one.Outcome, one.Reason)
	}
}

// A statement of the schema that PostgreSQL does not end, and SQLite does, costs
// the cells of PostgreSQL, within the plan's timeout.
func TestSchemaThatDoesNotEndInAServer(t *testing.T) {
	installed(t)
	// '10' = 10 is false in SQLite, where a text is no number.
	const circle = "CREATE VIEW circle AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c WHERE '10' = 10) SELECT count(*) AS n FROM c; CREATE TABLE ends AS SELECT n FROM circle; "
	b := newBench(t, strings.NewReplacer("DRIVERS", "served, honest", "CREATE TABLE monster", circle+"CREATE TABLE monster").Replace(served)+read)
	b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Profile != "default" })
	b.Timeout = 3 * time.Second
	began := time.Now()
	got, prepared := unprepared(t, b)
	if took := time.Since(began); took > 25*b.Timeout {
		t.Errorf("it took %s, want little more than the time limit of %s", took, b.Timeout)
	}
	const want = "timed-out: to prepare the data in PostgreSQL: the statement took longer than the time limit (3s): a statement took too long: psql:"
	if cell := got["read served"]; !strings.HasPrefix(cell, want) {
		t.Errorf("read served: got %q, want %q", cell, want)
	}
	if !slices.Contains(prepared, "read honest") {
		t.Errorf("SQLite is not prepared: %v", got)
	}
}

// Rows that portable SQL changes in PostgreSQL are compared with what SQLite makes
// of the same operations: a worker that writes other values has wrong answers. Of
// other SQL the numbers of rows are all that is checked, which is said.
func TestServerRows(t *testing.T) {
	installed(t)
	text := strings.Replace(served, "DRIVERS", "served, served-forger", 1)
	text = strings.Replace(text, "  fast: {synchronous_commit: off, journal_mode: wal}\n  lite: {journal_mode: wal}\n", "", 1)
	text = strings.ReplaceAll(text, "(1, 100)", "(1, 10)") + `  add: {sql: "UPDATE monster SET hp = hp + ?2 WHERE id = ?1", args: "SELECT random(1, 10), random(1, 9)", rows: 1, count: 20}
  other: {sql: "UPDATE monster SET hp = abs(?2) WHERE id = ?1", args: "SELECT random(1, 10), random(1, 9)", rows: 1, count: 10}
`
	b := newBench(t, text)
	launchOnce(t, &b.Config)
	for driver, want := range map[string]map[string]string{
		"served":        {"add": "ok keys ", "other": "ok rows "},
		"served-forger": {"add": "wrong-answer keys after the block, ", "other": "ok rows "},
	} {
		for _, trial := range b.of(driver) {
			got := fmt.Sprintf("%s %s %s", trial.Outcome, trial.Checked, trial.Reason)
			if !strings.HasPrefix(got, want[trial.Cell.Operation]) {
				t.Errorf("%s of %s: got %s, want %s", trial.Cell.Operation, driver, got, want[trial.Cell.Operation])
			}
		}
		if len(b.of(driver)) < 2 {
			t.Errorf("%s: got %d trials, want both operations", driver, len(b.of(driver)))
		}
	}
}

// Calls of the worker alone say nothing of what its server writes.
func TestTraceShowsServer(t *testing.T) {
	calls := []syncs.Call{{Kind: syncs.Write, File: "/w/marks"}, {Kind: syncs.Open, File: "/w/instance/data.db2/x"}}
	if shows(calls, "/w/instance/data.db") {
		t.Error("it shows the server")
	}
	if !shows(append(calls, syncs.Call{Kind: syncs.Open, File: "/w/instance/data.db/global/pg_filenode.map"}), "/w/instance/data.db") {
		t.Error("it does not show the server")
	}
}

// A server that is killed in the middle of a block leaves an outcome with what
// it said last, and nothing else.
func TestServerKilled(t *testing.T) {
	installed(t)
	b := newBench(t, strings.Replace(served, "DRIVERS", "served-killer", 1)+insert)
	launchOnce(t, &b.Config)
	if len(b.trials) == 0 {
		t.Fatal("no trials")
	}
	for _, trial := range b.trials {
		if trial.Cell.Profile == "lite" {
			continue
		}
		if trial.Outcome != assay.Failed || !strings.Contains(trial.Reason, "PostgreSQL ended (signal: killed); the last lines of its log:") ||
			!strings.Contains(trial.Reason, "database system is ready to accept connections") {
			t.Errorf("%s: %s", trial.Outcome, trial.Reason)
		}
	}
	left, err := filepath.Glob(filepath.Join(b.Work.Dir, "instance-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", left, err)
	}
	working, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is right
	for _, link := range working {
		if folder, err := os.Readlink(link); err == nil && strings.HasPrefix(folder, b.Work.Dir) {
			t.Errorf("a process in %s is left", folder)
		}
	}
}

// Each engine takes its own settings of a profile; one that has none of them, and
// others, is not for it.
func TestAdapt(t *testing.T) {
	kvOperation := assay.Operation{Changes: true, Steps: []assay.Step{{KV: wire.Put}}}
	engines := map[string]engine{"pgx": postgresServer{}, "duckdb": duckFile{}, "mattn": sqliteFile{}, "bbolt": keyValueStore{}}
	for _, test := range []struct {
		name, driver string
		settings     map[string]string
		operation    assay.Operation
		file         string
		want         map[string]string
		reason       string
	}{
		{"none", "pgx", nil, assay.Operation{}, "", map[string]string{}, ""},
		{"both", "pgx", map[string]string{"fsync": "off", "synchronous": "1"}, assay.Operation{}, "", map[string]string{"fsync": "off"}, ""},
		{"both", "mattn", map[string]string{"fsync": "off", "synchronous": "1"}, assay.Operation{}, "", map[string]string{"synchronous": "1"}, ""},
		{"other", "pgx", map[string]string{"synchronous": "1"}, assay.Operation{}, "", nil, "says nothing for PostgreSQL"},
		{"other", "mattn", map[string]string{"fsync": "off"}, assay.Operation{}, "", nil, "settings of other engines only"},
		{"store", "pgx", map[string]string{"sync": "1"}, kvOperation, "", map[string]string{"synchronous_commit": "on"}, ""},
		{"store", "mattn", map[string]string{"sync": "1"}, kvOperation, "", map[string]string{"journal_mode": "wal", "synchronous": "2"}, ""},
		{"store", "bbolt", map[string]string{"sync": "1"}, kvOperation, "", map[string]string{"sync": "1"}, ""},
		{"store that is only read", "bbolt", map[string]string{"sync": "1"}, assay.Operation{Steps: []assay.Step{{KV: wire.Get}}}, "", map[string]string{}, ""},
		{"SQL", "bbolt", nil, assay.Operation{}, "", nil, "it runs no SQL"},
		{"both", "duckdb", map[string]string{"memory_limit": "1GiB", "threads": "2", "synchronous": "1"}, assay.Operation{}, "", map[string]string{"memory_limit": "1GiB", "threads": "2"}, ""},
		{"both", "mattn", map[string]string{"memory_limit": "1GiB", "threads": "2"}, assay.Operation{}, "", map[string]string{"threads": "2"}, ""},
		{"other", "duckdb", map[string]string{"fsync": "off"}, assay.Operation{}, "", nil, "says nothing for DuckDB"},
		{"other", "mattn", map[string]string{"memory_limit": "1GiB"}, assay.Operation{}, "", nil, "settings of other engines only"},
		{"store", "duckdb", map[string]string{"sync": "1", "block_cache": "1048576"}, kvOperation, "", map[string]string{}, ""},
		{"store without syncs", "duckdb", map[string]string{"sync": "0"}, kvOperation, "", nil, "DuckDB syncs every commit"},
		{"file", "duckdb", nil, assay.Operation{}, "own.db", nil, "an SQLite file of your own"},
		{"file", "pgx", nil, assay.Operation{}, "own.db", nil, "an SQLite file of your own"},
	} {
		c, err := engines[test.driver].adapt(assay.Case{Cell: assay.Cell{Driver: test.driver}, Operation: test.operation,
			Dataset: assay.Dataset{File: test.file}, Profile: assay.Profile{Name: "p", Settings: test.settings}})
		if test.reason != "" {
			var f *failure
			if !errors.As(err, &f) || f.outcome != assay.Unsupported || !strings.Contains(f.reason, test.reason) {
				t.Errorf("%s with %s: got %v, want unsupported: %s", test.name, test.driver, err, test.reason)
			}
			continue
		}
		if err != nil || !maps.Equal(c.Profile.Settings, test.want) {
			t.Errorf("%s with %s: got %v, %v, want %v", test.name, test.driver, c.Profile.Settings, err, test.want)
		}
	}
}
