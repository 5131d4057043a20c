package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"assay/internal/sys/guard"
)

// The commands of assay that are started by assay itself: a process that makes
// a load, and a server that the generator's own limit is measured on.
const (
	GeneratorCommand = "load-generator"
	TargetCommand    = "load-target"
)

// reply holds what a generator in a process of its own says: a result, or why
// there is none.
type reply struct {
	Result Result       `json:"result"`
	Error  string       `json:"error,omitempty"`
	Panic  *guard.Panic `json:"panic,omitempty"`
}

// ServeOne reads one Config from in, as JSON, makes the load, and writes what
// came of it.
func ServeOne(ctx context.Context, in io.Reader, out io.Writer) error {
	var c Config
	if err := json.NewDecoder(in).Decode(&c); err != nil {
		return fmt.Errorf("read what load is wanted: %w", err)
	}
	var r reply
	err := guard.Error(func() (err error) {
		r.Result, err = Run(ctx, c)
		return err
	})
	if errors.As(err, &r.Panic) {
		r.Panic.Value = fmt.Sprint(r.Panic.Value) // any value can be written then
	} else if err != nil {
		r.Error = err.Error()
	}
	return json.NewEncoder(out).Encode(r)
}

// Generate has a command make a load that speaks as ServeOne does, and returns
// the CPU time that it used. The function starts it. A panic there is one here.
func Generate(ctx context.Context, command *exec.Cmd, c Config, start func(*exec.Cmd) error) (Result, time.Duration, error) {
	config, err := json.Marshal(c)
	if err != nil {
		return Result{}, 0, err
	}
	var out, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(config), &out, &stderr
	if err = start(command); err == nil {
		err = command.Wait()
	}
	var used time.Duration
	if state := command.ProcessState; state != nil {
		used = state.UserTime() + state.SystemTime()
	}
	if ctx.Err() != nil {
		return Result{}, used, ctx.Err()
	}
	if err != nil {
		return Result{}, used, fmt.Errorf("the load generator: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	var r reply
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return Result{}, used, fmt.Errorf("the load generator: %w in %q", err, out.Bytes())
	}
	if r.Panic != nil {
		panic(r.Panic)
	}
	if r.Error != "" {
		return Result{}, used, errors.New("the load generator: " + r.Error)
	}
	return r.Result, used, nil
}
