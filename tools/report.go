//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/report"
	"assay/internal/stat"
)

// The size of the large report.
const (
	reportTables   = 400
	reportRows     = 25
	reportLaunches = 6
)

// reportArgument makes this program write the large report, and nothing else:
// so the peak memory is that of the report.
const reportArgument = "write-large-report"

// reports measures an HTML report of 10,000 cells, in a process of its own.
func (t *tools) reports() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	var seconds, megabytes []float64
	for range 3 {
		command := exec.CommandContext(t.ctx, program, reportArgument)
		out, err := command.Output()
		if err != nil {
			return fmt.Errorf("write a large report: %w\n%s", err, out)
		}
		took, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			return fmt.Errorf("write a large report: %w", err)
		}
		usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			return errors.New("the system does not tell the peak memory of a process")
		}
		seconds = append(seconds, took)
		megabytes = append(megabytes, float64(usage.Maxrss)*maxrssUnit()/1e6)
	}
	what := fmt.Sprintf("HTML report of %d cells", reportTables*reportRows)
	say(what+": time", stat.LogInterval(seconds), "s", "at most 3", 0, 3)
	say(what+": peak memory", stat.LogInterval(megabytes), "MB", "at most 300", 0, 300)
	return nil
}

// maxrssUnit returns how many bytes a unit of Maxrss is.
func maxrssUnit() float64 {
	if runtime.GOOS == "darwin" {
		return 1
	}
	return 1024
}

// writeLargeReport prints how many seconds the report took.
func writeLargeReport() error {
	debug.SetGCPercent(40) // as assay report does
	began := time.Now()
	run := assay.Run{ID: "large", Plan: "large", Status: assay.Finished, Baseline: assay.ParseBaseline("driver-00@v1"), Options: assay.Options{Launches: reportLaunches}}
	r, err := analysis.New(run, largeTrials())
	if err != nil {
		return err
	}
	if err := report.New(r).Write(io.Discard, "html"); err != nil {
		return err
	}
	fmt.Println(time.Since(began).Seconds())
	return nil
}

// largeTrials makes up the trials, one at a time as the store has them.
func largeTrials() iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		for table := range reportTables {
			for launch := 1; launch <= reportLaunches; launch++ {
				for row := range reportRows {
					if !yield(largeTrial(table, row, launch), nil) {
						return
					}
				}
			}
		}
	}
}

// largeTrial is a trial with everything that the store keeps of one; every
// other table is one of blocks.
func largeTrial(table, row, launch int) assay.Trial {
	const count = 5
	name := fmt.Sprintf("driver-%02d", row)
	ns := float64(1000+50*row) * (1 + 0.01*float64((launch*7+row*3)%11))
	t := assay.Trial{
		Cell: assay.Cell{Plan: "large", Workload: "large", Operation: fmt.Sprint("operation-", table/4), Engine: "sqlite", Driver: name, DriverVersion: "v1",
			Build: "b-" + name, Profile: "default", Clients: 1, Pool: 1, Idle: 1, Statement: "once", Params: map[string]string{"rows": fmt.Sprint(1000 << (2 * (table % 4)))}},
		Group: fmt.Sprint("group-", table), Launch: launch, Mode: assay.Windows, Outcome: assay.OK, Figures: map[string]float64{}, Digest: "d",
		QueryPlan: "SEARCH", DSN: "file:{{path}}", Took: time.Second, Started: time.Unix(int64(1e9+launch), 0),
	}
	for i, metric := range []string{assay.NsPerOp, assay.OpPerS, assay.CPUPerOp, assay.AllocatedPerOp, assay.AllocationsPerOp, assay.ReadPerOp, assay.WrittenPerOp, assay.SwitchesPerOp, assay.PeakBytes} {
		t.Figures[metric] = ns * float64(i+1)
	}
	for range count {
		t.Samples = append(t.Samples, assay.Sample{Operations: 20_000, Nanos: int64(20_000 * ns)})
	}
	for _, setting := range []string{"busy_timeout", "cache_size", "foreign_keys", "journal_mode", "mmap_size", "synchronous", "temp_store"} {
		t.Settings = append(t.Settings, assay.Setting{Name: setting, Connection: "reader-1", Requested: "1", Issued: "PRAGMA", Effective: "1", Applied: true})
	}
	if table%2 == 1 {
		t.Mode, t.Samples = assay.Blocks, t.Samples[:1]
		for i, metric := range []string{assay.P50, assay.P90, assay.P99, assay.P999} {
			t.Figures[metric] = ns * float64(i+1)
		}
		for i := range 100 {
			t.Histogram = append(t.Histogram, assay.Bucket{Upper: 1000 << (i / 16) * int64(16+i%16) / 16, Count: 200})
		}
	}
	return t
}
