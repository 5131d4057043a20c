//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay"
	"assay/internal/fleet"
	"assay/internal/stat"
	"assay/internal/store"
	"assay/kit/postgres"
	"assay/kit/postgres/cluster"
)

const (
	fleetLaunches = 1000 // whose throughput is measured
	fleetRounds   = 3    // of them
	queueLaunches = 100  // in a round of those that are compared with launches without a queue
	queueRounds   = 10
	benchVersion  = "bench" // of the agents
)

// fleet measures what the queue of a fleet costs, by launches that do nothing: beside
// the same launches without a queue, and how many a second it lets several machines
// make. Agents and server share this machine, and each launch is synced to its disk.
func (t *tools) fleet() error {
	q, err := t.newQueue()
	if errors.Is(err, cluster.ErrMissing) {
		fmt.Printf("fleet: skipped (%v)\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer q.server.Kill()
	if err := q.overhead(); err != nil {
		return err
	}
	return q.throughput()
}

// queue is a server of its own, whose store has the fleets.
type queue struct {
	ctx    context.Context
	server *cluster.Cluster
	url    string
	locks  string // folder of the machines' locks
}

func (t *tools) newQueue() (*queue, error) {
	programs, err := cluster.Find(t.ctx)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(t.dir, "fleet")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	data := filepath.Join(folder, "data")
	if err := programs.Init(t.ctx, data); err != nil {
		return nil, err
	}
	server, err := programs.Start(t.ctx, cluster.Options{Data: data, Socket: folder})
	if err != nil {
		return nil, err
	}
	query := url.Values{"host": {folder}, "port": {fmt.Sprint(postgres.Port)}, "sslmode": {"disable"}}
	at := url.URL{Scheme: "postgres", User: url.User(postgres.User), Path: "/" + postgres.User, RawQuery: query.Encode()}
	return &queue{t.ctx, server, at.String(), t.dir}, nil
}

// overhead compares launches of one agent with those of assay run.
func (q *queue) overhead() error {
	s, err := store.Open(q.ctx, q.url)
	if err != nil {
		return err
	}
	defer s.Close()
	var queued, straight, differences []float64
	for i := range queueRounds + 1 {
		through, err := q.measure(1, queueLaunches)
		if err != nil {
			return err
		}
		without, err := q.straight(s)
		if err != nil {
			return err
		}
		if i == 0 { // the server is cold
			continue
		}
		a, b := perLaunch(through, queueLaunches), perLaunch(without, queueLaunches)
		queued, straight, differences = append(queued, a), append(straight, b), append(differences, a-b)
	}
	say("fleet: a launch through the queue", stat.LogInterval(queued), "ms", "none", 0, math.Inf(1))
	say("fleet: the same without a queue", stat.LogInterval(straight), "ms", "none", 0, math.Inf(1))
	say("fleet: overhead of the queue per launch", stat.MeanInterval(differences), "ms", "at most 5", math.Inf(-1), 5)
	return nil
}

func perLaunch(took time.Duration, launches int) float64 {
	return took.Seconds() * 1000 / float64(launches)
}

// throughput measures how many launches a second the queue lets several machines make.
func (q *queue) throughput() error {
	machines := []int{1, 2, 4}
	rates := make([][]float64, len(machines))
	for range fleetRounds {
		for i, n := range machines {
			took, err := q.measure(n, fleetLaunches/n)
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], fleetLaunches/took.Seconds())
		}
	}
	for i, n := range machines {
		say(fmt.Sprintf("fleet: launches a second, agents: %d", n), stat.LogInterval(rates[i]), "", "none", 0, math.Inf(1))
	}
	return nil
}

// measure queues launches for some machines and says how long their agents take.
func (q *queue) measure(machines, launches int) (time.Duration, error) {
	var agents []*fleet.Agent
	for i := range machines {
		s, err := store.Open(q.ctx, q.url) // one for each, as agents are programs of their own
		if err != nil {
			return 0, err
		}
		defer s.Close()
		agents = append(agents, q.agent(s, fmt.Sprint("machine ", i+1)))
	}
	f := store.Fleet{Template: nullRun(), Machines: machines, Launches: launches}
	if err := agents[0].Store.Queue(q.ctx, f); err != nil {
		return 0, err
	}
	began, ended := time.Now(), make(chan error, machines)
	for _, a := range agents {
		go func() { ended <- a.Run(q.ctx) }()
	}
	var errs []error
	for range agents {
		errs = append(errs, <-ended)
	}
	took := time.Since(began)
	return took, errors.Join(append(errs, q.complete(agents[0].Store, f))...)
}

// complete fails unless all launches of a fleet were made.
func (q *queue) complete(s *store.Store, f store.Fleet) error {
	all, err := s.FleetMachines(q.ctx, f.Template.ID)
	for _, m := range all {
		if m.Done != f.Launches {
			err = errors.Join(err, fmt.Errorf("%s made %d of %d launches: %s", m.Machine, m.Done, f.Launches, m.Problem))
		}
	}
	return err
}

func (q *queue) agent(s *store.Store, machine string) *fleet.Agent {
	return &fleet.Agent{Store: s, Who: store.Agent{Name: rand.Text(), Machine: machine, Words: machine, Version: benchVersion},
		Open: openNull, Lock: filepath.Join(q.locks, strings.ReplaceAll(machine, " ", "-")+".lock"),
		Lease: fleet.Lease, Poll: time.Millisecond, Idle: time.Nanosecond, Note: func(string) {}}
}

// straight makes launches as assay run does, and says how long they take.
func (q *queue) straight(s *store.Store) (time.Duration, error) {
	began := time.Now()
	bench, err := openNull(q.ctx, nullRun(), nil)
	if err != nil {
		return 0, err
	}
	run := bench.Run()
	if err := s.Begin(q.ctx, run); err != nil {
		return 0, err
	}
	for number := range queueLaunches {
		trials, err := bench.Launch(q.ctx, number+1)
		if err != nil {
			return 0, err
		}
		for _, t := range trials {
			if err := s.Append(q.ctx, run.ID, t); err != nil {
				return 0, err
			}
		}
	}
	err = s.Update(q.ctx, bench.Finished())
	return time.Since(began), err
}

func nullRun() assay.Run {
	return assay.Run{ID: newRunID(), Plan: "null", PlanText: "name: null", Version: benchVersion, Started: time.Now()}
}

func newRunID() string { return strings.ToLower(rand.Text()) }

// nullBench launches nothing.
type nullBench struct{ run assay.Run }

func openNull(_ context.Context, run assay.Run, _ []assay.Trial) (fleet.Bench, error) {
	run.ID, run.Status = newRunID(), assay.Running
	run.Targets = []assay.Target{{Driver: "null", DriverVersion: "v1"}}
	return nullBench{run}, nil
}

func (b nullBench) Run() assay.Run { return b.run }
func (b nullBench) Close()         {}

func (b nullBench) Finished() assay.Run {
	run := b.run
	run.Status, run.Finished = assay.Finished, time.Now()
	return run
}

func (b nullBench) Launch(_ context.Context, number int) ([]assay.Trial, error) {
	return []assay.Trial{{Cell: assay.Cell{Operation: "nothing", Driver: "null", Clients: 1}, Group: "null", Launch: number,
		Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: 1}}}, nil
}
