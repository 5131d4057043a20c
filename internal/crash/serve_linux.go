package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"time"

	"assay"
	"assay/internal/crash/powercut"
	"assay/internal/sys/guard"
	"assay/kit/process"
)

// Serve does tasks: one JSON object a line in, one Result a line out. dir is an
// empty folder. It is to run in a process and a mount namespace of its own. After the
// signal endSoon, the state at hand is the last one.
func Serve(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	l, err := newLane(ctx, dir, missingDisk() == "")
	if err != nil {
		return err
	}
	defer l.close()
	l.soon = make(chan os.Signal, 1)
	signal.Notify(l.soon, endSoon)
	tasks, results := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var task Task
		if err := tasks.Decode(&task); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read a task: %w", err)
		}
		if err := results.Encode(l.do(ctx, task)); err != nil {
			return fmt.Errorf("hand a result back: %w", err)
		}
	}
}

// do does one task.
func (l *lane) do(ctx context.Context, task Task) Result {
	began := time.Now()
	l.onFiles = !task.onDisk() && about(task.Fault).level != processLevel // files, or a file system in memory
	t, err := newTrial(l, task)
	if task.Time > 0 {
		t.deadline = began.Add(task.Time)
	}
	if err == nil && task.onDisk() {
		err = l.format(ctx)
	}
	if err == nil {
		err = guard.Error(func() error {
			if task.Replay != nil {
				return t.replay(ctx)
			}
			return t.fault(ctx)
		})
	}
	t.end(errors.Join(err, t.keep()))
	t.result.Took = time.Since(began)
	return *t.result
}

// end makes what went wrong the outcome. A promise that was refuted before stays so.
func (t *trial) end(err error) {
	var fault *guard.Panic
	switch {
	case errors.As(err, &fault):
		t.result.Ending = Ending{assay.Failed, fault.Error(), string(fault.Stack)}
	case err != nil && t.result.Refuted() != Unharmed:
		t.result.Reason = err.Error()
		t.result.remark(fmt.Sprintf("%s of %s, %s ended early: %s", t.task.Fault, t.task.Driver, t.task.Profile, err))
	case process.IsUnsupported(err):
		t.result.Ending = Ending{Outcome: assay.Unsupported, Reason: err.Error()}
	case err != nil:
		t.result.Ending = Ending{Outcome: assay.Failed, Reason: err.Error()}
	}
}

func newTrial(l *lane, task Task) (*trial, error) {
	t := &trial{lane: l, task: task, random: rand.New(rand.NewPCG(task.Seed, 3)),
		result: &Result{Task: task, Ending: Ending{Outcome: assay.OK}, Tried: Tried{Counts: map[Damage]int{}, ByMoment: map[powercut.Moment]int{}}}}
	var err error
	t.workload, err = newWorkload(l.work, transactions, cmp.Or(task.Bytes, valueBytes), task.Seed)
	return t, err
}
