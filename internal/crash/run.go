//go:build unix

package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"assay"
	"assay/internal/sys/guard"
	"assay/kit/process"
)

// Config says how tasks are done.
type Config struct {
	Tasks []Task
	Lanes int                // processes that do tasks at the same time, each with a disk of its own
	Dir   string             // folder for their files
	Self  []string           // program and arguments that call Serve; the folder is put behind them
	Done  func(Result) error // called after each task, by one at a time; an error ends the others
}

// grace is how long a lane may take beyond the time of its task.
const grace = 3 * time.Minute

const (
	// endSoon tells a lane that the state at hand is the last one of its task.
	endSoon = syscall.SIGUSR1
	// lastPatience is how long that state may take.
	lastPatience = 5 * time.Second
)

// Run does all tasks. When it returns, or panics, nothing is mounted, attached or
// running any more. It panics where a goroutine of it did.
func Run(ctx context.Context, c Config) error {
	if err := sweep(c.Dir); err != nil {
		return err
	}
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	tasks := make(chan Task, len(c.Tasks))
	for _, task := range c.Tasks {
		tasks <- task
	}
	close(tasks)
	caught := guard.Catcher{Stop: cancel}
	var all sync.WaitGroup
	var one sync.Mutex
	done := func(r Result) error {
		one.Lock()
		defer one.Unlock()
		return c.Done(r)
	}
	failures := make([]error, c.Lanes)
	for i := range c.Lanes {
		all.Go(func() {
			caught.Do(func() { failures[i] = c.lane(limited, i, tasks, done) })
			if failures[i] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	caught.Rethrow()
	return errors.Join(append(failures, ctx.Err())...)
}

// lane does tasks one after the other in a process of its own, until there are no
// more. Of a task that is interrupted, it hands over the states that were tried.
func (c Config) lane(ctx context.Context, number int, tasks <-chan Task, done func(Result) error) error {
	var p *laneProcess
	defer func() { p.end() }()
	for task := range tasks {
		result := c.do(ctx, &p, number, task)
		if ctx.Err() != nil && (result.Outcome != assay.OK || result.States == 0) {
			return nil
		}
		if err := done(result); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// do has a lane do a task, starting one where there is none.
func (c Config) do(ctx context.Context, p **laneProcess, number int, task Task) Result {
	fail := func(outcome assay.Outcome, err error) Result {
		(*p).end()
		*p = nil
		reason, stack, _ := strings.Cut(err.Error(), "\n") // of the process that serves the disk, which is assay
		return Result{Task: task, Ending: Ending{outcome, reason, stack}}
	}
	if reason := Missing(task.Fault, task.FileSystem); reason != "" {
		return Result{Task: task, Ending: Ending{Outcome: assay.Unsupported, Reason: reason}}
	}
	if *p == nil {
		started, err := c.start(number)
		if err != nil {
			return fail(assay.Failed, err)
		}
		*p = started
	}
	limit := context.WithoutCancel(ctx)
	if task.Time > 0 {
		var cancel context.CancelFunc
		limit, cancel = context.WithTimeout(limit, task.Time+grace)
		defer cancel()
	}
	result, err := (*p).ask(ctx, limit, task)
	switch {
	case limit.Err() != nil:
		return fail(assay.TimedOut, fmt.Errorf("no result %s after the time of the task", grace))
	case err != nil:
		return fail(assay.Failed, err)
	case result.Reason != "" && result.Outcome != assay.Unsupported:
		(*p).end() // its disk may be in any state
		*p = nil
	}
	if task.FileSystem == assay.Tmpfs { // a lane may be root where this process is not
		result.remark("the disks that ran full were file systems in memory (tmpfs); for a disk " + Missing(task.Fault, assay.Ext4))
	}
	return result
}

// laneProcess is the process of a lane, seen from outside.
type laneProcess struct {
	command *exec.Cmd
	in      io.WriteCloser
	results *json.Decoder
	stderr  bytes.Buffer
	dir     string
	exited  chan struct{}
}

// start starts a lane in a mount namespace of its own, which the kernel takes
// down with everything in it when the lane ends. The lane ends with this process.
func (c Config) start(number int) (*laneProcess, error) {
	dir, err := makeFolder(c.Dir, strconv.Itoa(number))
	if err != nil {
		return nil, err
	}
	command := exec.Command(c.Self[0], append(c.Self[1:len(c.Self):len(c.Self)], dir)...)
	p := &laneProcess{command: command, dir: dir, exited: make(chan struct{})}
	command.SysProcAttr = namespaceAttributes()
	command.Stderr = &p.stderr
	if p.in, err = command.StdinPipe(); err != nil {
		return nil, err
	}
	out, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	command.Stdout = writer
	if err := process.Launch(command); err != nil {
		return nil, errors.Join(fmt.Errorf("start a disk: %w", err), out.Close())
	}
	p.results = json.NewDecoder(out)
	go func() {
		_ = command.Wait() // its status is in its results, or in what it said
		close(p.exited)
		_ = out.Close()
	}()
	return p, nil
}

// ask hands a task over and waits for its result, or for the end of limit. Where ctx ends,
// the task is to end soon.
func (p *laneProcess) ask(ctx, limit context.Context, task Task) (Result, error) {
	answer := make(chan error, 1)
	var result Result
	go func() {
		answer <- guard.Error(func() error {
			if err := json.NewEncoder(p.in).Encode(task); err != nil {
				return err
			}
			return p.results.Decode(&result)
		})
	}()
	last := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		_ = p.command.Process.Signal(endSoon) // it may have ended
		time.AfterFunc(lastPatience, func() { close(last) })
	})()
	select {
	case <-last:
		return Result{}, ctx.Err()
	case <-limit.Done():
		return Result{}, limit.Err()
	case err := <-answer:
		var fault *guard.Panic
		switch {
		case errors.As(err, &fault):
			panic(fault)
		case err != nil:
			_ = p.in.Close() // it ends where it has not
			<-p.exited
			return Result{}, fmt.Errorf("the process that serves the disk ended (%s): %s", p.command.ProcessState, strings.TrimSpace(p.stderr.String()))
		}
		return result, nil
	}
}

// end kills a lane and waits until the kernel has taken it down.
func (p *laneProcess) end() {
	if p == nil {
		return
	}
	_ = p.in.Close()
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) // it may have ended
	<-p.exited
	_ = removeFolder(p.dir) // swept at the next start if it cannot be removed now
}

// HostCommand is the argument with which this program hosts a server: it is followed
// by the folders of the data and of the socket, and by the settings as JSON.
const HostCommand = "crash-host"

const (
	lanePrefix = "disk-"
	filesName  = "files" // of the folder in a lane's that a recording file system is mounted on
)

// makeFolder makes an empty folder of this process.
func makeFolder(dir, name string) (string, error) {
	made := filepath.Join(dir, fmt.Sprintf("%s%d-%s", lanePrefix, os.Getpid(), name))
	err := os.RemoveAll(made)
	if err == nil {
		err = os.MkdirAll(made, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("folder for a disk: %w", err)
	}
	return made, nil
}

// removeFolder removes the folder of a lane that has ended. Its mounts ended with
// it, but where a user has no mount namespace: there the file system of files is
// still mounted, with nobody to serve it.
func removeFolder(dir string) error {
	err := os.RemoveAll(dir)
	if err != nil && exec.Command("fusermount3", "-u", "-z", "-q", filepath.Join(dir, filesName)).Run() == nil {
		err = os.RemoveAll(dir)
	}
	return err
}

// sweep removes the folders of processes that are gone.
func sweep(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder for disks: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("folder for disks: %w", err)
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), lanePrefix)
		text, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(text)
		if !ours || err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) { // another user's process lives, too
			continue
		}
		if err := removeFolder(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("remove what an earlier run left: %w", err)
		}
	}
	return nil
}
