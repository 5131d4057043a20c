//go:build unix

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"assay/kit/postgres"
	"assay/kit/process"
)

const (
	// startPatience is how long a server may take to answer, and stopPatience
	// to write its checkpoint and end.
	startPatience = 30 * time.Second
	stopPatience  = 60 * time.Second
	// quitPatience is how long a server has to end at once: it kills what does
	// not end within 5 seconds by itself.
	quitPatience = 8 * time.Second
	// interval is how often it is asked whether a server has begun or ended.
	interval = 2 * time.Millisecond
	// socketLimit is the longest path of a Unix socket, in bytes.
	socketLimit = 103
	// lastLines is how much of a server's log is told.
	lastLines = 12
)

// Init makes the data folder of an empty cluster, which must not exist: with
// the settings that initdb chooses, UTF-8, and texts ordered by their bytes, as
// SQLite orders them.
func (p Programs) Init(ctx context.Context, data string) error {
	a, err := owner()
	if err != nil {
		return err
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if err := a.give(data); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, p.path("initdb"), "-D", data, "-U", postgres.User, "-A", "trust",
		"-E", "UTF8", "--locale=C", "--no-instructions", "--no-sync")
	command.Dir, command.SysProcAttr = "/", a.attributes(data) // it may enter its folder only once it runs
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = quitPatience
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err = process.Launch(command); err == nil { // it ends with this process
		err = command.Wait()
	}
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, tail(out.Bytes()))
	}
	return nil
}

// Make makes the data folder of a cluster, which must not exist, and has psql run
// a script in it, written by what is given. Nothing of it is synced: Copy does
// that. Its socket is beside the folder.
func (p Programs) Make(ctx context.Context, data string, script func(io.Writer) error) error {
	if err := p.Init(ctx, data); err != nil {
		return err
	}
	c, err := p.Start(ctx, Options{Data: data, Socket: filepath.Dir(data), loading: true})
	if err != nil {
		return err
	}
	defer c.Kill()
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(script(writer)) }()
	if err := errors.Join(c.Run(ctx, reader), reader.Close()); err != nil {
		return err
	}
	_, err = c.Stop()
	return err
}

// Copy makes a copy of the data folder of a stopped cluster at dst, which must
// not exist, and syncs it, so that the first sync of a server does not pay for
// it.
func Copy(dst, data string) error {
	a, err := owner()
	if err != nil {
		return err
	}
	if err := os.CopyFS(dst, os.DirFS(data)); err != nil {
		return fmt.Errorf("copy the cluster: %w", err)
	}
	if err := os.Chmod(dst, 0o700); err != nil { // PostgreSQL asks for it
		return err
	}
	if err := a.give(dst); err != nil {
		return err
	}
	return flush()
}

// Give makes the account that servers run as the owner of a data folder.
func Give(data string) error {
	a, err := owner()
	if err != nil {
		return err
	}
	return a.give(data)
}

// Options say how to start a server.
type Options struct {
	Data     string            // folder that Init or Copy made
	Socket   string            // folder for its Unix socket, which exists; its log is kept there, too
	Settings map[string]string // in the form that they read back; others are as Init left them
	// Connections is how many are wanted at the same time.
	Connections int
	// loading is for a cluster that is being made: nothing is synced, and little
	// is logged.
	loading bool
}

// Cluster is a server that was started. Its methods are for one goroutine.
type Cluster struct {
	programs Programs
	options  Options
	command  *exec.Cmd
	account  account
	log      string // path
	exited   chan struct{}
	shared   []string // files of its shared memory
}

// defaultConnections is how many connections a server takes by default, without
// those that it keeps for itself and for others.
const defaultConnections = 90

// Arguments are the settings as they are given to the server's program, by
// name: -c fsync=off.
func (o Options) Arguments() map[string]string {
	all := map[string]string{}
	for name, value := range o.Settings {
		all[name] = "-c " + postgres.Argument(name, value)
	}
	return all
}

// command is all that the server is started with. A server that lost a process
// ends, instead of going on as if nothing had been.
func (o Options) command() []string {
	words := []string{"-D", o.Data, "-k", o.Socket, "-p", strconv.Itoa(postgres.Port),
		"-c", "listen_addresses=", "-c", "unix_socket_permissions=0700", "-c", "restart_after_crash=off", "-c", "logging_collector=off"}
	if o.Connections > defaultConnections {
		words = append(words, "-c", "max_connections="+strconv.Itoa(o.Connections+10))
	}
	if o.loading {
		for _, setting := range []string{"fsync=off", "wal_level=minimal", "max_wal_senders=0", "max_wal_size=64MB", "autovacuum=off"} {
			words = append(words, "-c", setting)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Settings)) {
		words = append(words, "-c", postgres.Argument(name, o.Settings[name]))
	}
	return words
}

// Start starts a server and waits until it answers. After an error nothing of
// it runs.
func (p Programs) Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{programs: p, options: o, log: filepath.Join(o.Socket, "postgresql.log"), exited: make(chan struct{})}
	if err := c.start(); err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	if err := c.ready(ctx); err != nil {
		c.Kill()
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	return c, nil
}

func (c *Cluster) start() error {
	socket := filepath.Join(c.options.Socket, ".s.PGSQL."+strconv.Itoa(postgres.Port))
	if len(socket) > socketLimit {
		return fmt.Errorf("the path of its Unix socket, %s, has %d bytes, %d are possible: put the databases into a folder with a shorter path by XDG_CACHE_HOME",
			socket, len(socket), socketLimit)
	}
	var err error
	if c.options.Data, err = filepath.EvalSymlinks(c.options.Data); err != nil { // by it, its processes are known
		return err
	}
	if c.account, err = owner(); err != nil {
		return err
	}
	if c.account.other {
		if err := os.Chown(c.options.Socket, c.account.uid, c.account.gid); err != nil {
			return err
		}
	}
	log, err := os.Create(c.log)
	if err != nil {
		return err
	}
	defer log.Close()
	c.command = exec.Command(c.programs.path("postgres"), c.options.command()...)
	c.command.Dir, c.command.Stdout, c.command.Stderr = "/", log, log
	c.command.Env = append(os.Environ(), "TZ=UTC", "PGTZ=UTC", "LC_ALL=C")
	c.command.SysProcAttr = c.account.attributes(c.options.Data)
	killWithParent(c.command)
	if err := process.Launch(c.command); err != nil {
		return err
	}
	go func() {
		_ = c.command.Wait() // the status is read from ProcessState
		close(c.exited)
	}()
	return nil
}

// ready waits until the server says in its data folder that it is.
func (c *Cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		text, _ := os.ReadFile(filepath.Join(c.options.Data, "postmaster.pid")) // it is not there at first
		if lines := strings.Split(string(text), "\n"); len(lines) > 7 && strings.TrimSpace(lines[7]) == "ready" {
			c.shared = sharedFiles(c.command.Process.Pid)
			return nil
		}
		select {
		case <-c.exited:
			return errors.New(c.LastWords())
		case <-ctx.Done():
			return fmt.Errorf("%w; %s", ctx.Err(), c.LastWords())
		case <-time.After(interval):
		}
	}
}

// Socket is the folder of the server's Unix socket: the host that clients
// connect to.
func (c *Cluster) Socket() string { return c.options.Socket }

// Alive reports whether the server has not ended yet.
func (c *Cluster) Alive() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// LastWords says how the server ended, where it has, and the last lines of its
// log.
func (c *Cluster) LastWords() string {
	status := "PostgreSQL runs"
	if !c.Alive() {
		status = "PostgreSQL ended (" + c.command.ProcessState.String() + ")"
	}
	log, err := os.ReadFile(c.log)
	if err != nil {
		return status
	}
	return status + "; the last lines of its log: " + tail(log)
}

func tail(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return "\n  " + string(bytes.Join(lines[max(0, len(lines)-lastLines):], []byte("\n  ")))
}

// ErrTimeout says that a statement took longer than its statement_timeout.
var ErrTimeout = errors.New("a statement took too long")

// Run has psql run a script as one that ends at its first error.
func (c *Cluster) Run(ctx context.Context, script io.Reader) error {
	command := exec.CommandContext(ctx, c.programs.path("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", c.options.Socket,
		"-p", strconv.Itoa(postgres.Port), "-U", postgres.User, "-d", postgres.Database, "-f", "-")
	command.Stdin = script
	command.Env = append(process.WithoutPostgres(os.Environ()), "PGCLIENTENCODING=UTF8")
	out, err := command.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case bytes.Contains(out, []byte("canceling statement due to statement timeout")): // a cluster made by Init speaks English
		return fmt.Errorf("%w: psql: %s", ErrTimeout, tail(out))
	}
	return fmt.Errorf("psql: %w: %s", err, tail(out))
}

// Stop has the server write a checkpoint and end, and returns how long that
// took. Where it does not end, or ends badly, it is killed, and the error says
// so.
func (c *Cluster) Stop() (time.Duration, error) {
	began := time.Now()
	err := c.end(syscall.SIGINT, stopPatience)
	took := time.Since(began)
	if err == nil && !c.command.ProcessState.Success() {
		err = errors.New(c.LastWords())
	}
	c.Kill()
	if err != nil {
		return took, fmt.Errorf("stop PostgreSQL: %w", err)
	}
	return took, nil
}

// KillAtOnce kills all of the server's processes, its first one before the others, and
// lets none of them do anything about it.
func (c *Cluster) KillAtOnce() {
	c.noteShared()
	all := c.Processes()
	_ = c.command.Process.Kill() // it may have ended
	for _, pid := range all {
		if pid != c.command.Process.Pid { // whose number may be another's by now
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	c.Kill()
}

// Kill ends all of the server's processes, without a checkpoint.
func (c *Cluster) Kill() {
	c.noteShared()
	if c.end(syscall.SIGQUIT, quitPatience) != nil {
		_ = c.command.Process.Kill() // it may just have ended
		<-c.exited
	}
	for deadline := time.Now().Add(quitPatience); time.Now().Before(deadline); time.Sleep(interval) {
		left := processes(c.options.Data) // those whose server died end by themselves, or not
		if len(left) == 0 {
			break
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	c.release()
}

// noteShared notes the files of shared memory of all processes: some are made while
// the server works, and its first process maps none of those.
func (c *Cluster) noteShared() {
	for _, pid := range processes(c.options.Data) {
		c.shared = append(c.shared, sharedFiles(pid)...)
	}
}

// release frees the shared memory of a server that was killed: one that ended
// by itself has done so, and has taken its file postmaster.pid away.
func (c *Cluster) release() {
	lockFile := filepath.Join(c.options.Data, "postmaster.pid")
	text, err := os.ReadFile(lockFile)
	if err != nil {
		return
	}
	for _, file := range c.shared {
		_ = os.Remove(file) // a part of them may be gone
	}
	if lines := strings.Split(string(text), "\n"); len(lines) > 6 {
		if words := strings.Fields(lines[6]); len(words) == 2 { // key and ID of the segment
			if id, err := strconv.Atoi(words[1]); err == nil {
				removeSegment(id)
			}
		}
	}
	_ = os.Remove(lockFile) // it is done once
}

// end signals the server and waits until it has ended.
func (c *Cluster) end(signal syscall.Signal, patience time.Duration) error {
	if !c.Alive() {
		return nil
	}
	if err := c.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-c.exited:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("it did not end within %s", patience)
	}
}
