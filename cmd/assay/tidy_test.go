//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// proc is a fake worker that runs.
type proc struct {
	pid   int
	state string // as /proc has it: T is stopped
}

// running finds the fake workers of a script by their environment.
func running(ts *testscript.TestScript) []proc {
	marker := []byte("XDG_CACHE_HOME=" + ts.Getenv("XDG_CACHE_HOME") + "\x00")
	folders, err := filepath.Glob("/proc/[0-9]*")
	ts.Check(err)
	var found []proc
	for _, folder := range folders {
		environment, _ := os.ReadFile(filepath.Join(folder, "environ")) // nothing: not ours, or just ended
		stat, err := os.ReadFile(filepath.Join(folder, "stat"))
		if err != nil || !bytes.Contains(append(environment, 0), marker) {
			continue
		}
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		if !strings.Contains(string(command), "worker") {
			continue
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		pid, _ := strconv.Atoi(filepath.Base(folder))
		found = append(found, proc{pid, after[:1]})
	}
	return found
}

// workers LEAST demands that so many fake workers are there, and that all but
// one of them are stopped.
func countWorkers(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "workers LEAST")
	least, err := strconv.Atoi(args[0])
	ts.Check(err)
	all, awake := running(ts), 0
	for _, p := range all {
		if p.state != "T" {
			awake++
		}
	}
	if len(all) < least || awake != 1 {
		ts.Fatalf("%d workers, %d of them awake: %v; want %d or more, one of them awake", len(all), awake, all, least)
	}
}

// tidy demands that no worker is left and no folder of a run.
// With processes it looks for workers only, which end a moment after the assay
// that was killed.
func tidy(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) <= 1 && !neg, "tidy [processes]")
	deadline := time.Now().Add(patience)
	left := running(ts)
	for ; len(args) == 1 && len(left) > 0 && time.Now().Before(deadline); left = running(ts) {
		time.Sleep(time.Millisecond)
	}
	if len(left) > 0 {
		ts.Fatalf("workers are left: %v", left)
	}
	folders, err := filepath.Glob(filepath.Join(ts.Getenv("XDG_CACHE_HOME"), "assay", "work", "*"))
	ts.Check(err)
	if len(args) == 0 && len(folders) > 0 {
		ts.Fatalf("folders are left: %v", folders)
	}
}

// tmpfs BYTES DIR mounts a small file system until the script ends.
func tmpfs(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2 && !neg, "tmpfs BYTES DIR")
	dir := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(ts.Exec("mount", "-t", "tmpfs", "-o", "size="+args[0], "tmpfs", dir))
	ts.Defer(func() { _ = exec.Command("umount", "--lazy", dir).Run() })
}

func readCSV(ts *testscript.TestScript, text string) [][]string {
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	ts.Check(err)
	if len(records) == 0 {
		ts.Fatalf("the CSV has no header")
	}
	return records
}

// cellFigure names one figure of one cell.
type cellFigure struct {
	operation, driver, profile, clients, metric string
}

// agree demands that CSV and JSON have the same figures, that every cell with
// a figure has one digest of its answers, which all drivers share, and that
// the text names every driver with its outcome where it is not ok.
func agree(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0 && !neg, "agree")
	inCSV, inJSON := map[cellFigure]string{}, map[cellFigure]string{}
	for _, row := range csvRows(ts) {
		if row["metric"] != "" {
			inCSV[cellFigure{row["operation"], row["driver"], row["profile"], row["clients"], row["metric"]}] = row["n"] + " " + row["median"]
		}
	}
	for _, table := range readReport(ts).Tables {
		digests := map[string]bool{}
		for _, row := range append(table.Rows, table.Twins...) {
			for _, trial := range row.Trials {
				digests[trial.Digest] = true
			}
		}
		if len(digests) != 1 || digests[""] {
			ts.Fatalf("%s: digests of the answers are %v, want one", table.Title, digests)
		}
		for _, row := range table.Rows {
			for _, f := range row.Figures {
				key := cellFigure{row.Operation, row.Driver, row.Profile, strconv.Itoa(row.Clients), f.Metric}
				inJSON[key] = fmt.Sprintf("%d %s", f.N, strconv.FormatFloat(f.Center, 'g', -1, 64))
			}
		}
	}
	for key, figure := range inCSV {
		if inJSON[key] != figure {
			ts.Fatalf("%v is %s in CSV and %s in JSON", key, figure, inJSON[key])
		}
	}
	if len(inCSV) != len(inJSON) || len(inCSV) == 0 {
		ts.Fatalf("%d figures in CSV, %d in JSON", len(inCSV), len(inJSON))
	}
}
