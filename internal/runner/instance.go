//go:build unix

package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/kit/kv"
	"assay/kit/postgres/cluster"
	"assay/kit/process"
	"assay/kit/wire"
)

// instance is a running worker with an open database, or several that share it: then it is
// the first of them.
type instance struct {
	*member
	others []*instance    // the other processes, each with what is its own
	number int            // of one of several processes, from 1
	shares []processShare // of what the processes measured last
	place
	readings
	ending
	r        *Runner
	worker   *process.Worker
	server   *cluster.Cluster // nil where the engine is in the worker
	options  cluster.Options  // that it was started with
	opened   wire.Opened
	asked    connections
	prepared map[string]preparedOperation
	layout   int   // of the program; 0: there is one only
	traced   bool  // it runs under a tracer
	single   *bool // it is one process; nil: not looked yet
}

// place says where an instance's files are.
type place struct {
	dir    string
	path   string        // of the database
	copied *dataset.Copy // what path is
	reuse  bool          // another launch may have the copy
	logs   []string      // of a store, when it was opened
}

// readings holds what an instance's settings were, each time that they were read.
type readings struct {
	settings []assay.Setting // all, with connections that read alike joined
	all      []assay.Setting
	applied  error            // a *failure where a setting was not effective at any read
	claimed  assay.Durability // the weakest at any read, and no stronger than the file system allows
}

// ending holds what is known of an instance that has ended.
type ending struct {
	closed     time.Duration // what closing took
	used       time.Duration // CPU time of its processes
	besideUsed time.Duration // CPU time of what made the load, or verified a replay
	disk       int64         // bytes that the database takes
}

// connections holds what an instance opens.
type connections struct {
	readers, idle, writers int
	lazy                   bool // readers are opened when requests first need them
	paused                 bool // the worker is, again and again
}

// start makes a fresh folder with a copy of the data, starts the worker, opens
// the database and reads the settings back. On failure nothing is left.
func (r *Runner) start(ctx context.Context, m *member, launch int, c connections) (*instance, error) {
	return r.startUnder(ctx, m, launch, c, nil)
}

// startUnder is start, with a program that runs the worker.
func (r *Runner) startUnder(ctx context.Context, m *member, launch int, c connections, under []string) (*instance, error) {
	if r.over() {
		return nil, errBudgetEnded
	}
	in := &instance{member: m, r: r, asked: c, traced: len(under) > 0,
		readings: readings{claimed: r.storage.durability, applied: m.first.options}}
	if err := in.open(ctx, launch, under); err != nil {
		in.kill()
		return nil, err
	}
	return in, nil
}

func (in *instance) open(ctx context.Context, launch int, under []string) error {
	j := in.first
	var program string
	program, in.layout = j.program.path(launch)
	if err := in.r.time.during(assay.StageCopy, func() error { return in.copyData(j) }); err != nil {
		return own("copy the data", err)
	}
	if j.Operation.Cold {
		if err := dropCache(in.path); err != nil {
			return &failure{assay.Unsupported, err.Error()}
		}
	}
	var settings map[string]string
	err := in.r.time.during(assay.StageStart, func() (err error) {
		settings, under, err = j.engine.start(ctx, in, under)
		return err
	})
	if err == nil {
		err = in.connect(ctx, program, settings, under)
	}
	if err != nil || in.traced { // a tracer follows one process
		return err
	}
	return in.openOthers(ctx, program, settings)
}

// connect starts a worker, and has it open the database.
func (in *instance) connect(ctx context.Context, program string, settings map[string]string, under []string) error {
	j := in.first
	err := in.r.time.during(assay.StageStart, func() (err error) {
		in.worker, err = startWorker(ctx, in.r.config, program, process.Options{Dir: in.dir, Under: under, CPUs: j.cpus(), Paused: in.asked.paused})
		return notStarted(err)
	})
	if err != nil {
		return err
	}
	request := wire.Open{Path: in.address(), Settings: settings, Each: in.withPath(j.Profile.Each),
		Readers: in.asked.readers, Idle: in.asked.idle, Writers: in.asked.writers, Lazy: in.asked.lazy}
	if in.number <= 1 {
		request.Once = in.withPath(j.Profile.Once)
	}
	if raw, ok := j.Profile.Raw[j.Cell.Driver]; ok {
		request.DSN = in.rawDSN(raw)
	} else if len(j.Profile.Raw) > 0 {
		return &failure{assay.Unsupported, fmt.Sprintf("profile %s has no DSN for driver %s", j.Profile.Name, j.Cell.Driver)}
	}
	if err := in.r.time.during(assay.StageOpen, func() error { return in.call(ctx, wire.TypeOpen, request, &in.opened) }); err != nil {
		return err
	}
	if err := in.opened.Check(); err != nil {
		return untrue(wire.TypeOpen, err)
	}
	if err := in.ofServer(); err != nil {
		return err
	}
	if j.Operation.KV() {
		in.logs = storeLogs(in.path)
	}
	if in.asked.lazy {
		return nil // to read settings opens connections: it is done after the load
	}
	return in.readOwnSettings(ctx)
}

// call sends a request with the plan's time limit, and that of the budget.
func (in *instance) call(ctx context.Context, kind string, request, reply any) error {
	limited, cancel := in.r.bounded(ctx)
	defer cancel()
	pauses, _ := process.Pauses()
	err := in.worker.Call(limited, kind, request, reply)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if now, _ := process.Pauses(); now != pauses && limited.Err() != nil {
		return errPaused // it may be that nobody was there to take the answer
	}
	return endedByBudget(limited, in.diagnose(fail(kind, err)))
}

// readOwnSettings reads all settings on every connection of a process and compares them with
// what was requested. A difference is remembered in applied, not returned: a
// cell with a setting that is not effective is measured all the same. The first
// difference is kept, with the settings that show it: a later read that finds
// all effective does not undo it.
func (in *instance) readOwnSettings(ctx context.Context) error {
	var read wire.SettingsRead
	err := in.r.time.during(assay.StageSettings, func() error {
		return in.call(ctx, wire.TypeSettings, wire.Settings{Names: in.first.engine.settings(in.first)}, &read)
	})
	if err != nil {
		return err
	}
	if err := read.Check(); err != nil {
		return untrue(wire.TypeSettings, err)
	}
	in.proveSync(read.Connections)
	all, err := compareSettings(in.first.Profile, in.opened, in.asked, read.Connections, in.path)
	claimed, _ := kv.Claimed(in.worker.Hello().Capabilities, in.opened, read.Connections)
	in.claimed = in.claimed.Weaker(assay.Durability(claimed))
	if in.applied == nil || in.all == nil {
		in.all, in.settings = all, condense(all)
		in.applied = joinFailures(in.applied, err)
	}
	return nil
}

// recordSettings writes what the reads so far showed into a trial.
func (in *instance) recordSettings(t *assay.Trial, op assay.Operation) {
	t.Settings = in.settings
	if op.Changes {
		t.Durability = in.claimed
	}
}

// warm runs an operation before it is measured. What goes wrong here is an
// outcome as much as in the measured part.
func (in *instance) warm(ctx context.Context, request wire.Measure) (wire.Measured, error) {
	var m wire.Measured
	err := in.r.time.during(assay.StageWarmUp, func() error { return in.measure(ctx, request, &m) })
	if err != nil {
		return m, err
	}
	return m, wrong(m)
}

// prepareOperation makes a job's operation ready and returns its query plan.
func (in *instance) prepareOperation(ctx context.Context, j *job) (string, error) {
	began := time.Now()
	defer func() { in.r.time.add(assay.StageVerify, time.Since(began)) }()
	return in.prepare(ctx, j.Cell.Peer(), j.Operation, j.trace, j.Cell.Clients)
}

// preparedOperation holds what the checks of its measuring need to know.
type preparedOperation struct {
	clients int
	unit    int64 // operations of a transaction
	call    bool  // an operation of the worker's own, which prepares what it works on
}

// prepare has an operation made ready under a name, and returns its query plan.
func (in *instance) prepare(ctx context.Context, name string, op assay.Operation, trace *dataset.Trace, clients int) (string, error) {
	var prepared wire.Prepared
	request := wire.Prepare{Operation: in.say(wireOperation(name, op, trace)), Clients: clients}
	err := in.call(ctx, wire.TypePrepare, request, &prepared)
	if in.prepared == nil {
		in.prepared = map[string]preparedOperation{}
	}
	in.prepared[name] = preparedOperation{clients: clients, unit: int64(max(1, op.Transaction)), call: op.Call()}
	return prepared.QueryPlan, err
}

// verify compares the answers of the job's reading operations with the
// expected ones and returns the digest and how long an operation took, roughly.
func (in *instance) verify(ctx context.Context, j *job) (digest string, each time.Duration, err error) {
	started := time.Now()
	defer func() { in.r.time.add(assay.StageVerify, time.Since(started)) }()
	for _, e := range j.expected {
		name := j.named(e)
		if len(j.Operation.Parts) > 0 {
			if _, err := in.prepare(ctx, name, e.operation, e.trace, 1); err != nil {
				return "", 0, err
			}
		}
		began := time.Now()
		var found wire.Verified
		if err := in.call(ctx, wire.TypeVerify, wire.Verify{Operation: name, Count: int64(e.count)}, &found); err != nil {
			return "", 0, err
		}
		each = time.Since(began) / time.Duration(max(1, e.count))
		right := found.Digest == e.digest
		if !right && found.Rows == e.rows {
			if right, err = in.sameRows(ctx, j, name, e, 0); err != nil {
				return "", 0, err
			}
		}
		if !right {
			return found.Digest, each, &failure{assay.WrongAnswer, fmt.Sprintf("the answers to the first %d of %s have digest %.12s, want %.12s%s",
				e.count, e.operation.Name, found.Digest, e.digest, in.difference(ctx, j, name, e))}
		}
		digest = found.Digest
	}
	return digest, each, nil
}

// verifyState compares what a block left behind with what it should have.
func (in *instance) verifyState(ctx context.Context, j *job) (string, error) {
	if j.state == "" {
		return "", nil
	}
	check := j.Operation.Check
	var found wire.Verified
	err := in.r.time.during(assay.StageVerify, func() (err error) {
		found, err = in.readAll(ctx, j, *check)
		return err
	})
	if err != nil {
		return "", err
	}
	right := found.Digest == j.state
	if !right {
		if right, err = in.sameState(ctx, j); err != nil {
			return "", err
		}
	}
	if !right {
		return found.Digest, &failure{assay.WrongAnswer, fmt.Sprintf(
			"after the block, %q answers digest %.12s, want %.12s%s", check.SQL, found.Digest, j.state, anyOrder(j.Cell.AllClients()))}
	}
	return found.Digest, nil
}

// anyOrder says what the check of a block of several clients must not depend on.
func anyOrder(clients int) string {
	if clients <= 1 {
		return ""
	}
	return fmt.Sprintf("; %d clients commit in any order: make sure that the answer does not depend on it, as ids do that the engine assigns", clients)
}

// stop closes the database and ends the worker. The copy of the data goes with
// it, or waits for another launch.
func (in *instance) stop(ctx context.Context) error {
	return in.r.time.during(assay.StageClose, func() error { return in.end(ctx) })
}

func (in *instance) end(ctx context.Context) error {
	for _, one := range slices.Backward(in.processes()) {
		took, err := one.closeDatabase(ctx)
		if err != nil {
			return in.of(one, fail("close", err)) // kill removes the folder
		}
		in.closed += took
	}
	err := in.stopServer()
	in.recordCPU()
	in.disk, _ = diskUsage(in.dir) // with logs and journals beside the file; none is shown where it cannot be told
	if err != nil {
		return fail("close", err)
	}
	return own("put the data away", in.leave())
}

// closeDatabase has a worker close the database and end.
func (in *instance) closeDatabase(ctx context.Context) (took time.Duration, err error) {
	began := time.Now()
	closed, err := stopWorker(ctx, in.r.config, in.worker)
	if err == nil {
		err = untrue(wire.TypeClose, closed.Check(time.Since(began)))
	}
	return time.Duration(closed.Nanos), err
}

// kill ends the workers at once and removes their folder.
func (in *instance) kill() {
	for _, one := range in.processes() {
		if one.worker != nil {
			one.worker.Kill()
		}
	}
	if in.server != nil {
		in.server.Kill()
	}
	in.recordCPU()
	if in.dir != "" {
		_ = os.RemoveAll(in.dir) // swept at the next start if it cannot be removed now
	}
}

// recordCPU records the CPU time of the processes that have ended.
func (in *instance) recordCPU() {
	in.used = 0
	if in.server != nil {
		in.used = in.server.Used()
	}
	for _, one := range in.processes() {
		if one.worker != nil {
			in.used += one.worker.Usage()
		}
	}
}
