package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/internal/store"
)

// The times of agents in these tests. A lease that is lost to a random fault costs a
// moment; that of an agent at a gate ends when the test ends it.
const (
	testLease  = time.Second
	gatedLease = time.Hour
	testPoll   = 20 * time.Millisecond
)

func agent(s *store.Store, name, machine, lock string, open Opener, note func(string)) *Agent {
	return &Agent{Store: s, Who: store.Agent{Name: name, Machine: machine, Words: "machine " + machine, Version: "v1"}, Open: open, Lock: lock,
		Lease: testLease, Poll: testPoll, Note: note}
}

// runAgent is this program as an agent. It says on stdout what it does; with a gate it
// waits in each launch for a line on stdin.
func runAgent(at string) error {
	var gate *bufio.Reader
	lease := testLease
	if os.Getenv("FLEET_TEST_GATE") != "" {
		gate, lease = bufio.NewReader(os.Stdin), gatedLease
	}
	say := func(text string) { fmt.Println(text) }
	opener := openNull(say, gate)
	if gate == nil { // what happens to an agent happens in a launch more often than in a transaction
		opener = openSlow(opener)
	}
	for {
		s, err := store.Open(context.Background(), at)
		if err != nil { // the server or the network may be away
			time.Sleep(testPoll)
			continue
		}
		a := agent(s, fmt.Sprint(os.Getpid()), os.Getenv("FLEET_TEST_MACHINE"), os.Getenv("FLEET_TEST_LOCK"), opener, say)
		a.Lease = lease
		return a.Run(context.Background())
	}
}

// process is an agent in a process of its own.
type process struct {
	command *exec.Cmd
	lines   chan string // what it says; closed at its end
	input   *os.File
}

func launchAgent(t *testing.T, at, machine, lock string, gated bool) *process {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	command := exec.Command(program)
	command.Env = append(os.Environ(), agentVariable+"="+at, "FLEET_TEST_MACHINE="+machine, "FLEET_TEST_LOCK="+lock)
	if gated {
		command.Env = append(command.Env, "FLEET_TEST_GATE=yes")
	}
	command.Stderr = os.Stderr
	reader, writer, err := os.Pipe()
	must(t, err)
	command.Stdin = reader
	out, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	must(t, reader.Close())
	p := &process{command, make(chan string, 10000), writer}
	go func() {
		defer close(p.lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			p.lines <- scanner.Text()
		}
	}()
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
	_ = p.input.Close()
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	must(t, p.command.Process.Signal(s))
}

// waitFor waits for a line of an agent that has a text.
func (p *process) waitFor(t *testing.T, text string) {
	t.Helper()
	for line := range p.lines {
		if strings.Contains(line, text) {
			return
		}
	}
	t.Fatalf("the agent ended without saying %q", text)
}

// pass lets an agent at its gate through.
func (p *process) pass(t *testing.T) {
	t.Helper()
	_, err := fmt.Fprintln(p.input)
	must(t, err)
}

func queue(t *testing.T, s *store.Store, machines, launches int) store.Fleet {
	t.Helper()
	f := store.Fleet{Template: assay.Run{ID: newID(), Plan: "null", PlanText: "name: null", Version: "v1", Started: time.Now()}, Machines: machines, Launches: launches}
	must(t, s.Queue(t.Context(), f))
	return f
}

// checkOnce fails unless every launch of a fleet is in the store once, with all of its
// trials, in one run for each machine.
func checkOnce(t *testing.T, s *store.Store, f store.Fleet) {
	t.Helper()
	machines, err := s.FleetMachines(t.Context(), f.Template.ID)
	must(t, err)
	if len(machines) != f.Machines {
		t.Fatalf("got %d machines, want %d", len(machines), f.Machines)
	}
	var want []string
	for number := range f.Launches {
		for i := range trialsInLaunch {
			want = append(want, fmt.Sprint(number+1, " op", i))
		}
	}
	seen := map[string]bool{}
	for _, m := range machines {
		run, err := s.Run(t.Context(), m.Run)
		must(t, err)
		if m.Done != f.Launches || m.Problem != "" || run.Status != assay.Finished || seen[m.Run] || seen[m.Machine] {
			t.Errorf("got %+v, its run %s; want %d launches of a run and a machine of its own, finished", m, run.Status, f.Launches)
		}
		seen[m.Run], seen[m.Machine] = true, true
		var got []string
		for trial, err := range s.Trials(t.Context(), m.Run) {
			must(t, err)
			got = append(got, fmt.Sprint(trial.Launch, " ", trial.Cell.Operation))
		}
		if !slices.Equal(got, want) {
			t.Errorf("run %s: got the launches %v, want each once: %v", m.Run, got, want)
		}
	}
}

// wait waits until all machines of a fleet have ended.
func wait(t *testing.T, s *store.Store, f store.Fleet) {
	t.Helper()
	_, err := Wait(t.Context(), s, f, testPoll, func(text string) { t.Log(text) })
	must(t, err)
}

// expire ends the leases of all machines, as time does.
func expire(t *testing.T, name string) {
	t.Helper()
	must(t, private.cluster.Run(t.Context(), strings.NewReader("\\connect "+name+"\nUPDATE assay.fleet_machine SET expires = 1;\n")))
}

// An agent that is killed in a launch loses it: another agent of its machine makes it
// again, once.
func TestKilledInALaunch(t *testing.T) {
	name := database(t)
	at := through(private.folder, name)
	s, lock := open(t, at), filepath.Join(t.TempDir(), "lock")
	f := queue(t, s, 1, 3)
	first := launchAgent(t, at, "A", lock, true)
	first.waitFor(t, "launch 1")
	first.pass(t)
	first.waitFor(t, "launch 1 of 3 is kept")
	first.waitFor(t, "launch 2")
	first.kill()
	expire(t, name)
	second := launchAgent(t, at, "A", lock, true)
	for _, number := range []string{"launch 2", "launch 3"} {
		second.waitFor(t, number)
		second.pass(t)
	}
	wait(t, s, f)
	checkOnce(t, s, f)
}

// A fleet that is withdrawn while an agent measures ends there too: its launch is not
// kept, what was kept stays, and the agent takes the next fleet.
func TestWithdrawn(t *testing.T) {
	at := location(t)
	s := open(t, at)
	f := queue(t, s, 1, 3)
	a := launchAgent(t, at, "A", filepath.Join(t.TempDir(), "lock"), true)
	a.waitFor(t, "launch 1")
	a.pass(t)
	a.waitFor(t, "launch 1 of 3 is kept")
	a.waitFor(t, "launch 2")
	if ended, err := s.Withdraw(t.Context(), f.Template.ID); err != nil || ended != 1 {
		t.Fatalf("got %d machines withdrawn, %v; want 1", ended, err)
	}
	machines, err := Wait(t.Context(), s, f, testPoll, func(string) {})
	must(t, err)
	if got, want := State(machines[0], 3), "machine A: 1 of 3 launches, given up: withdrawn"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	next := queue(t, s, 1, 1)
	a.pass(t)
	a.waitFor(t, "launch 2 is not kept: the fleet was withdrawn")
	a.waitFor(t, "launch 1")
	a.pass(t)
	wait(t, s, next)
	checkOnce(t, s, next)
}

// An agent that is stopped in a launch until its lease has expired finds its trials
// refused: the launch is made again, by an agent that has the machine for itself.
func TestStoppedBeyondItsLease(t *testing.T) {
	name := database(t)
	at := through(private.folder, name)
	s := open(t, at)
	f := queue(t, s, 1, 2)
	first := launchAgent(t, at, "A", filepath.Join(t.TempDir(), "lock"), true)
	first.waitFor(t, "launch 1")
	first.signal(t, syscall.SIGSTOP)
	expire(t, name)
	second := launchAgent(t, at, "A", filepath.Join(t.TempDir(), "lock"), true) // as in another container
	second.waitFor(t, "launch 1")
	first.signal(t, syscall.SIGCONT)
	first.pass(t)
	first.waitFor(t, "launch 1 was not kept, and is made again")
	second.pass(t)
	second.waitFor(t, "launch 2")
	second.pass(t)
	wait(t, s, f)
	checkOnce(t, s, f)
}

// What is measured while the network is cut, or the server restarts, is kept when the
// server is back.
func TestServerAway(t *testing.T) {
	name := database(t)
	direct := through(private.folder, name)
	n := newNetwork(t)
	s := open(t, direct)
	f := queue(t, s, 1, 4)
	p := launchAgent(t, through(n.folder, name), "A", filepath.Join(t.TempDir(), "lock"), true)
	p.waitFor(t, "launch 1")
	n.set(true)
	p.pass(t)
	p.waitFor(t, "cannot be reached")
	n.set(false)
	p.waitFor(t, "launch 2")
	_, err := private.cluster.Stop()
	must(t, err)
	p.pass(t)
	p.waitFor(t, "cannot be reached")
	must(t, private.again(t.Context()))
	p.pass(t)
	p.pass(t)
	wait(t, s, f)
	checkOnce(t, s, f)
}

// Agents of one machine take turns: no two of its launches are made at a time, also of
// two fleets.
func TestTurns(t *testing.T) {
	s := open(t, location(t))
	fleets := []store.Fleet{queue(t, s, 1, 10), queue(t, s, 1, 10)}
	lock := filepath.Join(t.TempDir(), "lock")
	var measuring, most, launches int
	mutex := make(chan struct{}, 1)
	change := func(by int) {
		mutex <- struct{}{}
		measuring += by
		most = max(most, measuring)
		launches += max(0, by)
		<-mutex
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 2)
	for i := range 2 {
		null := openNull(nil, nil)
		slow := func(ctx context.Context, run assay.Run, trials []assay.Trial) (Bench, error) {
			b, err := null(ctx, run, trials)
			return counted{b, change}, err
		}
		go func() { done <- agent(s, fmt.Sprint(i), "A", lock, slow, func(string) {}).Run(ctx) }()
	}
	for _, f := range fleets {
		wait(t, s, f)
	}
	end()
	for range 2 {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("an agent ended with %v, want the end of its context", err)
		}
	}
	for _, f := range fleets {
		checkOnce(t, s, f)
	}
	if most != 1 || launches < 20 {
		t.Errorf("got %d launches, up to %d at a time; want 20, one at a time", launches, most)
	}
}

// counted tells how many launches go on.
type counted struct {
	Bench
	change func(int)
}

func (c counted) Launch(ctx context.Context, number int) ([]assay.Trial, error) {
	c.change(1)
	defer c.change(-1)
	time.Sleep(time.Millisecond)
	return c.Bench.Launch(ctx, number)
}
