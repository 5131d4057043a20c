package dataset

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assay"
)

// writerFile, in the environment, makes this program one that writes to a
// database as a user's program does, until its input ends.
const writerFile = "ASSAY_TEST_WRITER"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerFile); path != "" {
		if err := write(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killed, in the environment as well, makes it end within a transaction of
// which a part is in the file.
const killed = "ASSAY_TEST_KILLED"

// holder makes it only hold the database open, with a log, until its input ends.
const holder = "ASSAY_TEST_HOLDER"

// write inserts pairs that belong together, a transaction each, without pause.
// It ends without closing the database, as if it had been killed.
func write(path string) error {
	ctx := context.Background()
	conn, _, err := connect(ctx, path, "_pragma=busy_timeout(5000)&_pragma=synchronous(off)")
	if err != nil {
		return err
	}
	if os.Getenv(killed) != "" {
		fmt.Println("ready")
		_, err := conn.ExecContext(ctx, "PRAGMA cache_size=1; BEGIN; UPDATE credit SET n = n + 1000000")
		return err
	}
	if os.Getenv(holder) != "" {
		_, err := conn.ExecContext(ctx, "INSERT INTO credit (n) VALUES (1)")
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	for i := 0; ; i++ {
		_, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE; INSERT INTO credit (n) VALUES (1);
			INSERT INTO debit (n) VALUES (1); UPDATE total SET n = n + 1; COMMIT`)
		if err != nil {
			return err
		}
		if i == 20 {
			fmt.Println("ready")
		}
		select {
		case <-ended:
			return nil
		default:
		}
	}
}

// startWriter starts such a program and returns how to end it.
func startWriter(t *testing.T, path string) (end func()) {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), writerFile+"="+path)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	end = func() { _ = in.Close(); _ = cmd.Wait() }
	t.Cleanup(end)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the writer says %q, %v", line, err)
	}
	return end
}

// ledger makes a database in which the sums of three tables are equal in
// every state that was ever committed.
func ledger(t *testing.T, mode string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "user.db")
	execute(t, path, "PRAGMA journal_mode="+mode+`; CREATE TABLE credit (id INTEGER PRIMARY KEY, n INT);
		CREATE TABLE debit (id INTEGER PRIMARY KEY, n INT); CREATE TABLE total (n INT); INSERT INTO total VALUES (0)`)
	return path
}

const ledgerQuery = `SELECT count(*) > 20, count(*) = (SELECT count(*) FROM debit), count(*) = (SELECT n FROM total) FROM credit`

func TestSnapshotWhileWritten(t *testing.T) {
	for _, mode := range []string{"wal", "delete"} {
		t.Run(mode, func(t *testing.T) {
			src := ledger(t, mode)
			end := startWriter(t, src)
			for i := range 8 {
				dst := filepath.Join(t.TempDir(), fmt.Sprint(i))
				must(t, Snapshot(t.Context(), src, dst))
				checkSnapshot(t, dst)
			}
			end()
			if got := queryAll(t, src, "PRAGMA integrity_check"); got != "ok" {
				t.Errorf("the source is %s", got)
			}
		})
	}
}

func checkSnapshot(t *testing.T, path string) {
	t.Helper()
	if got := queryAll(t, path, ledgerQuery); got != "1 1 1" {
		t.Errorf("no state that was committed: %s", got)
	}
	if got := queryAll(t, path, "PRAGMA integrity_check"); got != "ok" {
		t.Errorf("integrity: %s", got)
	}
	if header, err := Header(path); err != nil || header["journal_mode"] != "rollback" {
		t.Errorf("header %v, %v", header, err)
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("beside the copy: %q", got)
	}
}

// files returns when a folder's files were changed, with their content.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range names(t, dir) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		must(t, err)
		all[name] = info.ModTime().String() + " " + read(t, path)
	}
	return all
}

func TestSnapshotLeavesTheSourceAlone(t *testing.T) {
	fill := strings.Repeat("INSERT INTO credit (n) VALUES (1); INSERT INTO debit (n) VALUES (1); UPDATE total SET n = n + 1;", 30)
	sources := map[string]func(t *testing.T, path string){
		"closed, rollback journal": func(t *testing.T, path string) { execute(t, path, "PRAGMA journal_mode=delete;"+fill) },
		"closed, log":              func(t *testing.T, path string) { execute(t, path, "PRAGMA journal_mode=wal;"+fill) },
		"killed, log and index left": func(t *testing.T, path string) {
			execute(t, path, "PRAGMA journal_mode=wal")
			startWriter(t, path)()
		},
		"killed, index of nothing left": func(t *testing.T, path string) {
			execute(t, path, "PRAGMA journal_mode=wal")
			startWriter(t, path)()
			must(t, os.Truncate(path+"-shm", 0))
		},
		"closed, empty log left": func(t *testing.T, path string) {
			execute(t, path, "PRAGMA journal_mode=wal;"+fill)
			must(t, os.WriteFile(path+"-wal", nil, 0o644))
		},
		"persistent journal": func(t *testing.T, path string) { execute(t, path, "PRAGMA journal_mode=persist;"+fill) },
	}
	for name, make := range sources {
		t.Run(name, func(t *testing.T) {
			src := ledger(t, "delete")
			make(t, src)
			before := files(t, filepath.Dir(src))
			dst := filepath.Join(t.TempDir(), "copy.db")
			must(t, Snapshot(t.Context(), src, dst))
			checkSnapshot(t, dst)
			if after := files(t, filepath.Dir(src)); !reflect.DeepEqual(after, before) {
				for name := range maps.Keys(before) {
					if after[name] != before[name] {
						t.Errorf("%s changed: got %.50q..., want %.50q...", name, after[name], before[name])
					}
				}
				t.Errorf("got %d files, want %d as they were", len(after), len(before))
			}
		})
	}
}

func TestSnapshotThroughLink(t *testing.T) {
	src := ledger(t, "wal")
	startWriter(t, src)() // its rows are in the log only
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(src, link))
	dst := filepath.Join(t.TempDir(), "copy.db")
	must(t, Snapshot(t.Context(), link, dst))
	checkSnapshot(t, dst)
}

func TestSnapshotErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	lost := ledger(t, "wal")
	startWriter(t, lost)()
	must(t, os.Remove(lost+"-shm"))
	hot := ledger(t, "delete")
	execute(t, hot, "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s LIMIT 50000) INSERT INTO credit (n) SELECT n FROM s")
	t.Setenv(killed, "yes")
	startWriter(t, hot)()
	name := strings.Repeat("x", maxName+1)
	long := func(schema string) string {
		path := filepath.Join(t.TempDir(), "long.db")
		execute(t, path, schema)
		return path
	}
	cases := map[string]struct{ src, want string }{
		"killed in between": {hot, "a program was killed in the middle of a transaction on it; open and close it once"},
		"missing":           {filepath.Join(dir, "missing"), "no such file"},
		"empty":             {file("empty", ""), "is empty"},
		"foreign":           {file("foreign", strings.Repeat("text ", 100)), "is not an SQLite database, or an encrypted one"},
		"short":             {file("short", "SQLite format 3\x00"), "is not an SQLite database"},
		"folder":            {dir, "is not a regular file"},
		"long name":         {long("CREATE TABLE " + name + "(a)"), "of 1001 characters"},
		"long column":       {long("CREATE TABLE t(" + name + ")"), "of 1001 characters"},
		"log without index": {lost, "its write-ahead log has no index (-shm); open and close it once"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			err := Snapshot(t.Context(), c.src, filepath.Join(out, "copy.db"))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.src) {
				t.Errorf("%v lacks %q", err, c.want)
			}
			if got := names(t, out); len(got) != 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
	existing := file("existing", "mine")
	if err := Snapshot(t.Context(), ledger(t, "delete"), existing); err == nil || read(t, existing) != "mine" {
		t.Errorf("over an existing file: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := t.TempDir()
	if err := Snapshot(ctx, ledger(t, "wal"), filepath.Join(out, "x")); !errors.Is(err, context.Canceled) || len(names(t, out)) != 0 {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSnapshotSeesThatIdleEnded: a database read without locks must look the
// same afterwards.
func TestSnapshotSeesThatIdleEnded(t *testing.T) {
	src := ledger(t, "wal")
	seen, err := inspect(src)
	if err != nil || !seen.idle() {
		t.Fatalf("not idle: %+v, %v", seen, err)
	}
	if err := seen.lasts(src); err != nil {
		t.Errorf("nothing happened: %v", err)
	}
	startWriter(t, src)()
	if err := seen.lasts(src); !errors.Is(err, errMoved) {
		t.Errorf("after a writer: %v", err)
	}
}

// TestSnapshotOfInconsistentIndex: a reader may see the index's header while a
// writer changes it. That is tried again, and not taken for a damaged file.
func TestSnapshotOfInconsistentIndex(t *testing.T) {
	src := ledger(t, "wal")
	t.Setenv(holder, "yes")
	startWriter(t, src)
	index, err := os.OpenFile(src+"-shm", os.O_RDWR, 0)
	must(t, err)
	defer index.Close()
	first := make([]byte, 48) // the header, which is in the index twice
	_, err = index.ReadAt(first, 0)
	must(t, err)
	_, err = index.WriteAt(make([]byte, len(first)), 0)
	must(t, err)
	dst := filepath.Join(t.TempDir(), "copy.db")
	want := "copy the database " + src + ": the index of its write-ahead log is not consistent: "
	if err := Snapshot(t.Context(), src, dst); !errors.Is(err, errMoved) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s, tried again", err, want)
	}
	_, err = index.WriteAt(first, 0)
	must(t, err)
	must(t, Snapshot(t.Context(), src, dst))
	if got := queryAll(t, dst, "SELECT count(*) FROM credit"); got != "1" {
		t.Errorf("got %s rows, want 1", got)
	}
}

func TestPrepareFile(t *testing.T) {
	src := filepath.Join(t.TempDir(), "user.db")
	execute(t, src, "PRAGMA journal_mode=wal; CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
	cache := Cache{Dir: t.TempDir()}
	ds := assay.Dataset{Workload: "mine", File: src}
	first, err := cache.Prepare(t.Context(), ds)
	must(t, err)
	if got := queryAll(t, first.Path, "SELECT * FROM t"); got != "1 x\n2 y" {
		t.Errorf("%q", got)
	}
	again, err := cache.Prepare(t.Context(), ds)
	if err != nil || again.Path != first.Path || again.Digest != first.Digest {
		t.Errorf("%+v is not %+v, %v", again, first, err)
	}
	ds.FileSettings = map[string]string{"page_size": "4096", "auto_vacuum": "0"}
	if same, err := cache.Prepare(t.Context(), ds); err != nil || same.Digest != first.Digest {
		t.Errorf("with the settings that it has: %+v is not %+v, %v", same, first, err)
	}
	ds.FileSettings = map[string]string{"page_size": "16384", "auto_vacuum": "1"}
	large, err := cache.Prepare(t.Context(), ds)
	must(t, err)
	if header, err := Header(large.Path); err != nil || header["page_size"] != "16384" || header["auto_vacuum"] != "full" {
		t.Errorf("%v, %v", header, err)
	}
	execute(t, src, "INSERT INTO t VALUES (3, 'z')")
	ds.FileSettings = nil
	changed, err := cache.Prepare(t.Context(), ds)
	if err != nil || changed.Digest == first.Digest || queryAll(t, changed.Path, "SELECT count(*) FROM t") != "3" {
		t.Errorf("%+v after a change, %v", changed, err)
	}
	ds.FileSettings = map[string]string{"encoding": "UTF-16le"}
	if _, err := cache.Prepare(t.Context(), ds); err == nil ||
		!strings.Contains(err.Error(), "file setting encoding=UTF-16le has no effect: the file says UTF-8") {
		t.Errorf("encoding: %v", err)
	}
}

func TestPrepareDamagedFile(t *testing.T) {
	d := prepare(t, monsters(2000))
	content := []byte(read(t, d.Path))
	for i := range 3000 { // pages after the schema's
		content[5*4096+i] = 0xff
	}
	src := filepath.Join(t.TempDir(), "damaged.db")
	must(t, os.WriteFile(src, content, 0o644))
	dir := t.TempDir()
	_, err := Cache{Dir: dir}.Prepare(t.Context(), assay.Dataset{Workload: "mine", File: src})
	if err == nil || !strings.Contains(err.Error(), src+" is damaged or cannot be checked") {
		t.Errorf("%v", err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}
