package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"assay/kit/kv"
	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
	"assay/kit/process"
	"assay/kit/wire"
)

// hosted holds what a host says once, when its server answers or did not start.
type hosted struct{ Error string }

// The requests to a host, one a line. The end of its input ends the server, too.
const (
	stopRequest = "stop" // the server in order
	killRequest = "kill" // all of its processes
)

// Host runs a PostgreSQL server and does what its input asks for, until that ends. It
// runs where the disk is mounted: the process that serves the disk must not read its files.
func Host(ctx context.Context, data, socket, settings string, in io.Reader, out io.Writer) error {
	o := cluster.Options{Data: data, Socket: socket}
	if err := json.Unmarshal([]byte(settings), &o.Settings); err != nil {
		return fmt.Errorf("settings of the server: %w", err)
	}
	// A machine that starts anew has no process of the number that stands there.
	if err := os.Remove(filepath.Join(data, "postmaster.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	programs, err := cluster.Find(ctx)
	if err != nil {
		return err
	}
	server, err := programs.Start(ctx, o)
	if err != nil {
		return json.NewEncoder(out).Encode(hosted{err.Error()})
	}
	defer server.Kill()
	if err := json.NewEncoder(out).Encode(hosted{}); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch lines.Text() {
		case stopRequest:
			_, err := server.Stop()
			return err
		case killRequest:
			server.KillAtOnce()
			return nil
		}
	}
	return nil
}

// host is the process of a server, seen from the lane.
type host struct {
	command *exec.Cmd
	in      io.WriteCloser
	socket  string // folder
}

// startHost starts a server on the data folder at path where the disk is mounted. Its
// error is one of the server.
func (l *lane) startHost(path string, settings map[string]string) (*host, error) {
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(l.socket(), 0o700); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	words := append(l.inside(), self, HostCommand, path, l.socket(), string(text))
	h := &host{command: exec.Command(words[0], words[1:]...), socket: l.socket()}
	h.command.Stderr = os.Stderr
	if h.in, err = h.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := h.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Launch(h.command); err != nil {
		return nil, fmt.Errorf("%w the server's host: %w", errStart, err)
	}
	var said hosted
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		return nil, fmt.Errorf("the server's host ended: %w", errors.Join(err, h.kill()))
	}
	if said.Error != "" {
		return nil, errors.Join(errors.New(said.Error), h.kill())
	}
	return h, nil
}

// send hands a request to the host. One that has ended takes none, which its status
// tells.
func (h *host) send(request string) { _, _ = io.WriteString(h.in, request+"\n") }

// socket is the folder of the server's socket, which has a short name: a socket's path
// has at most 103 bytes.
func (l *lane) socket() string { return filepath.Join(l.work, "s") }

// kill ends the server without a checkpoint, and waits for its end. It may be done
// again.
func (h *host) kill() error {
	if h == nil || h.command.ProcessState != nil {
		return nil
	}
	return errors.Join(h.in.Close(), h.command.Wait())
}

// stop ends the server in order.
func (h *host) stop() error {
	if h == nil || h.command.ProcessState != nil {
		return nil
	}
	h.send(stopRequest)
	return h.command.Wait()
}

// settingsOfServer are a profile's settings that are the server's. A profile may have those
// of other engines too; it must have one of its own, or none at all.
func settingsOfServer(t Task) (map[string]string, error) {
	own, others := postgres.Settings.Own(kv.InPostgres(t.Settings))
	if len(own) == 0 && others {
		return nil, wire.Errorf(wire.Unsupported, "profile %s has settings of SQLite only, and says nothing for PostgreSQL", t.Profile)
	}
	return own, nil
}

// checkWorker finds out whether the task's worker is a client of a server, and fit for the
// fault.
func (t *trial) checkWorker(ctx context.Context) error {
	worker, err := process.Start(ctx, t.task.Program, process.Options{Dir: t.work})
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer worker.Kill()
	capabilities := worker.Hello().Capabilities
	t.server = isClient(capabilities)
	return unfit(capabilities, t.task)
}

// withCluster has the disk begin with an empty cluster, which is synced. What a power
// cut does while a cluster is made is not tried.
func (l *lane) withCluster(ctx context.Context) error {
	if made := l.cluster; made != nil {
		l.base = made
		return nil
	}
	err := l.mounted(ctx, l.base, false, func() error { return l.copyCluster(ctx, dataPath(l.mount)) })
	if err != nil {
		return fmt.Errorf("an empty cluster on the disk: %w", err)
	}
	l.base = l.disk.Content() // all of it: it is not mounted any more
	l.cluster = l.base
	return nil
}

// copyCluster puts an empty cluster at path. The lane makes it once.
func (l *lane) copyCluster(ctx context.Context, path string) error {
	made := filepath.Join(l.work, "cluster")
	if _, err := os.Stat(made); errors.Is(err, os.ErrNotExist) {
		programs, err := cluster.Find(ctx)
		if errors.Is(err, cluster.ErrMissing) {
			return wire.Errorf(wire.Unsupported, "%s", err)
		}
		if err != nil {
			return err
		}
		if inOwnNamespace() {
			return wire.Errorf(wire.Unsupported, "a server is started as a user of its own, which needs root: run it with sudo")
		}
		if err := programs.Init(ctx, made); err != nil {
			return errors.Join(err, os.RemoveAll(made))
		}
	}
	return l.run(ctx, "cp", "-a", made, path)
}

// inOwnNamespace reports whether this process is in a namespace that has no other user.
func inOwnNamespace() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	words := strings.Fields(string(text)) // from, to, how many
	return err == nil && len(words) == 3 && words[2] == "1"
}

// check has PostgreSQL's own checker look at all tables and indexes, where it is
// installed.
func (h *host) check(ctx context.Context) error {
	programs, err := cluster.Find(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	return programs.Check(ctx, h.socket)
}

// endPatience is how long a server may take to end by itself.
const endPatience = 10 * time.Second

// ended reports whether the server takes no connections any more, and waits for that: one
// that ends itself takes a moment.
func (h *host) ended(ctx context.Context) bool {
	for began := time.Now(); time.Since(began) < endPatience && ctx.Err() == nil; sleep(ctx, marksInterval) {
		connection, err := net.Dial("unix", filepath.Join(h.socket, fmt.Sprintf(".s.PGSQL.%d", postgres.Port)))
		if err != nil {
			return true
		}
		_ = connection.Close() // nothing was said on it
	}
	return false
}
