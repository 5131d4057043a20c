//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/store"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long anything may take that is waited for.
const patience = 60 * time.Second

// The test program is assay, and also every worker: the scripts see both as
// programs of their own.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "1") // scripts measure, and the machine is small
	testscript.Main(m, map[string]func(){"assay": main, "fake-worker": worker})
}

// TestScripts runs testdata/*.txtar. Each script has folders of its own for
// results and caches, and a folder of workers, one for each of faults.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                "testdata",
		RequireUniqueNames: true,
		Setup:              setup,
		Condition:          condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   status,
			"outcomes": outcomes,
			"reason":   reason,
			"agree":    agree,
			"trials":   trials,
			"lines":    lines,
			"start":    start,
			"gate":     waitForGate,
			"signal":   send,
			"finish":   finish,
			"workers":  countWorkers,
			"tidy":     tidy,
			"tmpfs":    tmpfs,
		},
	})
}

func setup(env *testscript.Env) error {
	for name, folder := range map[string]string{"XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache", "ASSAY_SOURCE": "source"} {
		env.Setenv(name, filepath.Join(env.WorkDir, folder))
	}
	source := filepath.Join(env.WorkDir, "source")
	files := map[string]string{"kit/go.mod": "module assay/kit\n"}
	for name := range faults {
		files["workers/"+name+"/worker"] = "#!/bin/sh\nexec fake-worker " + name + "\n"
		files["workers/"+name+"/README"] = "Fake worker " + name + "\n"
	}
	for name, text := range files {
		path := filepath.Join(source, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			return err
		}
	}
	return os.CopyFS(filepath.Join(env.WorkDir, "plans"), os.DirFS("testdata/plans"))
}

func condition(name string) (bool, error) {
	switch name {
	case "root":
		return os.Getuid() == 0, nil
	case "proc":
		_, err := os.Stat("/proc/self/environ")
		return err == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

func want(ts *testscript.TestScript, ok bool, synopsis string) {
	if !ok {
		ts.Fatalf("usage: %s", synopsis)
	}
}

// status N PROGRAM ARGS... runs a program that must exit with status N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) >= 2 && !neg, "status N PROGRAM ARGS...")
	err := ts.Exec(args[1], args[2:]...)
	if got := exitStatus(err); got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// exitStatus is the status of an ended program, or the signal that ended it.
func exitStatus(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &exit) && exit.Exited():
		return strconv.Itoa(exit.ExitCode())
	}
	return err.Error()
}

// report is the part of a JSON report that the tests look at.
type reportJSON struct {
	Run struct {
		ID string `json:"id"`
	} `json:"run"`
	Tables []struct {
		Title string    `json:"title"`
		Rows  []rowJSON `json:"rows"`
		Twins []rowJSON `json:"twins"`
	} `json:"tables"`
}

type rowJSON struct {
	Operation string       `json:"operation"`
	Driver    string       `json:"driver"`
	Profile   string       `json:"profile"`
	Clients   int          `json:"clients"`
	Outcome   string       `json:"outcome"`
	Reason    string       `json:"reason"`
	Figures   []figureJSON `json:"figures"`
	Trials    []struct {
		Outcome string `json:"outcome"`
		Digest  string `json:"digest"`
	} `json:"trials"`
}

type figureJSON struct {
	Metric string  `json:"metric"`
	N      int     `json:"n"`
	Center float64 `json:"center"`
}

func readReport(ts *testscript.TestScript) reportJSON {
	ts.Check(ts.Exec("assay", "report", "--format", "json"))
	var r reportJSON
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &r))
	return r
}

// csvRows returns the rows of the CSV report as maps by column.
func csvRows(ts *testscript.TestScript) []map[string]string {
	ts.Check(ts.Exec("assay", "report", "--format", "csv"))
	records := readCSV(ts, ts.ReadFile("stdout"))
	var rows []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, column := range records[0] {
			row[column] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// outcomes FILE compares the newest run's outcomes as the CSV has them with a
// file of lines: operation, driver, profile, outcome.
func outcomes(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "outcomes FILE")
	var got []string
	for _, row := range csvRows(ts) {
		got = append(got, strings.Join([]string{row["operation"], row["driver"], row["profile"], row["outcome"]}, " ")+"\n")
	}
	slices.Sort(got)
	have := strings.Join(slices.Compact(got), "")
	if wanted := ts.ReadFile(args[0]); have != wanted {
		ts.Fatalf("%s", diff.Diff(args[0], []byte(wanted), "outcomes", []byte(have)))
	}
}

// reason DRIVER OPERATION REGEXP matches the reason of one cell.
func reason(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 3, "reason DRIVER OPERATION REGEXP")
	found := false
	for _, table := range readReport(ts).Tables {
		for _, row := range table.Rows {
			if row.Driver != args[0] || row.Operation != args[1] {
				continue
			}
			found = true
			if regexp.MustCompile(args[2]).MatchString(row.Reason) == neg {
				ts.Fatalf("the reason of %s, %s is %q", args[0], args[1], row.Reason)
			}
		}
	}
	if !found {
		ts.Fatalf("no cell of %s, %s", args[0], args[1])
	}
}

// trials FILE writes every trial of the newest run to a file, one a line, in
// the order of the store.
func trials(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "trials FILE")
	s, err := store.Open(context.Background(), filepath.Join(ts.Getenv("XDG_DATA_HOME"), "assay", "assay.db"))
	ts.Check(err)
	defer s.Close()
	run, err := s.Run(context.Background(), "")
	ts.Check(err)
	var text []byte
	for trial, err := range s.Trials(context.Background(), run.ID) {
		ts.Check(err)
		line, err := json.Marshal(trial)
		ts.Check(err)
		text = append(text, run.ID+" "+string(line)+"\n"...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o644))
}

// lines BEFORE AFTER demands that a file has lines, and that all of them are
// the first ones of another that has more.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 2 && !neg, "lines BEFORE AFTER")
	before, after := ts.ReadFile(args[0]), ts.ReadFile(args[1])
	if before == "" || len(after) <= len(before) || !strings.HasPrefix(after, before) {
		ts.Fatalf("%s has %d lines and is not the beginning of %s with %d lines",
			args[0], strings.Count(before, "\n"), args[1], strings.Count(after, "\n"))
	}
}

// background is the assay that start started.
type background struct {
	command *exec.Cmd
	ended   chan error
}

// start ARGS... starts assay in a process group of its own, as a shell does.
// Its outputs go to background.out and background.err.
func start(ts *testscript.TestScript, neg bool, args []string) {
	program, err := exec.LookPath("assay")
	ts.Check(err)
	command := exec.Command(program, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Dir = ts.MkAbs(".")
	for _, name := range passed {
		command.Env = append(command.Env, name+"="+ts.Getenv(name))
	}
	command.Stdout, err = os.Create(ts.MkAbs("background.out"))
	ts.Check(err)
	command.Stderr, err = os.Create(ts.MkAbs("background.err"))
	ts.Check(err)
	ts.Check(command.Start())
	b := &background{command, make(chan error, 1)}
	go func() { b.ended <- command.Wait() }()
	ts.Defer(func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) })
	backgrounds[ts] = b
}

// passed are the variables that a background assay gets.
var passed = []string{"PATH", "HOME", "TMPDIR", "WORK", "XDG_DATA_HOME", "XDG_CACHE_HOME", "ASSAY_SOURCE", "GATE", "GATE_AT"}

var backgrounds = map[*testscript.TestScript]*background{}

// gate waits until a worker stands in the window whose number is GATE_AT, and
// keeps its process ID in the variable GATED.
func waitForGate(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 0 && !neg, "gate")
	reached := make(chan string, 1)
	go func() {
		if file, err := os.Open(ts.Getenv("GATE")); err == nil {
			text, _ := bufio.NewReader(file).ReadString('\n')
			file.Close()
			reached <- strings.TrimSpace(text)
		}
	}()
	select {
	case pid := <-reached:
		ts.Setenv("GATED", pid)
	case err := <-backgrounds[ts].ended:
		ts.Fatalf("assay ended before the gate: %v\n%s", err, ts.ReadFile("background.err"))
	case <-time.After(patience):
		ts.Fatalf("no worker came to the gate\n%s", ts.ReadFile("background.err"))
	}
}

// signal NAME [PID] sends a signal to the background assay, or to a process.
func send(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) > 0 && !neg, "signal NAME [PID]")
	pid := backgrounds[ts].command.Process.Pid
	if len(args) > 1 {
		var err error
		pid, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	ts.Check(syscall.Kill(pid, signals[args[0]]))
}

// finish STATUS waits for the background assay.
func finish(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "finish STATUS")
	select {
	case err := <-backgrounds[ts].ended:
		if got := exitStatus(err); got != args[0] {
			ts.Fatalf("exit status %s, want %s\n%s", got, args[0], ts.ReadFile("background.err"))
		}
	case <-time.After(patience):
		ts.Fatalf("assay does not end\n%s", ts.ReadFile("background.err"))
	}
}
