//go:build unix

// Package process is assay's side of the wire: it starts a worker program,
// talks to it, stops and wakes it, and ends it in steps, each with a
// deadline: close request, end of input, SIGTERM, SIGKILL.
package process

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
	"slices"
	"strings"
	"syscall"
	"time"

	"assay/kit/wire"
)

// Patience is how long a worker may take to say hello, and to end when it is asked to.
// Tests of workers that do neither shorten it before they start one.
var Patience = 30 * time.Second

// The deadlines of the other steps.
const (
	stepPatience = 2 * time.Second
	// outputPatience is how long output is still read after the process ended:
	// a grandchild that keeps it open must not keep us waiting.
	outputPatience = time.Second
)

// Worker is a running worker program. Its methods are for one goroutine.
type Worker struct {
	hello    wire.Hello
	command  *exec.Cmd
	stdin    io.WriteCloser
	stdout   io.ReadCloser
	lines    chan line
	exited   chan struct{} // closed when the process was waited for
	tail     *tail
	trace    io.Writer // the talk is copied here; nil: nowhere
	next     int64
	step     time.Duration // between the last steps of ending it
	stopped  bool
	killed   bool      // the whole group
	broken   error     // the talk cannot go on
	digester *digester // nil: the worker digests its answers itself
	handle   handler
}

// handler answers a request: by the worker, and what assay does itself.
type handler func(ctx context.Context, kind string, request, reply any) error

type line struct {
	data  []byte
	err   error
	fault *Panic
}

// Options say how to start a worker.
type Options struct {
	Dir   string    // working directory
	Under []string  // program and arguments that run the worker, such as a tracer; empty: nothing
	Trace io.Writer // gets a copy of every line, for debugging
	CPUs  []int     // processors that it may use; none: all. On Linux only
	// Paused says that the worker will be paused again and again between requests:
	// it gets the variable keepsMonitorAwake.
	Paused bool
}

// keepsMonitorAwake is the variable by which the monitor thread of Go's runtime
// (sysmon) does not sleep while all goroutines wait. After such a sleep it looks for
// work every 20 µs for some milliseconds, longer than a window: where it shares a
// processor with the operation, that takes a third longer. The monitor of a program
// that serves its users is seldom asleep; that of a worker sleeps before each window.
// By this setting the runtime also prints a line on its scheduler, where the machine
// has run for longer than it can count in milliseconds, 25 days, and more of them when
// the program crashes: they are no part of a worker's last words.
const keepsMonitorAwake = "GODEBUG=schedtrace=2147483647"

// keepMonitorAwake adds the variable to a command's environment, behind what GODEBUG
// has already.
func keepMonitorAwake(command *exec.Cmd) {
	setting := keepsMonitorAwake
	if set := os.Getenv("GODEBUG"); set != "" {
		setting = strings.Replace(setting, "=", "="+set+",", 1)
	}
	command.Env = append(command.Environ(), setting)
}

// WithoutPostgres is an environment without the variables by which clients of PostgreSQL
// take another server, or other settings, than those that they are given.
func WithoutPostgres(environment []string) []string {
	return slices.DeleteFunc(environment, func(variable string) bool { return strings.HasPrefix(variable, "PG") })
}

// NotInstalled is the exit status of a worker that lacks what it is written in
// (EX_UNAVAILABLE of sysexits.h).
const NotInstalled = 69

// IsUnsupported reports whether an error of a worker says that it cannot do something:
// it said so, or it ended for want of what it is written in.
func IsUnsupported(err error) bool {
	var remote *wire.Error
	var ended *ExitError
	return errors.As(err, &remote) && remote.Code == wire.Unsupported || errors.As(err, &ended) && ended.Code == NotInstalled
}

// ExitError says that a worker ended, or had to be ended, before it answered.
type ExitError struct {
	Status string   // exit status or signal, in words
	Code   int      // exit status; -1 where a signal ended it
	Tail   []string // the last lines of its standard error
}

func (e *ExitError) Error() string {
	message := "worker ended (" + e.Status + ")"
	if len(e.Tail) > 0 {
		message += "; last lines of stderr:"
		for _, l := range e.Tail {
			message += "\n  " + l
		}
	}
	return message
}

// ProtocolError says that a worker wrote something that is not in the
// protocol. The worker was killed.
type ProtocolError struct{ What string }

func (e *ProtocolError) Error() string { return "worker broke the protocol: " + e.What }

// ErrTimeout means that a worker did not answer in time. The worker was killed.
var ErrTimeout = errors.New("no answer within the time limit")

// Start starts a worker program in a process group of its own and waits for
// its hello. The program ends when this process ends, however it ends.
func Start(ctx context.Context, program string, options Options) (*Worker, error) {
	all := append(slices.Clone(options.Under), program)
	command := exec.Command(all[0], all[1:]...)
	command.Dir = options.Dir
	command.Env = WithoutPostgres(command.Environ())
	if options.Paused {
		keepMonitorAwake(command)
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w := &Worker{command: command, lines: make(chan line, 16), exited: make(chan struct{}),
		tail: &tail{}, trace: options.Trace, step: stepPatience}
	if err := w.start(options.CPUs); err != nil {
		return nil, fmt.Errorf("start worker %s: %w", program, err)
	}
	go w.read()
	go w.reap()
	if err := w.handshake(ctx); err != nil {
		w.Kill()
		return nil, err
	}
	return w, nil
}

func (w *Worker) start(cpus []int) error {
	var err error
	if w.stdin, err = w.command.StdinPipe(); err != nil {
		return err
	}
	// Not StdoutPipe: waiting for the process would close that, with what it
	// said last unread.
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer writer.Close()
	w.stdout, w.command.Stdout, w.command.Stderr = reader, writer, w.tail
	w.command.WaitDelay = outputPatience
	if err := StartOn(w.command, cpus); err != nil {
		return errors.Join(err, reader.Close())
	}
	return nil
}

// reap waits for the process, and ends its output.
func (w *Worker) reap() {
	_ = w.command.Wait() // the status is read from ProcessState
	close(w.exited)
	time.AfterFunc(outputPatience, func() { _ = w.stdout.Close() })
}

// read hands lines on until the output ends.
func (w *Worker) read() {
	defer w.stdout.Close()
	fault := caught(w.readLines)
	if fault != nil {
		w.lines <- line{fault: fault}
	}
	close(w.lines)
	if fault == nil {
		_, _ = io.Copy(io.Discard, w.stdout)
	}
}

func (w *Worker) readLines() {
	reader := wire.NewReader(w.stdout)
	for {
		data, err := reader.Line()
		if errors.Is(err, wire.ErrLine) || errors.Is(err, io.ErrUnexpectedEOF) {
			w.lines <- line{err: err}
		}
		if err != nil {
			return
		}
		w.lines <- line{data: bytes.Clone(data)}
	}
}

func (w *Worker) handshake(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	data, err := w.receive(ctx)
	if err != nil {
		return fmt.Errorf("hello: %w", err)
	}
	if err := json.Unmarshal(data, &w.hello); err != nil || w.hello.Type != "hello" {
		return w.breach("its first line is not a hello: " + excerpt(data))
	}
	if w.hello.Protocol != wire.Protocol {
		return w.breach(fmt.Sprintf("it speaks version %d, this is version %d: build worker and assay from the same source", w.hello.Protocol, wire.Protocol))
	}
	w.handle = w.call
	if w.has(wire.CapQuery) {
		w.digester = &digester{Worker: w, prepared: map[string]*preparedOperation{}}
		handle := w.digester.call
		if w.has(wire.CapSQL) && !w.has(wire.CapPostgreSQL) && !w.has(wire.CapDuckDB) {
			handle = (&sqliteWorker{digester: w.digester}).call
		}
		w.handle = w.digester.allowed(handle)
	}
	return nil
}

func (w *Worker) has(capability string) bool {
	return slices.Contains(w.hello.Capabilities, capability)
}

// Hello returns what the worker said first.
func (w *Worker) Hello() wire.Hello { return w.hello }

// Stderr returns the last lines of the worker's standard error so far.
func (w *Worker) Stderr() []string { return w.tail.lines() }

// PID returns the process's ID, which is also its group's.
func (w *Worker) PID() int { return w.command.Process.Pid }

// Call sends a request and decodes its reply's body into reply, which may be
// nil. The error is a *wire.Error where the worker answered one, or says why
// the request cannot be sent; after any other error (ExitError, ProtocolError,
// ErrTimeout, the context's) the worker is dead.
func (w *Worker) Call(ctx context.Context, kind string, request, reply any) error {
	if w.broken != nil {
		return w.broken
	}
	err := w.handle(ctx, kind, request, reply)
	if w.broken != nil {
		w.Kill()
	}
	return err
}

// call is Call by the worker alone, without the killing.
func (w *Worker) call(ctx context.Context, kind string, request, reply any) error {
	w.next++
	message, err := flatten(wire.Envelope{Type: kind, ID: w.next}, request)
	if err != nil {
		return err
	}
	return w.ask(ctx, message, reply)
}

func (w *Worker) ask(ctx context.Context, message []byte, reply any) error {
	if err := w.send(ctx, message); err != nil {
		return err
	}
	data, err := w.receive(ctx)
	if err != nil {
		return err
	}
	return w.decode(data, reply)
}

// send writes a line. A worker that does not read blocks a long one.
func (w *Worker) send(ctx context.Context, message []byte) error {
	w.log("> ", message)
	written := make(chan line, 1)
	go func() {
		var l line
		l.fault = caught(func() { _, l.err = w.stdin.Write(append(message, '\n')) })
		written <- l
	}()
	select {
	case l := <-written:
		if l.fault != nil {
			w.Kill()
			panic(l.fault)
		}
		if l.err != nil {
			return w.dead()
		}
		return nil
	case <-ctx.Done():
		return w.late(ctx)
	}
}

// flatten puts the envelope's fields before the request's.
func flatten(head wire.Envelope, request any) ([]byte, error) {
	message, err := json.Marshal(head)
	if err != nil || request == nil {
		return message, err
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if len(body) > len("{}") {
		message = append(append(message[:len(message)-1], ','), body[1:]...)
	}
	if len(message)+1 > wire.MaxLine {
		return nil, wire.ErrLine
	}
	return message, nil
}

func (w *Worker) decode(data []byte, reply any) error {
	var message struct {
		wire.Envelope
		wire.Error
		Body json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(data, &message); err != nil {
		return w.breach("not a reply: " + excerpt(data))
	}
	if message.ID != w.next {
		return w.breach(fmt.Sprintf("it answered request %d instead of %d", message.ID, w.next))
	}
	switch message.Type {
	case "error":
		failure := message.Error
		return &failure
	case "ok":
		if reply == nil || message.Body == nil {
			return nil
		}
		if err := json.Unmarshal(message.Body, reply); err != nil {
			return w.breach(fmt.Sprintf("its reply does not fit: %v: %s", err, excerpt(data)))
		}
		return nil
	}
	return w.breach("unknown type of reply: " + excerpt(data))
}

func (w *Worker) receive(ctx context.Context) ([]byte, error) {
	select {
	case l, ok := <-w.lines:
		if !ok {
			return nil, w.dead()
		}
		if l.fault != nil {
			w.Kill()
			panic(l.fault)
		}
		if l.err != nil {
			return nil, w.breach(l.err.Error())
		}
		w.log("< ", l.data)
		return l.data, nil
	case <-ctx.Done():
		return nil, w.late(ctx)
	}
}

func (w *Worker) late(ctx context.Context) error {
	w.broken = ErrTimeout
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		w.broken = ctx.Err()
	}
	return w.broken
}

// dead is called when the worker closed its output or its input: it has ended
// or is ended.
func (w *Worker) dead() error {
	if w.broken == nil {
		w.waitAndKill(w.step)
		w.broken = &ExitError{Status: w.Status(), Code: w.code(), Tail: w.tail.lines()}
	}
	return w.broken
}

func (w *Worker) breach(what string) error {
	w.broken = &ProtocolError{what}
	return w.broken
}

// Status says how the process ended, in words; it must have ended.
func (w *Worker) Status() string {
	if state := w.command.ProcessState; state != nil {
		return state.String()
	}
	return "unknown status"
}

// code is the exit status of a worker that has ended; -1 where there is none.
func (w *Worker) code() int {
	if state := w.command.ProcessState; state != nil {
		return state.ExitCode()
	}
	return -1
}

func (w *Worker) log(direction string, data []byte) {
	if w.trace != nil {
		fmt.Fprintf(w.trace, "%d %s%s\n", w.PID(), direction, data)
	}
}

func excerpt(data []byte) string {
	const most = 80
	if len(data) > most {
		return fmt.Sprintf("%q...", data[:most])
	}
	return fmt.Sprintf("%q", data)
}

// Alive reports whether the process has not ended yet.
func (w *Worker) Alive() bool {
	select {
	case <-w.exited:
		return false
	default:
		return w.broken == nil
	}
}

// Garbage sends a line that is no request and waits for the answer, which is
// a *wire.Error or how the worker ended. It is for conformance tests.
func (w *Worker) Garbage(ctx context.Context, text string) error {
	w.next = 0
	err := w.ask(ctx, []byte(text), nil)
	if w.broken != nil {
		w.Kill()
	}
	return err
}

// Usage returns the CPU time that the ended process used, with its waited-for
// children. It is zero while the process runs.
func (w *Worker) Usage() time.Duration {
	select {
	case <-w.exited:
		state := w.command.ProcessState
		return state.UserTime() + state.SystemTime()
	default:
		return 0
	}
}

// Find returns the absolute path of a worker program, or an error that says
// why it cannot be started.
func Find(program string) (string, error) {
	info, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return "", fmt.Errorf("%s: not an executable file", program)
	}
	return filepath.Abs(program)
}
