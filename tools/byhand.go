//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/plan"
	"assay/internal/stat"
	"assay/kit/process"
	"assay/kit/wire"
	"assay/plans"
)

// launches of both programs; a figure needs several, because two starts of
// one program differ by more than two windows of one start. Every launch has other
// layouts of both: where the linker happens to put functions moves the same source by 2 to 3 %.
const (
	launches = 8
	layouts  = 4
)

// byHand compares point reads through a worker with a loop written by hand
// that does the same work, with the same keys, in windows that alternate.
func (t *tools) byHand() error {
	for _, driver := range []string{"mattn", "modernc", "zombiezen", "sqlite-c"} {
		c, err := pointRead(driver)
		if err != nil {
			return err
		}
		ratio, err := t.ratioByHand(driver, c)
		if err != nil {
			return fmt.Errorf("%s by hand: %w", driver, err)
		}
		say("point reads of "+driver+", assay / by hand", ratio, "", "0.97 to 1.03", 0.97, 1.03)
	}
	return nil
}

// pointRead is the plan quick's point read on its small table.
func pointRead(driver string) (assay.Case, error) {
	text, _ := plans.Read("quick")
	p, err := plan.Decode("quick.yaml", text)
	if err != nil {
		return assay.Case{}, err
	}
	cases, err := p.Expand([]string{driver})
	if err != nil {
		return assay.Case{}, err
	}
	cases, err = plan.Select(cases, map[string][]string{"operation": {"point-read"}, "rows": {"100000"}, "profile": {"default"}})
	if err != nil {
		return assay.Case{}, err
	}
	return cases[0], nil
}

func (t *tools) ratioByHand(driver string, c assay.Case) (stat.Interval, error) {
	p, err := t.pointReads(driver, c)
	if err != nil {
		return stat.Interval{}, err
	}
	return t.ratio(p)
}

// pointReads are the worker of a driver and the loop written by hand, with what both need.
func (t *tools) pointReads(driver string, c assay.Case) (pair, error) {
	data, trace, keys, err := t.material(c)
	if err != nil {
		return pair{}, err
	}
	both, err := t.programs(driver)
	step := c.Operation.Steps[0]
	return pair{
		name: driver, length: trace.Length, copy: data.Copy,
		programs: both, open: wire.Open{Readers: 1, Idle: 1},
		operation: wire.Operation{Name: "point", Trace: trace.Path, Statement: wire.Once,
			Steps: []wire.Step{{SQL: step.SQL, Query: true, Args: 1, Rows: 1, Returns: []string{"int", "text", "int", "int"}}}},
		path: "file:", args: []string{keys},
	}, err
}

// pair is a worker and a loop written by hand that do the same.
type pair struct {
	name      string
	length    int                    // of the trace
	copy      func(dst string) error // makes a copy of the data
	programs  []programs             // launches take them in turn
	open      wire.Open              // without its path
	operation wire.Operation
	path      string   // what stands before the path that the loop by hand gets
	args      []string // of the loop by hand
}

// ratio measures both in several launches and returns worker / by hand.
func (t *tools) ratio(p pair) (stat.Interval, error) {
	var ratios []float64
	for launch := range launches {
		ratio, err := t.launchPair(p, launch)
		if err != nil {
			return stat.Interval{}, err
		}
		ratios = append(ratios, ratio)
	}
	return stat.LogInterval(ratios), nil
}

func (t *tools) launchPair(p pair, launch int) (float64, error) {
	copies := [2]string{filepath.Join(t.dir, fmt.Sprint(p.name, launch, "a.db")), filepath.Join(t.dir, fmt.Sprint(p.name, launch, "b.db"))}
	for _, path := range copies {
		if err := p.copy(path); err != nil {
			return 0, err
		}
		defer os.RemoveAll(path)
	}
	if launch/len(p.programs)%2 == 1 {
		copies[0], copies[1] = copies[1], copies[0] // neither always has the older copy
	}
	both := p.programs[launch%len(p.programs)]
	ours, err := t.startWorker(p, both.worker, copies[0])
	if err != nil {
		return 0, err
	}
	defer ours.worker.Kill()
	theirs, err := t.startByHand(p, both.byHand, copies[1])
	if err != nil {
		return 0, err
	}
	defer theirs.stop()
	return alternate(ours, theirs, p.length)
}

// material makes the data, the trace, and the trace's keys as text.
func (t *tools) material(c assay.Case) (*dataset.Data, *dataset.Trace, string, error) {
	data, err := (dataset.Cache{Dir: filepath.Join(t.cache, "data")}).Prepare(t.ctx, c.Dataset)
	if err != nil {
		return nil, nil, "", err
	}
	trace, err := data.Trace(t.ctx, c.Operation, 1<<16)
	if err != nil {
		return nil, nil, "", err
	}
	keys := filepath.Join(t.dir, "keys")
	return data, trace, keys, writeKeys(trace.Path, keys)
}

// alternate measures windows of both in turn, each first every other time, and returns ours / theirs.
func alternate(ours *assayLoop, theirs *handLoop, length int) (float64, error) {
	var nanos, operations [2]float64
	for round := range rounds {
		first := rand.IntN(length)
		for i := range 2 {
			which := (i + round) % 2
			n, took, err := []func(time.Duration, int) (int64, int64, error){ours.window, theirs.window}[which](windowLength, first)
			if err != nil {
				return 0, err
			}
			if round > 0 { // the first is the warm-up
				operations[which] += float64(n)
				nanos[which] += float64(took)
			}
		}
	}
	return nanos[0] / operations[0] / (nanos[1] / operations[1]), nil
}

// Windows of a run time operations that change nothing in batches where they
// are short (internal/runner/joint_launch.go); the ratios are of the same loop.
const (
	shortNanos = 10_000
	batchNanos = 40_000
)

// assayLoop is a worker with the operation prepared.
type assayLoop struct {
	t         *tools
	worker    *process.Worker
	operation wire.Operation
	batch     int64 // of operations that are timed together; 0: each alone
}

func (t *tools) startWorker(p pair, program, path string) (*assayLoop, error) {
	p.open.Path = path
	worker, err := t.opened(program, t.dir, p.open)
	if err != nil {
		return nil, err
	}
	return &assayLoop{t: t, worker: worker, operation: p.operation}, worker.Call(t.ctx, wire.TypePrepare, wire.Prepare{Operation: p.operation, Clients: 1}, nil)
}

func (l *assayLoop) window(length time.Duration, first int) (operations, nanos int64, err error) {
	var m wire.Measured
	request := wire.Measure{Operation: l.operation.Name, Start: int64(first), Nanos: int64(length), Batch: l.batch}
	err = l.worker.Call(l.t.ctx, wire.TypeMeasure, request, &m)
	if err == nil && m.Errors+m.Misses > 0 {
		err = fmt.Errorf("%s %s", m.Error, m.Miss)
	}
	if l.batch == 0 && !l.operation.Changes { // the first window, which is the warm-up
		l.batch = batchSize(m.Nanos / max(1, m.Operations))
	}
	return m.Operations, m.Nanos, err
}

// batchSize returns how many operations of a duration are timed together.
func batchSize(each int64) int64 {
	if each >= shortNanos {
		return 1
	}
	return batchNanos / max(1, each)
}

// handLoop is the program with the loop written by hand.
type handLoop struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

func (t *tools) startByHand(p pair, program, path string) (*handLoop, error) {
	command := exec.CommandContext(t.ctx, program, p.args...)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintln(in, p.path+path)
	return &handLoop{command, in, bufio.NewReader(out)}, err
}

func (l *handLoop) window(length time.Duration, first int) (operations, nanos int64, err error) {
	if _, err := fmt.Fprintln(l.in, int64(length), first); err != nil {
		return 0, 0, err
	}
	line, err := l.out.ReadString('\n')
	if err != nil {
		return 0, 0, err
	}
	_, err = fmt.Sscan(strings.TrimSpace(line), &operations, &nanos)
	return operations, nanos, err
}

func (l *handLoop) stop() {
	_ = l.in.Close()
	_ = l.command.Wait() // its figures are in already
}
