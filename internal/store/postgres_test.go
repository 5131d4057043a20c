package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"
)

// onServer are the tests of this package that hold for both engines.
var onServer = []struct {
	name string
	test func(*testing.T)
}{
	{"RunByID", TestRunByID}, {"TrialRoundTrip", TestTrialRoundTrip}, {"RunRoundTrip", TestRunRoundTrip}, {"NilAndEmpty", TestNilAndEmpty},
	{"TrialsInPages", TestTrialsInPages}, {"AppendIsAtomic", TestAppendIsAtomic}, {"Proofs", TestProofs}, {"ExportImport", TestExportImport}, {"ImportTwice", TestImportTwice},
	{"ImportMergesProofs", TestImportMergesProofs}, {"ImportRefuses", TestImportRefuses},
	{"Push", TestPush}, {"PushOfAResumedRun", TestPushOfAResumedRun}, {"PushProofs", TestPushProofs},
}

// private is the server of this package's tests.
var private struct {
	once    sync.Once
	err     error
	folder  string
	cluster *cluster.Cluster
	made    atomic.Int64 // databases
}

func stopPrivate() {
	if private.cluster != nil {
		private.cluster.Kill()
	}
	if private.folder != "" {
		_ = os.RemoveAll(private.folder)
	}
}

func startPrivate(ctx context.Context) error {
	programs, err := cluster.Find(ctx)
	if err != nil {
		return err
	}
	if private.folder, err = os.MkdirTemp("/tmp", "assay-store-"); err != nil {
		return err
	}
	if err := os.Chmod(private.folder, 0o755); err != nil {
		return err
	}
	data := filepath.Join(private.folder, "data")
	if err := programs.Init(ctx, data); err != nil {
		return err
	}
	rules := "local all password_me scram-sha-256\nlocal all all trust\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		return err
	}
	private.cluster, err = programs.Start(ctx, cluster.Options{Data: data, Socket: private.folder, Settings: map[string]string{"fsync": "off"}})
	if err != nil {
		return err
	}
	if err := private.cluster.Run(ctx, strings.NewReader("CREATE DATABASE tables;")); err != nil {
		return err
	}
	made, err := Open(ctx, serverURL(private.folder, "tables", admin))
	if err != nil {
		return err
	}
	return made.Close()
}

// database makes a database and returns its URL, of a role and with a password. It
// is empty, or has the tables of a new store.
func database(t testing.TB, user *url.Userinfo, tables bool) string {
	t.Helper()
	private.once.Do(func() { private.err = startPrivate(context.Background()) })
	if errors.Is(private.err, cluster.ErrMissing) {
		t.Skip(private.err)
	}
	must(t, private.err)
	name, template := fmt.Sprint("test", private.made.Add(1)), "template1"
	if tables {
		template = "tables"
	}
	asAdmin(t, "CREATE DATABASE "+name+" TEMPLATE "+template)
	return serverURL(private.folder, name, user)
}

func serverURL(socket, name string, user *url.Userinfo) string {
	query := url.Values{"host": {socket}, "port": {fmt.Sprint(postgres.Port)}, "sslmode": {"disable"}}
	return (&url.URL{Scheme: "postgres", User: user, Path: "/" + name, RawQuery: query.Encode()}).String()
}

// asAdmin runs SQL as the server's owner.
func asAdmin(t testing.TB, text string) {
	t.Helper()
	must(t, private.cluster.Run(context.Background(), strings.NewReader(text+";\n")))
}

var admin = url.User(postgres.User)

func TestPostgres(t *testing.T) {
	for _, each := range onServer {
		t.Run(each.name, each.test)
	}
}

// Any text can be kept, also what PostgreSQL has no text for; what needs no escaping
// is kept as it is.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{"": "", "é💥": "é💥", "a\x00b": "a\x1a00b", "\xff": "\x1aff", "\x1a00": "\x1a1a00", "\ufffd": "\ufffd"} {
		if got := escape(text); got != want {
			t.Errorf("escape(%q): got %q, want %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.SampledFrom([]byte("\x00\x1a\xff\xc3\xa9a01f"))).Draw(t, "text"))
		if got := unescape(escape(text)); got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	})
	for _, text := range []string{"\x1a", "\x1a0", "\x1azz"} { // nothing that escape wrote
		if got := unescape(text); got != text {
			t.Errorf("unescape(%q): got %q", text, got)
		}
	}
}

// No error, and no name that is shown, has a password: not even where the URL cannot
// be read.
func TestURLHidesSecrets(t *testing.T) {
	for _, location := range []string{
		"postgres://me:secret@/db?host=/nowhere&sslmode=disable",
		"postgres://me@127.0.0.1:1/db?password=secret&sslmode=disable",
		"postgres://me@127.0.0.1:1/db?sslmode=disable&sslpassword=secret&sslkey=secret",
		"postgres://me:pa/secret@host/db", "postgres://me:1/secret@host/db", "postgres://me:1?secret@host/db", "postgres://me:1#secret@host/db",
		"postgres://me:sec ret@host:bad/db", "postgres://me:%zzsecret@host/db", "mysql://me:secret@host/db",
		"postgres:me:secret@host/db", "postgresql:/me:secret@host/db", "Postgres:me:secret@host", "host=127.0.0.1 user=me password=secret",
		"postgres://me:secret@host/db?sslmode=secret", "postgres://me:x@host/db?connect_timeout=secret&password=secret",
	} {
		for name, open := range map[string]func(context.Context, string) (*Store, error){"open": Open, "read": OpenToRead} {
			s, err := open(t.Context(), location)
			if err == nil {
				t.Errorf("%s %s: opened", name, location)
				must(t, s.Close())
			} else if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec ret") {
				t.Errorf("%s %s: the error is %q", name, location, err)
			}
		}
	}
	for location, want := range map[string]string{
		"postgres://me:secret@db.example:5433/runs?sslmode=require&sslkey=k": "postgres://me@db.example:5433/runs?sslmode=require",
		"postgresql:///runs?host=/run/pg&password=secret":                    "postgres:///runs?host=%2Frun%2Fpg",
		"/data/a.db": "/data/a.db", "postgres": "postgres", "runs/postgres:a.db": "runs/postgres:a.db",
	} {
		if got, err := Shown(location); err != nil || got != want {
			t.Errorf("Shown(%q): got %q, %v, want %q", location, got, err, want)
		}
	}
}

func TestServerErrors(t *testing.T) {
	at := database(t, admin, true)
	u, err := url.Parse(at)
	must(t, err)
	name := strings.TrimPrefix(u.Path, "/")
	asAdmin(t, "DROP ROLE IF EXISTS password_me; CREATE ROLE password_me LOGIN PASSWORD 'right'; DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; DROP ROLE IF EXISTS nobody; CREATE ROLE nobody LOGIN")
	asAdmin(t, "\\connect "+name+"\nGRANT USAGE ON SCHEMA assay TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA assay TO reader")
	as := func(user *url.Userinfo, database string) string { return serverURL(private.folder, database, user) }
	for _, test := range []struct {
		name, location string
		want           []string
	}{
		{"wrong password", as(url.UserPassword("password_me", "wrong-secret"), name), []string{"refuses the user's name or password", "password_me@"}},
		{"no such user", as(url.User("nobody-here"), name), []string{"does not let this user in"}},
		{"no such database", as(admin, "none"), []string{"no database of that name", "createdb"}},
		{"no server", "postgres://me@/db?host=/nowhere&sslmode=disable", []string{"cannot be reached"}},
		{"no rights", as(url.User("nobody"), name), []string{"the role may not do that"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, open := range []func(context.Context, string) (*Store, error){Open, OpenToRead} {
				_, err := open(t.Context(), test.location)
				for _, want := range test.want {
					expect(t, err, nil, want)
				}
				if err != nil && strings.Contains(err.Error(), "secret") {
					t.Errorf("error %q shows the password", err)
				}
			}
		})
	}
	// A parameter that the server refuses is the user's to correct; its value is not shown.
	for parameter, want := range map[string]string{"nosuch=1": `"nosuch"`, "statement_timeout=secret": `"statement_timeout"`, "max_connections=5": `"max_connections"`} {
		for _, open := range []func(context.Context, string) (*Store, error){Open, OpenToRead} {
			_, err := open(t.Context(), at+"&"+parameter)
			if !errors.As(err, new(*LocationError)) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: got %v, want a LocationError with %s and without the value", parameter, err, want)
			}
		}
	}
	// A role that may only read can read, and is told so when it writes.
	s := open(t, at)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	reader, err := OpenToRead(t.Context(), as(url.User("reader"), name))
	must(t, err)
	defer reader.Close()
	if got, err := reader.Run(t.Context(), ""); err != nil || got.ID != "run" {
		t.Errorf("a role that may only read: got run %q, %v, want run", got.ID, err)
	}
	writer := open(t, as(url.User("reader"), name))
	expect(t, writer.Begin(t.Context(), start("other", "quick", 0)), nil, "the role may not do that")
}

// Tables of a newer version are left alone, those of an earlier one brought up to
// date, and another program's are not touched.
func TestServerVersions(t *testing.T) {
	at := database(t, admin, false)
	if _, err := OpenToRead(t.Context(), at); !errors.Is(err, ErrNotFound) {
		t.Errorf("reading an empty database: got %v, want ErrNotFound", err)
	}
	u, err := url.Parse(at)
	must(t, err)
	connect := "\\connect " + strings.TrimPrefix(u.Path, "/") + "\n"
	asAdmin(t, connect+"CREATE TABLE run (id int); CREATE TABLE goose_db_version (id int, version_id bigint, is_applied boolean); INSERT INTO goose_db_version VALUES (1, 99, true)")
	s := open(t, at)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	asAdmin(t, connect+"ALTER TABLE assay.run DROP COLUMN spent; ALTER TABLE assay.trial DROP COLUMN begin_mode; ALTER TABLE assay.trial DROP COLUMN processes; DELETE FROM assay.goose_db_version WHERE version_id >= 6")
	reader, err := OpenToRead(t.Context(), at)
	must(t, err)
	defer reader.Close()
	if got, err := reader.Run(t.Context(), "run"); err != nil || got.ID != "run" {
		t.Errorf("tables of an earlier version: got run %q, %v", got.ID, err)
	}
	asAdmin(t, connect+"INSERT INTO assay.goose_db_version (version_id, is_applied) VALUES (99, true)")
	for _, open := range []func(context.Context, string) (*Store, error){Open, OpenToRead} {
		_, err := open(t.Context(), at)
		expect(t, err, nil, "a newer version of assay wrote it (schema 99")
	}
}

// Many open an empty database at once: one makes the tables, all can write.
func TestServerOpenTogether(t *testing.T) {
	openTogether(t, database(t, admin, false), 4)
}

// Runs move between both kinds of stores.
func TestBetweenStores(t *testing.T) {
	from, file := exported(t)
	to := open(t, database(t, admin, true))
	importInto(t, to, file, true)
	importInto(t, to, file, false)
	again := export(t, to)
	if diff := cmp.Diff(unzip(t, file), unzip(t, again)); diff != "" {
		t.Errorf("exported from the server (-want +got)\n%s", diff)
	}
	importInto(t, from, again, false)
	importInto(t, open(t, filepath.Join(t.TempDir(), "b.db")), again, true)
}
