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
	"assay/kit/process"
)

// Config says how tasks are done.
type Config struct {
	Tasks []Task
	Lanes int      // processes that do tasks at the same time, each with a disk of its own
	Dir   string   // folder for their files
	Self  []string // program and arguments that call Serve; the folder is put behind them
	Done  func(Result)
}

// grace is how long a lane may take beyond the time of its task.
const grace = 3 * time.Minute

// Run does all tasks. When it returns nothing is mounted, attached or running
// any more.
func Run(ctx context.Context, c Config) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("folder for disks: %w", err)
	}
	if err := sweep(c.Dir); err != nil {
		return err
	}
	tasks := make(chan Task)
	go func() {
		defer close(tasks)
		for _, task := range c.Tasks {
			select {
			case tasks <- task:
			case <-ctx.Done():
				return
			}
		}
	}()
	var all sync.WaitGroup
	var one sync.Mutex
	for i := range c.Lanes {
		all.Go(func() {
			var p *lanePeer
			defer func() { p.end() }()
			for task := range tasks {
				result := c.do(ctx, &p, i, task)
				if ctx.Err() != nil {
					return
				}
				one.Lock()
				c.Done(result)
				one.Unlock()
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// do has a lane do a task, starting one where there is none.
func (c Config) do(ctx context.Context, p **lanePeer, number int, task Task) Result {
	fail := func(outcome assay.Outcome, err error) Result {
		(*p).end()
		*p = nil
		return Result{Task: task, Outcome: outcome, Reason: err.Error()}
	}
	if reason := Missing(task.Fault); reason != "" {
		return Result{Task: task, Outcome: assay.Unsupported, Reason: reason}
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
	}
	return result
}

// lanePeer is the process of a lane, seen from outside.
type lanePeer struct {
	command *exec.Cmd
	in      io.WriteCloser
	results *json.Decoder
	stderr  bytes.Buffer
	dir     string
	exited  chan struct{}
}

// start starts a lane in a mount namespace of its own, which the kernel takes
// down with everything in it when the lane ends. The lane ends with this process.
func (c Config) start(number int) (*lanePeer, error) {
	dir := filepath.Join(c.Dir, fmt.Sprintf("%s%d-%d", lanePrefix, os.Getpid(), number))
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("folder for a disk: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("folder for a disk: %w", err)
	}
	command := exec.Command(c.Self[0], append(c.Self[1:len(c.Self):len(c.Self)], dir)...)
	p := &lanePeer{command: command, dir: dir, exited: make(chan struct{})}
	command.SysProcAttr = apart()
	command.Stderr = &p.stderr
	var err error
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

// ask hands a task over and waits for its result, or for the end of either
// context.
func (p *lanePeer) ask(ctx, limit context.Context, task Task) (Result, error) {
	answer := make(chan error, 1)
	var result Result
	go func() {
		err := json.NewEncoder(p.in).Encode(task)
		if err == nil {
			err = p.results.Decode(&result)
		}
		answer <- err
	}()
	select {
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case <-limit.Done():
		return Result{}, limit.Err()
	case err := <-answer:
		if err != nil {
			<-p.exited
			return Result{}, fmt.Errorf("the process that serves the disk ended: %w: %s", err, strings.TrimSpace(p.stderr.String()))
		}
		return result, nil
	}
}

// end kills a lane and waits until the kernel has taken it down.
func (p *lanePeer) end() {
	if p == nil {
		return
	}
	_ = p.in.Close()
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL) // it may have ended
	<-p.exited
	_ = os.RemoveAll(p.dir) // swept at the next start if it cannot be removed now
}

const lanePrefix = "disk-"

// sweep removes the folders of processes that are gone. Nothing is mounted there
// any more: their mounts ended with them.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("folder for disks: %w", err)
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), lanePrefix)
		text, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(text)
		if !ours || err != nil || syscall.Kill(pid, 0) == nil {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("remove what an earlier run left: %w", err)
		}
	}
	return nil
}

// Apart runs a command in a mount namespace of its own, and returns what it
// wrote to its output.
func Apart(ctx context.Context, command *exec.Cmd) ([]byte, error) {
	var out, stderr bytes.Buffer
	command.SysProcAttr, command.Stdout, command.Stderr = apart(), &out, &stderr
	if err := process.Launch(command); err != nil {
		return nil, fmt.Errorf("start a disk: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) })
	defer stop()
	if err := command.Wait(); err != nil {
		return nil, fmt.Errorf("the process that serves the disk: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return out.Bytes(), nil
}
