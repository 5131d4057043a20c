package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"assay"
	"assay/internal/store"
	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
)

// agentVariable makes this program an agent: the URL of its store.
const agentVariable = "FLEET_TEST_AGENT"

func TestMain(m *testing.M) {
	if location := os.Getenv(agentVariable); location != "" {
		if err := runAgent(location); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	status := m.Run()
	private.stop()
	os.Exit(status)
}

// server is a PostgreSQL server of this package's tests.
type server struct {
	once     sync.Once
	err      error
	folder   string
	programs cluster.Programs
	cluster  *cluster.Cluster
	made     int // databases
}

var private server

func (s *server) start(ctx context.Context) error {
	var err error
	if s.programs, err = cluster.Find(ctx); err != nil {
		return err
	}
	if s.folder, err = os.MkdirTemp("/tmp", "assay-fleet-"); err != nil {
		return err
	}
	if err := os.Chmod(s.folder, 0o755); err != nil {
		return err
	}
	if err := s.programs.Init(ctx, filepath.Join(s.folder, "data")); err != nil {
		return err
	}
	return s.again(ctx)
}

// again starts the server, also one that was stopped.
func (s *server) again(ctx context.Context) (err error) {
	s.cluster, err = s.programs.Start(ctx, cluster.Options{Data: filepath.Join(s.folder, "data"), Socket: s.folder, Settings: map[string]string{"fsync": "off"}})
	return err
}

func (s *server) stop() {
	if s.cluster != nil {
		s.cluster.Kill()
	}
	if s.folder != "" {
		_ = os.RemoveAll(s.folder)
	}
}

// database makes an empty database and returns its name.
func database(t testing.TB) string {
	t.Helper()
	private.once.Do(func() { private.err = private.start(context.Background()) })
	if errors.Is(private.err, cluster.ErrMissing) {
		t.Skip(private.err)
	}
	must(t, private.err)
	private.made++
	name := fmt.Sprint("fleet", private.made)
	must(t, private.cluster.Run(t.Context(), strings.NewReader("CREATE DATABASE "+name+";\n")))
	return name
}

// location is the URL of a new database.
func location(t testing.TB) string {
	name := database(t) // starts the server
	return through(private.folder, name)
}

// through is the URL of a database by a folder with a socket.
func through(socket, name string) string {
	query := url.Values{"host": {socket}, "port": {fmt.Sprint(postgres.Port)}, "sslmode": {"disable"}}
	return (&url.URL{Scheme: "postgres", User: url.User(postgres.User), Path: "/" + name, RawQuery: query.Encode()}).String()
}

func open(t testing.TB, at string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), at)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// network is between an agent and the server, and can be cut.
type network struct {
	folder string
	mutex  sync.Mutex
	down   bool
	open   []net.Conn
}

func newNetwork(t testing.TB) *network {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "assay-net-")
	must(t, err)
	n := &network{folder: folder}
	socket := ".s.PGSQL." + strconv.Itoa(postgres.Port)
	listener, err := net.Listen("unix", filepath.Join(folder, socket))
	must(t, err)
	t.Cleanup(func() { listener.Close(); n.set(true); os.RemoveAll(folder) })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go n.serve(client, filepath.Join(private.folder, socket))
		}
	}()
	return n
}

func (n *network) serve(client net.Conn, socket string) {
	defer client.Close()
	server, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer server.Close()
	n.mutex.Lock()
	if n.down {
		n.mutex.Unlock()
		return
	}
	n.open = append(n.open, client, server)
	n.mutex.Unlock()
	go func() {
		_, _ = io.Copy(server, client)
		server.Close()
	}()
	_, _ = io.Copy(client, server)
}

// set cuts the network or mends it.
func (n *network) set(down bool) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.down = down
	if down {
		for _, c := range n.open {
			_ = c.Close()
		}
		n.open = nil
	}
}

// nullBench measures nothing. At a gate, it says so, and goes on when it is told.
type nullBench struct {
	run  assay.Run
	gate *bufio.Reader // nil: there is none
	say  func(string)
}

func openNull(say func(string), gate *bufio.Reader) Opener {
	return func(_ context.Context, run assay.Run, trials []assay.Trial) (Bench, error) {
		if run.ID == "" {
			run.ID, run.Status = newID(), assay.Running
			run.Targets = []assay.Target{{Driver: "null", DriverVersion: "v1"}}
		}
		return &nullBench{run, gate, say}, nil
	}
}

func newID() string {
	random, err := os.ReadFile("/proc/sys/kernel/random/uuid")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(random))
}

func (b *nullBench) Run() assay.Run { return b.run }
func (b *nullBench) Close()         {}

func (b *nullBench) Finished() assay.Run {
	run := b.run
	run.Status = assay.Finished
	return run
}

// pidFigure is the process that made a trial.
const pidFigure = "pid"

// trialsInLaunch is how many trials each launch has.
const trialsInLaunch = 2

func (b *nullBench) Launch(ctx context.Context, number int) ([]assay.Trial, error) {
	if b.gate != nil {
		b.say(fmt.Sprint("launch ", number))
		if _, err := b.gate.ReadString('\n'); err != nil {
			return nil, err
		}
	}
	var all []assay.Trial
	for i := range trialsInLaunch {
		all = append(all, assay.Trial{Cell: assay.Cell{Operation: fmt.Sprint("op", i), Driver: "null", Clients: 1}, Group: "g", Launch: number,
			Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: float64(100 + number), pidFigure: float64(os.Getpid())}})
	}
	return all, ctx.Err()
}

// openSlow has launches last a few milliseconds.
func openSlow(opener Opener) Opener {
	return func(ctx context.Context, run assay.Run, trials []assay.Trial) (Bench, error) {
		b, err := opener(ctx, run, trials)
		return slowBench{b}, err
	}
}

type slowBench struct{ Bench }

func (b slowBench) Launch(ctx context.Context, number int) ([]assay.Trial, error) {
	time.Sleep(3 * time.Millisecond)
	return b.Bench.Launch(ctx, number)
}
