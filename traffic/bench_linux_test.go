package traffic_test

import (
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"assay/traffic"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
)

// BenchmarkRecord shows what a statement costs with a recorder and without: wall time,
// CPU time of the thread that asks, and of the whole process. A driver that does nothing
// is faster than lines are written, and lines that are dropped cost less: statements come
// in bursts, between which the recorder catches up.
func BenchmarkRecord(b *testing.B) {
	insert := "UPDATE t SET a = ?"
	for _, of := range []struct {
		name  string
		plain driver.Driver
		setup string
		work  string
	}{
		{"nothing", oldDriver{}, "", insert},
		{"modernc/read", &sqlite.Driver{}, "CREATE TABLE t (a INTEGER PRIMARY KEY); WITH RECURSIVE k (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < 999) INSERT INTO t SELECT i FROM k", "SELECT a FROM t WHERE a = ? % 1000"},
	} {
		path := filepath.Join(b.TempDir(), "log")
		r, err := traffic.Open(path, 1<<40)
		if err != nil {
			b.Fatal(err)
		}
		for name, d := range map[string]driver.Driver{"plain": of.plain, "recorded": r.Driver(of.plain)} {
			b.Run(of.name+"/"+name, func(b *testing.B) { benchmark(b, d, r, of.setup, of.work) })
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		if _, last, _ := strings.Cut(string(text[max(0, len(text)-40):]), `{"dropped":`); last != "0}\n" {
			b.Errorf("%s: got %q lines dropped, want none: the figures are too small", of.name, last)
		}
	}
}

func benchmark(b *testing.B, d driver.Driver, r *traffic.Recorder, setup, work string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	db := sql.OpenDB(dsn{d, filepath.Join(b.TempDir(), "app.db")})
	db.SetMaxOpenConns(1)
	if setup != "" {
		if _, err := db.Exec(setup); err != nil {
			b.Fatal(err)
		}
	}
	stmt, err := db.Prepare(work)
	if err != nil {
		b.Fatal(err)
	}
	const burst = 2048 // fewer statements than may wait to be written
	var thread int64
	var wall time.Duration
	process := spent(unix.CLOCK_PROCESS_CPUTIME_ID)
	for first := 0; first < b.N; first += burst {
		for r.Waiting() > 0 {
			time.Sleep(100 * time.Microsecond)
		}
		before, began := spent(unix.CLOCK_THREAD_CPUTIME_ID), time.Now()
		for i := first; i < min(b.N, first+burst); i++ {
			if err := ask(stmt, work, i); err != nil {
				b.Fatal(err)
			}
		}
		thread, wall = thread+spent(unix.CLOCK_THREAD_CPUTIME_ID)-before, wall+time.Since(began)
	}
	b.ReportMetric(float64(wall.Nanoseconds())/float64(b.N), "ns/op")
	b.ReportMetric(float64(thread)/float64(b.N), "thread-ns/op")
	b.ReportMetric(float64(spent(unix.CLOCK_PROCESS_CPUTIME_ID)-process)/float64(b.N), "process-ns/op")
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
}

func ask(stmt *sql.Stmt, work string, i int) error {
	if !strings.HasPrefix(work, "SELECT") {
		_, err := stmt.Exec(i)
		return err
	}
	var got int
	return stmt.QueryRow(i).Scan(&got)
}

// spent is the CPU time so far, in nanoseconds: that of getrusage lags behind by up to a
// tick, which is longer than a burst.
func spent(clock int32) int64 {
	var t unix.Timespec
	if unix.ClockGettime(clock, &t) != nil {
		return 0
	}
	return t.Nano()
}
