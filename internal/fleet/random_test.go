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
	store    *store.Store
	fleet    store.Fleet
	networks []*network // of the agents
	agents   []*process
	heard    sync.WaitGroup
	mutex    sync.Mutex
	said     map[string]int // how often agents said what words tell of
}

func newSchedule(t *testing.T, random *rand.Rand, launches int) *schedule {
	s := &schedule{random: random, name: database(t), folder: t.TempDir(), said: map[string]int{}}
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
	p := launchAgent(t, through(s.networks[i].folder, s.name), machine, filepath.Join(s.folder, machine), false)
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
	t.Logf("%d machines with %d launches each; faults %v; agents said %v", s.fleet.Machines, s.fleet.Launches, done, s.said)
}

// victim is any agent, or one that has a launch.
func (s *schedule) victim(t *testing.T) int {
	any := s.random.IntN(agentsAtRandom)
	if s.random.IntN(2) == 0 {
		return any
	}
	machines, err := s.store.FleetMachines(t.Context(), s.fleet.Template.ID)
	if err != nil {
		return any // the server was away: the connections that it had are not valid any more
	}
	for _, m := range machines {
		holds := func(p *process) bool { return strconv.Itoa(p.command.Process.Pid) == m.Holder }
		if i := slices.IndexFunc(s.agents, holds); i >= 0 {
			return i
		}
	}
	return any
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
