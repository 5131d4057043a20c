//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/kit/wire"
)

// testContext is for fakes, which have no test.
var testContext = context.Background()

// a moment is how long a test waits for what never comes.
const moment = 50 * time.Millisecond

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func begin(t *testing.T, name string, options Options) *Worker {
	t.Helper()
	w, err := Start(t.Context(), program(t, name), options)
	must(t, err)
	t.Cleanup(w.Kill)
	return w
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), moment)
	t.Cleanup(cancel)
	return ctx
}

func status(t *testing.T, w *Worker, want string) {
	t.Helper()
	if w.Alive() {
		t.Error("it lives")
	}
	if got := w.Status(); got != want {
		t.Errorf("it ended with %q, want %q", got, want)
	}
}

func TestTalk(t *testing.T) {
	t.Parallel()
	var trace strings.Builder
	w := begin(t, "verbose", Options{Trace: &trace})
	want := wire.Hello{Type: "hello", Protocol: 1, Target: wire.Target{Driver: "fake", DriverVersion: "v1"}, Capabilities: []string{"lies"}}
	if got := w.Hello(); !reflect.DeepEqual(got, want) {
		t.Errorf("hello %+v, want %+v", got, want)
	}
	for i, c := range []struct {
		request any
		want    string
	}{
		{nil, `{"type":"stats","id":1}`},
		{struct{}{}, `{"type":"stats","id":2}`},
		{wire.Settings{Names: []string{"a"}}, `{"type":"stats","id":3,"names":["a"]}`},
		{map[string]any{"x": nil}, `{"type":"stats","id":4,"x":null}`},
	} {
		var got struct{ Asked string }
		if err := w.Call(t.Context(), wire.TypeStats, c.request, &got); err != nil || got.Asked != c.want {
			t.Errorf("request %d: asked %s, %v; want %s", i, got.Asked, err, c.want)
		}
	}
	var refused *wire.Error
	if err := w.Call(t.Context(), wire.TypeServe, nil, nil); !errors.As(err, &refused) || *refused != (wire.Error{Code: "failed", Message: "disk full"}) {
		t.Errorf("got %v, want the worker's error", err)
	}
	closed, err := w.Stop(t.Context())
	if err != nil || closed.Nanos != 7 {
		t.Errorf("closed %+v, %v", closed, err)
	}
	status(t, w, "exit status 0")
	if w.Usage() <= 0 {
		t.Error("it used no CPU time")
	}
	log := strings.Split(trace.String(), "\n")
	prefix := fmt.Sprint(w.PID(), " ")
	if log[1] != prefix+`> {"type":"stats","id":1}` || !strings.HasPrefix(log[0], prefix+`< {"type":"hello"`) || len(log) != 14 {
		t.Errorf("the trace has %d lines:\n%s", len(log), trace.String())
	}
}

// TestUnsendable: a request that cannot be sent leaves the worker as it was.
func TestUnsendable(t *testing.T) {
	t.Parallel()
	w := begin(t, "honest", Options{})
	if err := w.Call(t.Context(), wire.TypeStats, func() {}, nil); err == nil {
		t.Error("a function was sent")
	}
	if err := w.Call(t.Context(), wire.TypeStats, map[string]string{"x": strings.Repeat("y", wire.MaxLine)}, nil); !errors.Is(err, wire.ErrLine) {
		t.Errorf("too long: %v", err)
	}
	if err := w.Call(t.Context(), wire.TypeStats, map[string]string{"x": strings.Repeat("y", 1<<20)}, nil); err != nil {
		t.Errorf("a megabyte: %v", err)
	}
	if w.Usage() != 0 {
		t.Error("CPU time is told while it runs")
	}
}

// faulty is a pipe that nothing can be done with.
type faulty struct{ io.Closer }

func (faulty) Read([]byte) (int, error) { panic("planted") }

func (faulty) Write([]byte) (int, error) { panic("planted") }

// TestPanicInAGoroutine: a fault of the goroutine that reads, or of the one that
// writes, reaches the one that talks; the worker is dead then.
func TestPanicInAGoroutine(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(w *Worker){
		"reading": func(w *Worker) { w.stdout = faulty{w.stdout} },
		"writing": func(w *Worker) { w.stdin = faulty{w.stdin} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.Command(program(t, "honest"))
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			w := &Worker{command: command, lines: make(chan line, 16), exited: make(chan struct{}), tail: &tail{}, step: stepPatience}
			must(t, w.start(nil))
			t.Cleanup(w.Kill)
			plant(w)
			go w.read()
			go w.reap()
			fault := caught(func() {
				if err := w.handshake(t.Context()); err != nil {
					t.Errorf("handshake: %v", err)
				}
				_ = w.Call(t.Context(), wire.TypeStats, nil, nil)
			})
			if fault == nil {
				t.Fatal("got no panic, want the planted one")
			}
			if known, ok := fault.Value.(*Panic); !ok || known.Error() != "planted" || !strings.Contains(string(known.Stack()), "process.faulty") {
				t.Errorf("got %v, want the planted panic with its stack", fault)
			}
			if w.Alive() {
				t.Error("the worker is alive")
			}
		})
	}
}

func TestGarbageIsAnswered(t *testing.T) {
	t.Parallel()
	w := begin(t, "honest", Options{})
	var refused *wire.Error
	if err := w.Garbage(t.Context(), "{"); !errors.As(err, &refused) || refused.Code != wire.Invalid {
		t.Errorf("got %v", err)
	}
	if !w.Alive() {
		t.Error("it is dead")
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"french":         `hello: worker broke the protocol: its first line is not a hello: "bonjour"`,
		"early reply":    `hello: worker broke the protocol: its first line is not a hello: "{\"type\":\"ok\",\"id\":1}"`,
		"next protocol":  "hello: worker broke the protocol: it speaks version 2, this is version 1: build worker and assay from the same source",
		"dead on arrive": "hello: worker ended (exit status 2); last lines of stderr:\n  no such library",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Start(t.Context(), program(t, name), Options{})
			if text := strings.TrimPrefix(fmt.Sprint(err), "hello: "); "hello: "+text != want {
				t.Errorf("got %v\nwant %s", err, want)
			}
		})
	}
	t.Run("mute", func(t *testing.T) {
		t.Parallel()
		if _, err := Start(soon(t), program(t, "mute"), Options{}); !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		if _, err := Start(t.Context(), filepath.Join(t.TempDir(), "missing"), Options{}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}

// TestBroken: whoever breaks the protocol is dead after it, and every later
// call says the same.
func TestBroken(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"garbled":      `worker broke the protocol: not a reply: "\"what?\""`,
		"undecided":    `worker broke the protocol: unknown type of reply: "{\"type\":\"maybe\",\"id\":1}"`,
		"shapeless":    `worker broke the protocol: its reply does not fit: json: cannot unmarshal array into Go value of type wire.Counters: "{\"type\":\"ok\",\"id\":1,\"body\":[1]}"`,
		"off by one":   "worker broke the protocol: it answered request 2 instead of 1",
		"endless line": "worker broke the protocol: line longer than 4194304 bytes",
		"half a line":  "worker broke the protocol: unexpected EOF",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, name, Options{})
			for range 2 {
				var breach *ProtocolError
				err := w.Call(t.Context(), wire.TypeStats, nil, new(wire.Counters))
				if !errors.As(err, &breach) || err.Error() != want {
					t.Errorf("got %v\nwant %s", err, want)
				}
			}
			if w.Alive() {
				t.Error("it lives")
			}
			if _, err := w.Stop(t.Context()); err == nil || err.Error() != want {
				t.Errorf("stop: %v", err)
			}
		})
	}
}

func TestExit(t *testing.T) {
	t.Parallel()
	t.Run("crash", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "crash", Options{})
		want := &ExitError{Status: "exit status 3", Code: 3}
		for i := range 32 {
			want.Tail = append(want.Tail, fmt.Sprint("line ", i+9))
		}
		for range 2 {
			var got *ExitError
			if err := w.Call(t.Context(), wire.TypeStats, nil, nil); !errors.As(err, &got) || !reflect.DeepEqual(got, want) {
				t.Errorf("got %v\nwant %v", err, want)
			}
		}
		if err := w.Pause(); err == nil {
			t.Error("a dead worker was stopped")
		}
	})
	t.Run("suicide", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "suicide", Options{})
		if err := w.Call(t.Context(), wire.TypeStats, nil, nil); err == nil || err.Error() != "worker ended (signal: killed)" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("closed mouth", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "closed mouth", Options{})
		w.step = moment
		if err := w.Call(t.Context(), wire.TypeStats, nil, nil); err == nil || err.Error() != "worker ended (signal: killed)" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("before a request", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "honest", Options{})
		must(t, syscall.Kill(w.PID(), syscall.SIGKILL))
		<-w.exited
		var got *ExitError
		if err := w.Call(t.Context(), wire.TypeStats, nil, nil); !errors.As(err, &got) || got.Status != "signal: killed" {
			t.Errorf("got %v", err)
		}
	})
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	long := map[string]string{"x": strings.Repeat("y", 1<<20)} // more than a pipe holds
	for name, request := range map[string]any{"silent": nil, "deaf": long} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, name, Options{})
			for range 2 {
				if err := w.Call(soon(t), wire.TypeStats, request, nil); !errors.Is(err, ErrTimeout) {
					t.Errorf("got %v", err)
				}
			}
			status(t, w, "signal: killed")
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		w := begin(t, "silent", Options{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Call(ctx, wire.TypeStats, nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		status(t, w, "signal: killed")
	})
}

// TestLadder: each step ends those that the step before did not.
func TestLadder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step   time.Duration // long where it is the step that ends it
		err    error
		closed int64
		status string
	}{
		"honest":       {time.Minute, nil, 7, "exit status 0"},
		"end of input": {time.Minute, ErrTimeout, 0, "exit status 0"},
		"lingering":    {5 * time.Second, nil, 7, "exit status 5"},
		"deaf":         {5 * time.Second, ErrTimeout, 0, "signal: terminated"},
		"stubborn":     {moment, ErrTimeout, 0, "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, name, Options{})
			w.step = c.step
			ctx := t.Context()
			if c.err != nil {
				ctx = soon(t)
			}
			closed, err := w.Stop(ctx)
			if !errors.Is(err, c.err) || closed.Nanos != c.closed {
				t.Errorf("closed %+v, %v", closed, err)
			}
			status(t, w, c.status)
		})
	}
}

func TestEndInput(t *testing.T) {
	t.Parallel()
	w := begin(t, "honest", Options{})
	must(t, w.EndInput())
	status(t, w, "exit status 0")
}

func TestPause(t *testing.T) {
	t.Parallel()
	w := begin(t, "honest", Options{})
	for range 3 {
		must(t, errors.Join(w.Pause(), w.Resume(t.Context())))
	}
	must(t, w.Pause())
	closed, err := w.Stop(t.Context())
	if err != nil || closed.Nanos != 7 {
		t.Errorf("stopped while paused: %+v, %v", closed, err)
	}
	status(t, w, "exit status 0")
}

func TestPausedWorkerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := begin(t, "honest", Options{})
	must(t, w.Pause())
	for t.Context().Err() == nil { // the thread that takes the signal may have to wait for a processor
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.PID())); err != nil || strings.Contains(string(stat), ") T ") {
			break
		}
	}
	if err := w.Call(soon(t), wire.TypeStats, nil, nil); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v", err)
	}
	status(t, w, "signal: killed")
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"program": 0o755, "text": 0o644} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, mode))
	}
	t.Chdir(dir)
	if got, err := Find("program"); err != nil || got != filepath.Join(dir, "program") {
		t.Errorf("got %q, %v", got, err)
	}
	for name, want := range map[string]string{
		"missing": "stat missing: no such file or directory",
		"text":    "text: not an executable file",
		".":       ".: not an executable file",
	} {
		if _, err := Find(name); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

// A worker asks the server that it is told, whatever the user's own one is.
func TestNoVariablesOfPostgres(t *testing.T) {
	t.Setenv("PGHOSTADDR", "127.0.0.1")
	t.Setenv("PGOPTIONS", "-c fsync=off")
	w := begin(t, "honest", Options{})
	if i := slices.IndexFunc(w.command.Env, func(variable string) bool { return strings.HasPrefix(variable, "PG") }); i >= 0 || len(w.command.Env) == 0 {
		t.Errorf("got %q of %d variables", w.command.Env[max(0, i)], len(w.command.Env))
	}
}
