//go:build unix

package serve

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/store"

	_ "modernc.org/sqlite"
)

// manyRuns is a store of 1,000 runs with 10,000 cells and 60,000 trials, on three
// machines, over almost three years. All are copies of one run: appending each trial
// would take minutes.
func manyRuns(b *testing.B) *store.Store {
	b.Helper()
	path := filepath.Join(b.TempDir(), "a.db")
	s, err := store.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	run := analysistest.PlainRun
	run.ID, run.Plan, run.PlanText, run.Status, run.Started = "run-0", "quick", "name: quick\n", assay.Finished, analysistest.SampleStart
	run.Host = map[string]string{"cpu": "machine-0", "machine": "machine-0", "cores": "2"}
	run.Targets = []assay.Target{{Driver: "modernc", DriverVersion: "v1.61.1", Build: "b-modernc"}, {Driver: "mattn", DriverVersion: "v1.14.52", Build: "b-mattn"}}
	var trials []assay.Trial
	for i := range 5 {
		operation := fmt.Sprint("read-", i)
		trials = append(trials, analysistest.Launches(analysistest.Cell(operation, "modernc", "web"), 6, 10000, 1)...)
		trials = append(trials, analysistest.Launches(analysistest.Cell(operation, "mattn", "web"), 6, 9000, 2)...)
	}
	put(b, s, run, trials)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		b.Fatal(err)
	}
	for k := 1; k < 1000; k++ {
		started := run.Started.Add(time.Duration(k) * 24 * time.Hour).UTC().Format("2006-01-02T15:04:05.000000000Z")
		clone(b, tx, "run", map[string]string{"id": fmt.Sprintf("'run-%d'", k), "sequence": fmt.Sprint(k + 1), "started": "'" + started + "'",
			"host": fmt.Sprintf("replace(host, 'machine-0', 'machine-%d')", k%3)}, "id = 'run-0'")
		clone(b, tx, "target", map[string]string{"run_id": fmt.Sprintf("'run-%d'", k)}, "run_id = 'run-0'")
		id := fmt.Sprintf("id + %d", k*len(trials))
		clone(b, tx, "trial", map[string]string{"id": id, "run_id": fmt.Sprintf("'run-%d'", k)}, "run_id = 'run-0'")
		for _, table := range []string{"figure", "setting"} {
			clone(b, tx, table, map[string]string{"trial_id": "trial_" + id}, fmt.Sprintf("trial_id <= %d", len(trials)))
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
	if s, err = store.OpenToRead(b.Context(), path); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// clone copies rows of a table, some of their columns changed.
func clone(b *testing.B, tx *sql.Tx, table string, changed map[string]string, which string) {
	b.Helper()
	rows, err := tx.Query("SELECT name FROM pragma_table_info('" + table + "')")
	if err != nil {
		b.Fatal(err)
	}
	var columns []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			b.Fatal(err)
		}
		columns = append(columns, name)
	}
	rows.Close()
	values := slices.Clone(columns)
	for i, name := range columns {
		if value, is := changed[name]; is {
			values[i] = value
		}
	}
	if _, err := tx.Exec("INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") SELECT " + strings.Join(values, ", ") + " FROM " + table + " WHERE " + which); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPages is the time of each page at the server, and the CPU time of it with
// its client, which says more on a busy machine.
func BenchmarkPages(b *testing.B) {
	s := manyRuns(b)
	runs, err := s.Runs(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("once after the start", func(b *testing.B) {
		measure(b, func() error {
			_, err := newLibrary(b.Context(), s, time.Hour).entries(b.Context(), runs)
			return err
		})
	})
	web := start(b, Options{Store: s, patience: slowPatience})
	for i := range 3 {
		web.ask(b, "GET", fmt.Sprintf("/history?machine=machine-%d%%2C+2+cores", i), nil, nil)
	}
	b.Run("|machines while it is worked out", func(b *testing.B) {
		measure(b, func() error {
			_, text := web.ask(b, "GET", "/machines", nil, nil)
			if !strings.Contains(text, "in a moment") {
				return errors.New("it was worked out already: run this with -benchtime 5x")
			}
			return nil
		})
	})
	for _, path := range []string{"/machines", "/claims"} {
		for text := "in a moment"; strings.Contains(text, "in a moment"); {
			_, text = web.ask(b, "GET", path, nil, nil)
		}
	}
	for _, path := range []string{"/", "/?page=9", "/?driver=mattn&machine=machine-1%2C+2+cores", "/runs/run-500", "/compare?a=run-1&b=run-2", "/compare?a=mattn&b=modernc&run=run-3",
		"/history", "/history?cell=read-1+driver%3Dmattn", "/machines", "/claims", "/proofs"} {
		b.Run(strings.ReplaceAll(path, "/", "|"), func(b *testing.B) {
			measure(b, func() error {
				if answer, text := web.ask(b, "GET", path, nil, nil); answer.StatusCode != 200 {
					return fmt.Errorf("got status %d: %s", answer.StatusCode, text)
				}
				return nil
			})
		})
	}
}

func measure(b *testing.B, do func() error) {
	b.Helper()
	before := cpuTime(b)
	for b.Loop() {
		if err := do(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/page")
	b.ReportMetric(float64((cpuTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms/page")
}

// cpuTime is that of this process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
