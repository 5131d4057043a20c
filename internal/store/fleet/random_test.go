package fleet

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/internal/store"
)

// The size of TestFaultsAtRandom. The whole is -schedules 20 -launches 1000.
var (
	schedules = flag.Int("schedules", 3, "schedules of faults that are tried")
	launches  = flag.Int("launches", 100, "launches of each schedule")
	firstSeed = flag.Uint64("seed", rand.Uint64(), "seed of the first schedule; each further one has the next seed")
)

const (
	agentsAtRandom = 4
	// maxGap is how many launches are kept between two faults at most; few launches have
	// shorter gaps.
	maxGap = 50
)

// Whatever happens to agents, networks and the server, every launch is there once.
func TestFaultsAtRandom(t *testing.T) {
	for i := range *schedules {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Logf("seed %d", seed)
			newSchedule(t, rand.New(rand.NewPCG(seed, 0)), *launches).run(t)
		})
	}
}

// schedule is a fleet on some machines with four agents in all, and what happens to
// them.
type schedule struct {
	random   *rand.Rand
	name     string // of the database
	folder   string // of the machines' locks
	apart    bool   // each agent has a lock of its own, as in containers: leases alone keep them apart
	store    *store.Store
	fleet    store.Fleet
	networks []*network // of the agents
	agents   []*process
	heard    sync.WaitGroup
	mutex    sync.Mutex
	said     map[string]int // how often agents said what words tell of
}

func newSchedule(t *testing.T, random *rand.Rand, launches int) *schedule {
	s := &schedule{random: random, name: database(t), folder: t.TempDir(), apart: random.IntN(2) == 0, said: map[string]int{}}
	t.Cleanup(s.heard.Wait) // when the agents have been killed
	s.store = open(t, through(private.folder, s.name))
	machines := 1 + random.IntN(agentsAtRandom)
	s.fleet = queue(t, s.store, machines, (launches+machines-1)/machines)
	for i := range agentsAtRandom {
		s.networks = append(s.networks, newNetwork(t))
		s.agents = append(s.agents, s.start(t, i))
	}
	return s
}

// words tell of what an agent met.
var words = []string{"is kept", "is made again", "cannot be reached", "waiting for it"}

func (s *schedule) start(t *testing.T, i int) *process {
	machine := fmt.Sprint(i % s.fleet.Machines)
	lock := machine
	if s.apart {
		lock = fmt.Sprint("agent-", i)
	}
	p := launchAgent(t, through(s.networks[i].folder, s.name), machine, filepath.Join(s.folder, lock), false)
	s.heard.Go(func() {
		for line := range p.lines {
			s.mutex.Lock()
			for _, w := range words {
				if strings.Contains(line, w) {
					s.said[w]++
				}
			}
			s.mutex.Unlock()
		}
	})
	return p
}

// fault is one that an agent, its network or the server can have.
type fault struct {
	name string
	do   func(t *testing.T, s *schedule, agent int)
}

var faults = []fault{
	{"kill -9", func(t *testing.T, s *schedule, i int) { s.agents[i].kill(); s.agents[i] = s.start(t, i) }},
	{"stopped beyond its lease", func(t *testing.T, s *schedule, i int) { s.pause(t, i, testLease+testLease/4) }},
	{"woken when another has its launch", func(t *testing.T, s *schedule, i int) { s.wakeLate(t, i) }},
	{"stopped", func(t *testing.T, s *schedule, i int) { s.pause(t, i, s.moment()) }},
	{"connection cut", func(_ *testing.T, s *schedule, i int) {
		s.networks[i].set(true)
		time.Sleep(s.moment())
		s.networks[i].set(false)
	}},
	{"server restarted", func(t *testing.T, _ *schedule, _ int) {
		_, err := private.cluster.Stop()
		must(t, err)
		must(t, private.again(t.Context()))
	}},
	{"server killed", func(t *testing.T, s *schedule, _ int) {
		private.cluster.KillAtOnce()
		time.Sleep(s.moment())
		must(t, private.again(t.Context()))
	}},
}

// moment is how long a short fault lasts. What is kept depends on no time.
func (s *schedule) moment() time.Duration {
	return time.Duration(s.random.IntN(100)) * time.Millisecond
}

func (s *schedule) pause(t *testing.T, agent int, d time.Duration) {
	s.agents[agent].signal(t, syscall.SIGSTOP)
	time.Sleep(d)
	s.agents[agent].signal(t, syscall.SIGCONT)
}

// wakeLate stops an agent in a launch, and wakes it when another agent of its machine is
// making the launch again: what the first one measured must not be kept. Where no other
// agent takes the launch, it is stopped beyond its lease.
func (s *schedule) wakeLate(t *testing.T, agent int) {
	victim := s.agents[s.holder(t, agent)]
	victim.signal(t, syscall.SIGSTOP)
	before, held := s.heldBy(t, victim)
	again := held && s.apart && s.taken(t, before)
	if !again {
		time.Sleep(testLease + testLease/4)
	}
	victim.signal(t, syscall.SIGCONT)
	if !again {
		return
	}
	var after store.FleetMachine
	for after = s.part(t, before.Position); after.Done == before.Done; after = s.part(t, before.Position) {
		time.Sleep(time.Millisecond)
	}
	for trial, err := range s.store.Trials(t.Context(), after.Run) {
		must(t, err)
		if trial.Launch == before.Done+1 && trial.Figures[pidFigure] == float64(victim.command.Process.Pid) {
			t.Errorf("launch %d of machine %s is kept as the agent measured it that woke after another had it", trial.Launch, before.Machine)
		}
	}
	s.mutex.Lock()
	s.said["(woken late)"]++
	s.mutex.Unlock()
}

// taken waits until another agent has a machine's launch. It gives up where the launch is
// kept, or nobody takes it: the machine has one agent, or the other one is in a transaction.
func (s *schedule) taken(t *testing.T, before store.FleetMachine) bool {
	for end := time.Now().Add(4 * testLease); time.Now().Before(end); time.Sleep(time.Millisecond) {
		now := s.part(t, before.Position)
		if now.Done != before.Done {
			return false
		}
		if now.Holder != "" && now.Holder != before.Holder {
			return true
		}
	}
	return false
}

// parts are those of the fleet's machines.
func (s *schedule) parts(t *testing.T) []store.FleetMachine {
	for {
		machines, err := s.store.FleetMachines(t.Context(), s.fleet.Template.ID)
		if s.store.IsLost(err) { // the server was away: the connections that it had are not valid any more
			continue
		}
		must(t, err)
		return machines
	}
}

// part is a machine's part of the fleet, by its position.
func (s *schedule) part(t *testing.T, position int) store.FleetMachine {
	all := s.parts(t)
	return all[slices.IndexFunc(all, func(m store.FleetMachine) bool { return m.Position == position })]
}

// heldBy is the part of the machine whose launch an agent has.
func (s *schedule) heldBy(t *testing.T, p *process) (store.FleetMachine, bool) {
	for _, m := range s.parts(t) {
		if m.Holder == strconv.Itoa(p.command.Process.Pid) {
			return m, true
		}
	}
	return store.FleetMachine{}, false
}

// run lets faults come, each kind before one comes again, and checks what is kept.
func (s *schedule) run(t *testing.T) {
	all := s.fleet.Machines * s.fleet.Launches
	done := map[string]int{}
	var deck []fault
	for at := 1; at < all; at += 1 + s.random.IntN(min(maxGap, max(1, all/4))) {
		if len(deck) == 0 {
			deck = slices.Clone(faults)
			s.random.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		}
		next := deck[0]
		deck = deck[1:]
		untilDone(t, s.store, s.fleet, at)
		next.do(t, s, s.victim(t))
		done[next.name]++
	}
	wait(t, s.store, s.fleet)
	checkOnce(t, s.store, s.fleet)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if kept := s.said["is kept"]; kept > all {
		t.Errorf("agents said %d times that a launch is kept, want at most once for each of %d: two had the same at a time", kept, all)
	}
	t.Logf("%d machines with %d launches each; faults %v; agents said %v", s.fleet.Machines, s.fleet.Launches, done, s.said)
}

// victim is any agent, or one that has a launch.
func (s *schedule) victim(t *testing.T) int {
	any := s.random.IntN(agentsAtRandom)
	if s.random.IntN(2) == 0 {
		return any
	}
	return s.holder(t, any)
}

// holder is an agent that has a launch, or this one where none has.
func (s *schedule) holder(t *testing.T, otherwise int) int {
	for _, m := range s.parts(t) {
		holds := func(p *process) bool { return strconv.Itoa(p.command.Process.Pid) == m.Holder }
		if i := slices.IndexFunc(s.agents, holds); i >= 0 {
			return i
		}
	}
	return otherwise
}

// untilDone waits until so many launches of a fleet are kept, or all.
func untilDone(t *testing.T, s *store.Store, f store.Fleet, want int) {
	t.Helper()
	for {
		machines, err := s.FleetMachines(t.Context(), f.Template.ID)
		if s.IsLost(err) {
			continue
		}
		must(t, err)
		done, all := 0, true
		for _, m := range machines {
			done, all = done+m.Done, all && m.Done == f.Launches
			if m.Problem != "" {
				t.Fatalf("machine %s gave up: %s", m.Machine, m.Problem)
			}
		}
		if done >= want || all {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
