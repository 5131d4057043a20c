package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/pressly/goose/v3"
)

const (
	// schemaName is the schema that the tables lie in.
	schemaName = "assay"
	// serverVersions is the table of versions. Without the schema's name, one that the
	// role may not use would look like one that is not there.
	serverVersions = schemaName + ".goose_db_version"
	// connectTimeout is how long connecting may take, unless the URL says otherwise.
	connectTimeout = 10 * time.Second
	// serverConnections is how many connections a store has at most: the server
	// shares its own among a team.
	serverConnections = 8
	// lockInterval is how often a lock is asked for: a server that answers is told
	// from one that cannot be reached.
	lockInterval = 50 * time.Millisecond
)

// silence is after how long a server that does not answer counts as lost.
var silence = 20 * time.Second

// server is a store in a database of a PostgreSQL server.
type server struct{}

// openServer opens the store at a URL, and makes its tables or brings them up to
// date.
func openServer(ctx context.Context, location string) (*Store, error) {
	s, err := connect(location)
	if err != nil {
		return nil, err
	}
	if err := migrateServer(ctx, s.db); err != nil {
		return nil, s.notOpened(errors.Join(err, s.db.Close()))
	}
	s.owner = newOwner().String()
	return s, nil
}

// openServerToRead opens the store at a URL, which has its tables already.
func openServerToRead(ctx context.Context, location string) (*Store, error) {
	s, err := connect(location)
	if err != nil {
		return nil, err
	}
	older, err := madeEarlier(ctx, s.db, serverVersions)
	if errorCode(err) == pqerror.UndefinedTable || errorCode(err) == pqerror.InvalidSchemaName {
		return nil, errors.Join(fmt.Errorf("%w: there is no store in %s yet", ErrNotFound, s.name), s.db.Close())
	}
	if err == nil && older {
		err = migrateServer(ctx, s.db)
	}
	if err != nil {
		return nil, s.notOpened(errors.Join(err, s.db.Close()))
	}
	return s, nil
}

// notOpened says why a store could not be opened. Parameters of a URL that the driver does
// not know are settings of the session: the server refuses those that it does not know.
func (s *Store) notOpened(err error) error {
	switch failure := (*pq.Error)(nil); errorCode(err) {
	case pqerror.UndefinedObject, pqerror.InvalidParameterValue, pqerror.CantChangeRuntimeParam:
		errors.As(err, &failure)
		text, _, hasValue := strings.Cut(failure.Message, `": `)
		if hasValue {
			text += `"` // the value may be a secret
		}
		return &LocationError{"the server refuses a parameter of the URL (" + text + "): correct its name or value, or leave it out"}
	}
	return s.explain("opening", err)
}

func connect(location string) (*Store, error) {
	at, err := parseURL(location)
	if err != nil {
		return nil, err
	}
	made, err := pq.NewConnectorConfig(at.config)
	if err != nil {
		return nil, &LocationError{"the URL cannot be used: want postgres://USER@HOST:PORT/DATABASE"} // the cause may hold parts of it
	}
	made.Dialer(impatient{})
	db := sql.OpenDB(connector{made})
	db.SetMaxOpenConns(serverConnections)
	db.SetMaxIdleConns(serverConnections)
	return &Store{db: db, engine: server{}, name: at.name}, nil
}

// migrateServer makes or updates the tables, while others who want to wait.
func migrateServer(ctx context.Context, db *sql.DB) error {
	session, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	older, err := madeEarlier(ctx, db, serverVersions)
	if err == nil && !older {
		return nil // so that a role that may not change tables can write runs
	}
	if code := errorCode(err); err != nil && code != pqerror.UndefinedTable && code != pqerror.InvalidSchemaName {
		return err
	}
	if err := lock(ctx, session, "SELECT pg_try_advisory_lock($1)", lockKey("migrate")); err != nil {
		return err
	}
	defer session.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", lockKey("migrate")) //nolint:errcheck // closing the connection does it too
	var there bool
	err = session.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", schemaName).Scan(&there)
	if err == nil && !there {
		_, err = session.ExecContext(ctx, "CREATE SCHEMA "+schemaName)
	}
	if err != nil {
		return err
	}
	return applyMigrations(ctx, db, goose.DialectPostgres, translated{migrations})
}

// rowQuerier is a connection or a transaction.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// lock asks for a lock until it has it.
func lock(ctx context.Context, from rowQuerier, query string, key int64) error {
	for {
		var locked bool
		if err := from.QueryRowContext(ctx, query, key).Scan(&locked); err != nil || locked {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockInterval):
		}
	}
}

// lockKey is the number of a lock of this program.
func lockKey(name string) int64 {
	sum := sha256.Sum256([]byte("assay " + name))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

func (server) snapshot() *sql.TxOptions {
	return &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
}

func (server) lockRuns(ctx context.Context, tx *sql.Tx) error {
	return lock(ctx, tx, "SELECT pg_try_advisory_xact_lock($1)", lockKey("runs"))
}

// IsUnreachable reports whether an error says that the server of a store cannot be
// reached now.
func IsUnreachable(err error) bool {
	if errors.As(err, new(net.Error)) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	switch code := errorCode(err); code {
	case pqerror.AdminShutdown, pqerror.CrashShutdown, pqerror.CannotConnectNow, pqerror.TooManyConnections, pqerror.QueryCanceled,
		pqerror.IdleInTransactionSessionTimeout:
		return true
	default:
		return len(code) == 5 && code[:2] == "08"
	}
}

// adviceOnServers says what to do about errors of PostgreSQL.
var adviceOnServers = map[pqerror.Code]string{
	pqerror.InvalidPassword:                   "the server refuses the user's name or password: check them; a password may also stand in PGPASSWORD or ~/.pgpass",
	pqerror.InvalidAuthorizationSpecification: "the server does not let this user in: check the user's name, and pg_hba.conf on the server",
	pqerror.InvalidCatalogName:                "the server has no database of that name: make it with createdb",
	pqerror.InsufficientPrivilege:             "the role may not do that: commands that only read need SELECT on the tables of schema " + schemaName + ", others INSERT, UPDATE and DELETE too, and the first use of a database, or of a new version, its owner",
	pqerror.ReadOnlySQLTransaction:            "the server or the role is read-only: only commands that read can use it",
	pqerror.DiskFull:                          "the server's disk is full: make room",
}

func (server) advice(err error) string {
	switch {
	case errors.Is(err, pq.ErrSSLNotSupported):
		return "the server does not speak TLS: where its network is trusted, add ?sslmode=disable to the URL"
	case IsUnreachable(err):
		return "the server cannot be reached: check that it runs, and the host and port of the URL"
	}
	return adviceOnServers[errorCode(err)]
}

// errorCode is PostgreSQL's SQLSTATE, or empty for errors that are not its own.
func errorCode(err error) pqerror.Code {
	if failure, is := errors.AsType[*pq.Error](err); is {
		return failure.Code
	}
	return ""
}

// impatient makes connections that fail when the server stays silent: without a
// network, nothing else would tell.
type impatient struct{}

func (impatient) Dial(network, at string) (net.Conn, error) {
	return impatient{}.DialContext(context.Background(), network, at)
}

func (impatient) DialTimeout(network, at string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return impatient{}.DialContext(ctx, network, at)
}

func (impatient) DialContext(ctx context.Context, network, at string) (net.Conn, error) {
	made, err := (&net.Dialer{}).DialContext(ctx, network, at)
	if err != nil {
		return nil, err
	}
	return impatientConn{made}, nil
}

type impatientConn struct{ net.Conn }

func (c impatientConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}
