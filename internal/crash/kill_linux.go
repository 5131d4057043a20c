package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"assay"
	"assay/internal/crash/powercut"
	"assay/internal/sys/guard"
	"assay/kit/process"
)

// kill ends the process that has the database open: the worker, or all processes of its server.
func kill() fault {
	return fault{Fault: assay.Kill, level: processLevel, subject: "A process that is killed", weight: 2, server: "A server that is killed",
		inject: repeatedly(func(t *trial, ctx context.Context) (evidence, observation, error) {
			if t.server {
				return t.killedServer(ctx)
			}
			return t.killWorker(ctx)
		})}
}

const (
	// longestLife is how long after it began to write a worker is killed at the latest.
	longestLife = 300 * time.Millisecond
	// longestCommit is how long after an acknowledgement a server is killed at the latest
	// that is to be killed about a commit.
	longestCommit = 3 * time.Millisecond
	// marksInterval is how often the acknowledgements are counted until then.
	marksInterval = 200 * time.Microsecond
	// longestWait is how long they are waited for: a disk may be slow.
	longestWait = 10 * longestLife
)

// killWorker kills the worker, at a random time or at a system call in turns, and
// looks at what it left.
func (t *trial) killWorker(ctx context.Context) (evidence, observation, error) {
	call, under, err := t.drawKillPoint(ctx)
	life := callPatience - longestLife // where the call decides
	if err == nil && len(under) == 0 {
		life, err = t.drawLife(ctx)
	}
	if err != nil {
		return evidence{}, observation{}, err
	}
	return t.left(ctx, func(e *evidence, path, marks string) error {
		db, err := t.begin(ctx, path, under)
		if err == nil {
			e.unfelt, err = t.writeUntil(ctx, db, func(ctx context.Context) { sleep(ctx, life) }, db.kill, marks)
		}
		if ended := (*process.ExitError)(nil); len(under) > 0 && errors.As(err, &ended) && ended.Status == killedStatus {
			e.Finding.Moment = powercut.Moment("before " + call)
			return nil
		}
		return err
	})
}

// killedStatus is how a worker ended that was killed.
const killedStatus = "signal: killed"

// drawLife draws how long a worker lives that writes. The workload is timed once, since
// behind its end nothing is under way.
func (t *trial) drawLife(ctx context.Context) (time.Duration, error) {
	if t.lasts == 0 {
		took, err := t.rehearse(ctx, nil)
		if err != nil {
			return 0, err
		}
		t.lasts = min(longestLife, took)
	}
	return 1 + time.Duration(t.random.Float64()*float64(t.lasts)), nil
}

// rehearse runs the workload once, under a program that watches it, and returns how long it took.
func (t *trial) rehearse(ctx context.Context, under []string) (took time.Duration, err error) {
	err = t.inFolder(func(path, marks string) error {
		db, err := t.begin(ctx, path, under)
		if err != nil {
			return err
		}
		defer db.kill()
		began := time.Now()
		_, err = t.writeForAWhile(ctx, db, marks)
		took = time.Since(began)
		return err
	})
	return took, err
}

// drawKillPoint draws a system call to kill the worker at, and the program that does so;
// none in every other attempt, where a time decides, and without a tracer.
func (t *trial) drawKillPoint(ctx context.Context) (call string, under []string, err error) {
	if missing := strace().missing; missing != "" {
		t.result.remark("killed at random times only, and not at system calls: " + missing)
		return "", nil, nil
	}
	if t.turn%2 == 0 {
		return "", nil, nil
	}
	if t.made == nil {
		if t.made, err = t.callsMade(ctx); err != nil {
			return "", nil, err
		}
	}
	drawn := t.made[t.random.IntN(len(t.made))]
	return drawn.call, strace().killing(drawn.call, drawNumber(t.random, drawn.count)), nil
}

// callsMade returns the calls that the workload makes, so that a worker is killed at those that come.
func (t *trial) callsMade(ctx context.Context) ([]callCount, error) {
	traced := filepath.Join(t.work, "calls")
	if _, err := t.rehearse(ctx, strace().counting(traced)); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(traced)
	made := countCalls(string(text))
	if err == nil && len(made) == 0 {
		err = errors.New("strace saw the worker make no call by which data reaches a file")
	}
	return made, err
}

// killedServer kills all processes of the worker's server, in turns at a random time and
// right behind a random acknowledgement, and looks at what it left.
func (t *trial) killedServer(ctx context.Context) (evidence, observation, error) {
	t.result.remark("servers are killed at random times and after acknowledgements, and not at system calls")
	pause, err := t.drawLife(ctx)
	if err != nil {
		return evidence{}, observation{}, err
	}
	return t.left(ctx, func(e *evidence, path, marks string) error {
		wait := func(ctx context.Context) { sleep(ctx, pause) }
		if t.turn%2 == 1 {
			e.Finding.Moment, wait = powercut.Acked, t.untilAcked(marks)
		}
		db, err := t.begin(ctx, path, nil)
		if err != nil {
			return err
		}
		defer db.kill()
		e.unfelt, err = t.writeUntil(ctx, db, wait, func() { db.server.send(killRequest) }, marks)
		return err
	})
}

// untilAcked waits for a random acknowledgement, though not for ever, and a random part of the next commit.
func (t *trial) untilAcked(marks string) func(context.Context) {
	count, pause := 1+t.random.IntN(t.history.transactions()/4), time.Duration(t.random.Int64N(int64(longestCommit)))
	return func(ctx context.Context) {
		for began := time.Now(); ctx.Err() == nil && acknowledged(marks) < count && time.Since(began) < longestWait; {
			sleep(ctx, marksInterval)
		}
		sleep(ctx, pause)
	}
}

func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// writeUntil commits the workload and kills what runs it when a wait is over, or behind the last
// transaction where that comes first: it has finished then. Its error is one that came before.
func (t *trial) writeUntil(ctx context.Context, db *database, wait func(context.Context), kill func(), marks string) (finished bool, err error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	var killed atomic.Bool
	over := make(chan error, 1)
	go func() {
		over <- guard.Error(func() error {
			wait(waiting)
			if waiting.Err() == nil {
				killed.Store(true)
				kill()
			}
			return nil
		})
	}()
	err = db.write(ctx, 0, t.history.transactions(), marks)
	early := killed.Load()
	cancel()
	if fault := <-over; fault != nil {
		return false, fault
	}
	kill()
	if err != nil && !early {
		return false, err
	}
	return err == nil, nil
}

// tracer is strace, which records the system calls of a worker, or kills it at
// one.
type tracer struct {
	path    string
	missing string // why it cannot be used here, and what that takes; empty: it can
}

// strace is tried once in a process: that it is installed does not say that it may
// trace, or that it has all options.
var strace = sync.OnceValue(func() tracer { return findTracer(context.Background()) })

func findTracer(ctx context.Context) tracer {
	path, err := exec.LookPath("strace")
	if err != nil {
		return tracer{missing: "strace is not installed: apt-get install strace"}
	}
	t := tracer{path: path}
	recording, killing := append(t.recording(os.DevNull), "true"), append(t.killing("exit_group", 1), "true")
	err = program(ctx, recording[0], recording[1:]...)
	if err == nil {
		err = program(ctx, killing[0], killing[1:]...)
		switch ended := (*exec.ExitError)(nil); {
		case err == nil:
			err = errors.New("it killed no process at a system call")
		case errors.As(err, &ended) && ended.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
			err = nil
		}
	}
	if err != nil {
		t.missing = fmt.Sprintf("strace does not work here (%s): allow it to trace; a container needs --cap-add SYS_PTRACE", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return t
}

// recording is the program with arguments that runs a worker and writes its
// calls on files to a file.
func (t tracer) recording(output string) []string {
	return []string{t.path, "-f", "-qq", "-y", "--seccomp-bpf", "-s", "4096", "-e", "signal=none", "-e", "trace=?" + strings.Join(powercut.TracedCalls, ",?"), "-o", output, "--"}
}

// counting is the program with arguments that runs a worker and writes some of
// its calls to a file.
func (t tracer) counting(output string) []string {
	return []string{t.path, "-f", "-qq", "--seccomp-bpf", "-s", "0", "-e", "signal=none", "-e", "trace=?" + strings.Join(killingCalls, ",?"), "-o", output, "--"}
}

// killing is the program with arguments that runs a worker and kills it before a
// system call of a number, which each thread counts on its own. Without
// --seccomp-bpf: with it the kernel sends no signal before a call.
func (t tracer) killing(call string, number int) []string {
	return []string{t.path, "-f", "-o", os.DevNull, "-e", "trace=?" + call, "-e", fmt.Sprintf("inject=?%s:signal=KILL:when=%d", call, number), "--"}
}

// killingCalls holds the calls that a worker is killed at: by one of them data reaches a
// file or the disk.
var killingCalls = []string{"fsync", "fdatasync", "msync", "pwrite64", "write", "ftruncate", "unlink", "unlinkat", "rename", "renameat", "renameat2", "sync_file_range"}

// callCount says how often a thread makes a system call, at most.
type callCount struct {
	call  string
	count int
}

// countCalls reads what counting wrote, and returns the calls by name.
func countCalls(traced string) []callCount {
	byThread, most := map[string]int{}, map[string]int{}
	for line := range strings.Lines(traced) {
		thread, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		call, _, begins := strings.Cut(strings.TrimSpace(rest), "(")
		if !begins || !slices.Contains(killingCalls, call) { // the end of a call that was noted before, or of a thread
			continue
		}
		id := thread + " " + call
		byThread[id]++
		most[call] = max(most[call], byThread[id])
	}
	var all []callCount
	for _, call := range slices.Sorted(maps.Keys(most)) {
		all = append(all, callCount{call, most[call]})
	}
	return all
}
