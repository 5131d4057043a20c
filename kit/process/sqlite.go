//go:build unix

package process

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/kit/answer"
	"assay/kit/opening"
	"assay/kit/proof"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// sqliteWorker is what assay does itself for a worker of SQLite that runs queries: it
// maps settings, reads them back, copies files into memory, and digests answers.
type sqliteWorker struct {
	*digester
	ctx         context.Context // of the call
	connections []string        // of the open database
	others      int             // connections that were opened beside them
	proof       *proof.Proof
}

// call answers a request, by queries where the worker needs not know it.
func (w *sqliteWorker) call(ctx context.Context, kind string, request, reply any) (err error) {
	w.ctx = ctx
	switch r := request.(type) {
	case wire.Open:
		opened, err := w.open(r)
		return into(reply, opened, err)
	case wire.Settings:
		read, err := w.settings(r)
		return into(reply, read, err)
	case wire.Prepare:
		var prepared wire.Prepared
		if err = w.digester.call(ctx, kind, r, &prepared); err == nil && prepared.QueryPlan == "" {
			prepared.QueryPlan = w.queryPlan(r.Operation)
		}
		return into(reply, prepared, err)
	case wire.Verify:
		if r.SQL != "" {
			verified, err := w.verifySQL(r)
			return into(reply, verified, err)
		}
	}
	return w.digester.call(ctx, kind, request, reply)
}

// source is how a request's settings are given to SQLite: by the URI and by PRAGMAs. What
// neither can is left to the worker.
func (w *sqliteWorker) source(request wire.Open) (s *opening.Source, left map[string]string, err error) {
	settings, left := map[string]string{}, map[string]string{}
	for name, value := range request.Settings {
		switch {
		case name == wire.Begin, name == "mutex" && request.DSN == "" && w.has(wire.CapMutex):
			left[name] = value
		case request.DSN == "":
			settings[name] = value
		}
	}
	request.Settings = settings
	s, err = opening.NewSource(request, sqlite.MemoryDSN(request.Readers+request.Writers > 1), func(name, _ string) (parameter, otherwise string, err error) {
		switch {
		case name == "mutex":
			return "", "", wire.Errorf(wire.Unsupported, "this worker has no way to set mutex")
		case !sqlite.IsWord(name):
			return "", "", wire.Errorf(wire.Invalid, "%q is no setting", name)
		}
		return "", "", nil
	})
	return s, left, err
}

func (w *sqliteWorker) open(request wire.Open) (opened wire.Opened, err error) {
	s, left, err := w.source(request)
	if err != nil {
		return opened, err
	}
	if engine := w.hello.Target.Engine; s.Memory && engine != "sqlite" {
		return opened, wire.Errorf(wire.Unsupported, "files are copied into memory by SQL of SQLite, which %s does not have all", engine)
	}
	private := s.Memory && request.Readers+request.Writers == 1
	if s.Memory && !private {
		if err := w.load(request.Path, s.DSN); err != nil {
			return opened, err
		}
	}
	sent := request
	sent.DSN, sent.Each, sent.Settings = s.DSN, s.Each, left
	if request.DSN != "" || s.Memory { // which a driver that takes no URI refuses
		sent.Path = ""
	}
	if private {
		sent.Once = nil // it is for a database with its content
	}
	if err := w.Worker.call(w.ctx, wire.TypeOpen, sent, &opened); err != nil {
		return opened, err
	}
	w.proof = proof.New(w.prover(), request)
	w.connections = nil
	for i := range request.Readers {
		w.connections = append(w.connections, wire.ReaderName(i))
	}
	for i := range request.Writers {
		w.connections = append(w.connections, wire.WriterName(i))
	}
	if private {
		if err := w.fill(request); err != nil {
			return opened, err
		}
	}
	opened.DSN = cmp.Or(opened.DSN, s.DSN)
	if opened.Each == nil { // it has run all of them as they are
		opened.Each = s.Each
	}
	maps.Copy(s.Issued, opened.Issued)
	opened.Issued = s.Issued
	return opened, nil
}

// fill copies the file into the database in memory of the only connection.
func (w *sqliteWorker) fill(request wire.Open) error {
	memory := connection{w, w.connections[0]}
	err := opening.Fill(memory, w.prover(), request.Path, "")
	for i := 0; i < len(request.Once) && err == nil; i++ {
		err = memory.Exec(request.Once[i])
	}
	return err
}

// load copies a file into the database in memory that connections share, which lives while a connection is open.
func (w *sqliteWorker) load(path, dsn string) error {
	var major, minor int
	const shares = 36 // the minor version from which databases in memory are shared
	if _, err := fmt.Sscanf(w.hello.Target.EngineVersion, "%d.%d", &major, &minor); err != nil || major < 3 || major == 3 && minor < shares {
		return wire.Errorf(wire.Unsupported, "SQLite %s does not share databases in memory: 3.%d does", w.hello.Target.EngineVersion, shares)
	}
	memory, err := w.connect("memory", dsn)
	if err != nil {
		return err
	}
	return opening.Fill(memory, w.prover(), path, "")
}

// settings reads settings back on each connection.
func (w *sqliteWorker) settings(request wire.Settings) (read wire.SettingsRead, err error) {
	for _, name := range w.connections {
		c := connection{w, name}
		settings := opening.Settings{Proof: w.proof, Conn: withPragmas{c, c.pragmas(request.Names)},
			Begin: func() error { return c.control("begin") }, Rollback: func() error { return c.control("rollback") }}
		shown, err := wire.ReadSettings(name, request.Names, settings.Read)
		if err != nil {
			return read, err
		}
		read.Connections = append(read.Connections, shown)
	}
	return read, nil
}

// withPragmas is a connection some of whose PRAGMAs were read: rows by their SQL.
type withPragmas struct {
	connection
	read map[string][][]string
}

func (c withPragmas) Texts(text string) ([][]string, error) {
	if rows, read := c.read[text]; read {
		return rows, nil
	}
	return c.connection.Texts(text)
}

// readSingly are settings that no query of several PRAGMAs tells: begin and mutex are none, mmap_size
// and wal_autocheckpoint no tables, and what a worker knows of busy_timeout and mutex it says to its PRAGMA.
var readSingly = []string{wire.Begin, "mutex", "mmap_size", "wal_autocheckpoint", "busy_timeout"}

// pragmas reads PRAGMAs by one query, since a request for each took a fifth of a run. It
// returns none where SQLite has not all of them as tables.
func (c connection) pragmas(names []string) map[string][][]string {
	var each []string
	for _, name := range names {
		if sqlite.IsWord(name) && !proof.Proves(name) && !slices.Contains(readSingly, name) {
			each = append(each, fmt.Sprintf("SELECT 'PRAGMA %s', * FROM pragma_%[1]s", name))
		}
	}
	if len(each) == 0 {
		return nil
	}
	rows, err := c.Texts(strings.Join(each, " UNION ALL "))
	if err != nil || slices.ContainsFunc(rows, func(row []string) bool { return len(row) != 2 }) {
		return nil
	}
	read := map[string][][]string{}
	for _, row := range rows {
		read[row[0]] = [][]string{row[1:]}
	}
	return read
}

// queryPlan is how SQLite does an operation: a line for each detail, or for each part of a mix.
func (w *sqliteWorker) queryPlan(op wire.Operation) string {
	c := connection{w, wire.ReaderName(0)}
	if op.Changes {
		c.name = wire.WriterName(0)
	}
	var lines []string
	for _, step := range op.Steps {
		if step.Script || step.SQL == "" { // only a single statement can be explained
			continue
		}
		rows, _ := c.Texts("EXPLAIN QUERY PLAN " + step.SQL) // it may be one that has no plan
		for _, row := range rows {
			if len(row) > 0 {
				lines = append(lines, row[len(row)-1])
			}
		}
	}
	plan := strings.Join(lines, "\n")
	for _, part := range op.Parts {
		plan += part.Name + ": " + w.queryPlan(part) + "\n"
	}
	return plan
}

// verifySQL digests what SQL answers.
func (w *sqliteWorker) verifySQL(request wire.Verify) (verified wire.Verified, err error) {
	steps := answer.NewSteps([]wire.Step{{Query: true, Returns: request.Returns}})
	add := digesting(steps)
	query := wire.Query{Connection: w.connections[0], SQL: request.SQL}
	err = w.query(query, func(row []any) error { return add(0, row) })
	return wire.Verified{Digest: steps.Sum(), Rows: steps.Rows()}, err
}

// maxColumns is how many a row has at most, by SQLite's own upper limit.
const maxColumns = 32767

// query has the worker run SQL, and visits the rows.
func (w *sqliteWorker) query(request wire.Query, visit func([]any) error) error {
	_, err := w.request(w.ctx, wire.TypeQuery, maxColumns, func(path string) any {
		request.Rows = path
		return request
	}, nil, func(_ unitRows, each eachRow) error {
		return each(func(_ int, row []any) error { return visit(row) })
	})
	return err
}

// connection is one of a worker's connections, for proofs and copies.
type connection struct {
	*sqliteWorker
	name string
}

// connect opens a connection beside those of the database.
func (w *sqliteWorker) connect(name, dsn string) (connection, error) {
	c := connection{w, name}
	return c, w.Worker.call(w.ctx, wire.TypeQuery, wire.Query{Connection: name, DSN: dsn, SQL: "SELECT 1"}, nil)
}

func (c connection) control(what string) error {
	return c.Worker.call(c.ctx, wire.TypeQuery, wire.Query{Connection: c.name, Control: what}, nil)
}

func (c connection) Close() error { return c.control("close") }

func (c connection) Exec(text string) error {
	return c.query(wire.Query{Connection: c.name, SQL: text}, func([]any) error { return nil })
}

func (c connection) Texts(text string) (rows [][]string, err error) {
	err = c.query(wire.Query{Connection: c.name, SQL: text}, func(row []any) error {
		texts := make([]string, len(row))
		for i, value := range row {
			switch v := value.(type) {
			case nil:
			case []byte:
				texts[i] = string(v)
			default:
				texts[i] = fmt.Sprint(v)
			}
		}
		rows = append(rows, texts)
		return nil
	})
	return rows, err
}

// prover opens connections for proofs, each with a name of its own.
func (w *sqliteWorker) prover() proof.Driver {
	plain := func(dsn string) (sqlite.Conn, error) {
		w.others++
		return w.connect(fmt.Sprintf("other-%d", w.others), dsn)
	}
	return proof.Driver{Plain: plain, Tested: func(request wire.Open) (sqlite.Conn, error) {
		s, _, err := w.source(request)
		if err != nil {
			return nil, err
		}
		c, err := plain(s.DSN)
		for i := 0; i < len(s.Each) && err == nil; i++ {
			err = c.Exec(s.Each[i])
		}
		return c, err
	}, Busy: isBusy}
}

// isBusy knows SQLite's own texts for SQLITE_BUSY and SQLITE_LOCKED.
func isBusy(err error) bool { return strings.Contains(err.Error(), " is locked") }
