package store

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
)

// network is between a store and the private server, and can be cut.
type network struct {
	folder string

	mutex    sync.Mutex
	down     bool
	silent   bool
	atCommit bool // the connection is cut when the server has got COMMIT
	open     []net.Conn
	cuts     sync.WaitGroup // of those that the server has not answered yet
}

// behindNetwork makes a network and the URL of a new database behind it.
func behindNetwork(t *testing.T) (*network, string, string) {
	t.Helper()
	direct := database(t, admin, true)
	folder, err := os.MkdirTemp("/tmp", "assay-network-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	n := &network{folder: folder}
	listener, err := net.Listen("unix", filepath.Join(folder, socketName))
	must(t, err)
	t.Cleanup(func() { listener.Close(); n.set(true, false) })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go n.serve(client)
		}
	}()
	name := strings.TrimPrefix(direct[:strings.Index(direct, "?")], "postgres://postgres@/")
	return n, serverURL(folder, name, admin), direct
}

var socketName = ".s.PGSQL." + strconv.Itoa(postgres.Port)

func (n *network) serve(client net.Conn) {
	server, err := net.Dial("unix", filepath.Join(private.folder, socketName))
	n.mutex.Lock()
	if err != nil || n.down {
		n.mutex.Unlock()
		client.Close()
		return
	}
	n.open = append(n.open, client, server)
	n.mutex.Unlock()
	go n.copy(client, server, false)
	n.copy(server, client, true)
	client.Close()
	server.Close()
}

func (n *network) copy(to, from net.Conn, queries bool) {
	buffer := make([]byte, 64<<10)
	for {
		count, err := from.Read(buffer)
		if err != nil {
			to.Close()
			return
		}
		n.mutex.Lock()
		silent, cut := n.silent, queries && n.atCommit && bytes.Contains(buffer[:count], []byte("COMMIT"))
		n.atCommit = n.atCommit && !cut
		if cut {
			n.cuts.Add(1)
			defer n.cuts.Done()
		}
		n.mutex.Unlock()
		if silent {
			continue
		}
		if cut {
			from.Close() // first, or the server's answer may come through
		}
		if _, err := to.Write(buffer[:count]); err != nil {
			from.Close()
			return
		}
		if cut {
			_, _ = io.Copy(io.Discard, to) // until the server has answered, and the way back found nobody
			return
		}
	}
}

// set cuts all connections where the network is down or silent, but those that wait for
// the answer to a COMMIT.
func (n *network) set(down, silent bool) {
	n.cuts.Wait()
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.down, n.silent = down, silent
	if down {
		for _, c := range n.open {
			c.Close()
		}
		n.open = nil
	}
}

// atOnce lets a test make every attempt.
func atOnce(t *testing.T) {
	interval := deliveryInterval
	deliveryInterval = 0
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Cleanup(func() { deliveryInterval = interval })
}

// spooled is how many spools there are.
func spooled(t *testing.T) int {
	t.Helper()
	folder, err := spoolFolder()
	must(t, err)
	files, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return len(files)
}

// appendAll appends launches of a run.
func appendAll(t *testing.T, s *Store, from, to int) {
	t.Helper()
	for launch := from; launch < to; launch++ {
		must(t, s.Append(t.Context(), "run", assay.Trial{Launch: launch, Figures: map[string]float64{assay.NsPerOp: float64(launch)},
			Settings: []assay.Setting{{Name: "a"}}, Reason: "\x00"}))
	}
}

// wantLaunches checks that a store has each launch once, in order.
func wantLaunches(t *testing.T, location string, many int) {
	t.Helper()
	var got, want []int
	for _, trial := range trials(t, open(t, location), "run") {
		got = append(got, trial.Launch)
		if trial.Figures[assay.NsPerOp] != float64(trial.Launch) || len(trial.Settings) != 1 || trial.Reason != "\x00" {
			t.Errorf("launch %d came as %+v", trial.Launch, trial)
		}
	}
	for launch := range many {
		want = append(want, launch)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got launches %v, want %v", got, want)
	}
}

// The server is killed and comes back, twice: the run goes on, and the server has
// every trial once, also those that belong to no launch, and every proof.
func TestServerKilledTwice(t *testing.T) {
	atOnce(t)
	programs, err := cluster.Find(t.Context())
	if errors.Is(err, cluster.ErrMissing) {
		t.Skip(err)
	}
	must(t, err)
	folder, err := os.MkdirTemp("/tmp", "assay-killed-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o755))
	data := filepath.Join(folder, "data")
	must(t, programs.Init(t.Context(), data))
	startServer := func() *cluster.Cluster {
		c, err := programs.Start(t.Context(), cluster.Options{Data: data, Socket: folder})
		must(t, err)
		t.Cleanup(c.Kill)
		return c
	}
	running := startServer()
	at := serverURL(folder, "postgres", admin)
	s := open(t, at)
	run := start("run", "quick", 0)
	must(t, s.Begin(t.Context(), run))
	appendAll(t, s, 0, 2)
	var proofs []assay.Proof
	for n := range 2 {
		running.Kill()
		proofs = append(proofs, proofIn(100+n, strconv.Itoa(n)))
		must(t, s.KeepProof(t.Context(), "text", proofs[n]))
		appendAll(t, s, 2+4*n, 4+4*n)
		if err := s.Deliver(t.Context()); !errors.As(err, new(*UndeliveredError)) || spooled(t) != 1 {
			t.Errorf("while the server is killed: got %v and %d spools, want an UndeliveredError and 1", err, spooled(t))
		}
		running = startServer()
		appendAll(t, s, 4+4*n, 6+4*n)
		if spooled(t) != 0 {
			t.Errorf("with the server back: got %d spools, want none", spooled(t))
		}
	}
	running.Kill()
	run.Status = assay.Finished
	must(t, s.Update(t.Context(), run))
	startServer()
	must(t, s.Deliver(t.Context()))
	wantLaunches(t, at, 10)
	wantProofs(t, at, proofs...)
	if got, err := s.Run(t.Context(), "run"); err != nil || got.Status != assay.Finished {
		t.Errorf("got status %q, %v, want finished", got.Status, err)
	}
	if notes := strings.Join(s.Notes(), "\n"); strings.Count(notes, "measuring goes on") != 3 || strings.Count(notes, "can be reached again") != 3 {
		t.Errorf("got notes %q, want three of losing the server and three of finding it", notes)
	}
}

// The connection is cut when the server has the commit and the answer is not there:
// nobody knows whether the trial is, and it comes once.
func TestCommitWithoutAnswer(t *testing.T) {
	atOnce(t)
	n, at, direct := behindNetwork(t)
	s := open(t, at)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	appendAll(t, s, 0, 1)
	for launch := 1; launch < 4; launch++ {
		n.mutex.Lock()
		n.atCommit = true
		n.mutex.Unlock()
		appendAll(t, s, launch, launch+1)
		n.mutex.Lock()
		waits := n.atCommit
		n.mutex.Unlock()
		if waits {
			t.Fatalf("launch %d: the connection was not cut", launch)
		}
	}
	n.mutex.Lock()
	n.atCommit = true
	n.mutex.Unlock()
	must(t, s.Append(t.Context(), "run", assay.Trial{Outcome: assay.NotRun})) // belongs to no launch
	must(t, s.Deliver(t.Context()))
	if got := trials(t, open(t, direct), "run"); len(got) != 5 || got[4].Outcome != assay.NotRun {
		t.Errorf("got %d trials, want 4 launches and one that was not run: %+v", len(got), got)
	}
}

// A network that swallows everything, and a process that ends before it is back: the
// next one delivers what it left, once.
func TestSpoolOfEndedProcess(t *testing.T) {
	atOnce(t)
	n, at, direct := behindNetwork(t)
	s := open(t, at)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	appendAll(t, s, 0, 2)
	n.set(false, true)
	patience := silence
	t.Cleanup(func() { silence = patience })
	silence = 2 * time.Second
	appendAll(t, s, 2, 4)
	silence = patience // a server that is only slow is not lost
	n.set(true, false)
	// While the process lives, nobody else takes its spool.
	must(t, open(t, direct).Close())
	if spooled(t) != 1 {
		t.Fatalf("got %d spools, want that of the process", spooled(t))
	}
	must(t, s.Close())
	// Another store of this user is not to have it, and what is cut off was not kept.
	folder, err := spoolFolder()
	must(t, err)
	files, err := os.ReadDir(folder)
	must(t, err)
	f, err := os.OpenFile(filepath.Join(folder, files[0].Name()), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"target": "x`)
	must(t, errors.Join(err, f.Close()))
	must(t, open(t, database(t, admin, true)).Close())
	if spooled(t) != 1 {
		t.Fatalf("got %d spools after another store was opened, want 1", spooled(t))
	}
	n.set(false, false)
	reader, err := OpenToRead(t.Context(), at)
	must(t, err)
	defer reader.Close()
	if notes := strings.Join(reader.Notes(), "\n"); spooled(t) != 0 || !strings.Contains(notes, "(results: 2)") {
		t.Errorf("got %d spools and the notes %q, want none and 2 results delivered", spooled(t), notes)
	}
	wantLaunches(t, direct, 4)
}

// Who lost the server loses the run when another claims it: nothing is mixed, and
// nothing measured is thrown away.
func TestClaimedMeanwhile(t *testing.T) {
	atOnce(t)
	n, at, direct := behindNetwork(t)
	s := open(t, at)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	appendAll(t, s, 0, 2)
	n.set(true, false)
	appendAll(t, s, 2, 3)
	other := open(t, direct)
	for other.Claim(t.Context(), "run") != nil {
		time.Sleep(time.Millisecond) // until the server knows that the connection is gone
	}
	must(t, other.Append(t.Context(), "run", assay.Trial{Launch: 2, Reason: "other"}))
	n.set(false, false)
	expect(t, s.Append(t.Context(), "run", assay.Trial{Launch: 3}), ErrTaken, "is kept in")
	must(t, s.Close())
	next := open(t, at)
	if notes := strings.Join(next.Notes(), "\n"); spooled(t) != 1 || !strings.Contains(notes, "(results: 2)") || !strings.Contains(notes, "is not delivered") {
		t.Errorf("got %d spools and the notes %q, want 1 and that it is not delivered", spooled(t), notes)
	}
	if got := trials(t, next, "run"); len(got) != 3 || got[2].Reason != "other" {
		t.Errorf("got %+v, want two trials and that of the other", got)
	}
}

// The disk of the spool is full in the middle of a line: that entry is refused, and
// what was kept before and after can be read.
func TestSpoolOnFullDisk(t *testing.T) {
	file, err := os.OpenFile(filepath.Join(t.TempDir(), "spool"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	must(t, err)
	p := &spool{file: file, path: file.Name()}
	defer p.close()
	add := func(launch int) error {
		return p.add("server", entry{run: "run", place: strconv.Itoa(launch), trial: &assay.Trial{Launch: launch}})
	}
	must(t, add(0))
	info, err := file.Stat()
	must(t, err)
	whole := limitFileSize(t, uint64(info.Size())+20)
	if err := add(1); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("an entry of which 20 bytes have room: got %v, want %v", err, syscall.EFBIG)
	}
	whole()
	must(t, add(2))
	var got []int
	must(t, p.each(func(e entry) error {
		got = append(got, e.trial.Launch)
		return nil
	}))
	if want := []int{0, 2}; !slices.Equal(got, want) || p.entries != len(want) {
		t.Errorf("got launches %v of %d entries, want %v", got, p.entries, want)
	}
}

// limitFileSize makes writes fail beyond a size, as on a full disk, until the
// returned function is called.
func limitFileSize(t *testing.T, bytes uint64) func() {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	t.Cleanup(func() { signal.Reset(syscall.SIGXFSZ) })
	var before syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limit := before
	limit.Cur = bytes
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	return func() { must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) }
}
