//go:build unix

package runner

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"assay"
	"assay/internal/dataset/oracle"
	"assay/internal/runner/host"
	"assay/kit/wire"
)

// oneByOne measures members of a group one after the other, in random order, each on a
// fresh copy of the data. Of a first launch within a budget, twins come last: where it ends
// before, a cell without its A/A test is worth more than the test without its cell.
func (r *Runner) oneByOne(g *group, members []*member, measure func(*member) error) error {
	order := r.shuffled(len(members))
	if r.config.Budget > 0 && g.launches.finished == 0 {
		twin := func(i int) bool { return members[i].twin }
		order = slices.Concat(slices.DeleteFunc(slices.Clone(order), twin), slices.DeleteFunc(order, func(i int) bool { return !twin(i) }))
	}
	for _, i := range order {
		if err := measure(members[i]); err != nil {
			return err
		}
	}
	return nil
}

// blocks measures a launch of a group, of which each block is run as it says.
func (r *Runner) blocks(ctx context.Context, g *group, members []*member, launch int, run runsBlock) error {
	return r.oneByOne(g, members, func(m *member) error {
		for _, j := range m.jobs {
			if err := r.block(ctx, g, m, j, launch, run); err != nil {
				return err
			}
		}
		return nil
	})
}

// runsBlock does everything from the opened database to the closed worker.
type runsBlock func(in *instance, ctx context.Context, j *job, t *assay.Trial) error

// block measures one block: a fixed number of operations, undivided, after a
// warm-up; closing is timed apart.
func (r *Runner) block(ctx context.Context, g *group, m *member, j *job, launch int, run runsBlock) error {
	began := time.Now()
	meter := host.Start()
	before := host.SelfCPU()
	t := newTrial(m, j, launch)
	in, err := r.start(ctx, m, launch, j.method.connections(j))
	if err == nil {
		t = in.trial(j, launch)
		err = run(in, ctx, j, &t)
		in.kill()
	}
	if err = end(&t, err); err != nil && !t.PermanentFailure() { // else it has failed already
		return err
	}
	used := host.SelfCPU() - before
	if in != nil {
		used += in.used + in.besideUsed
	}
	t.Took = time.Since(began)
	return cmp.Or(r.finish(g, &t, meter.Stop(used), t.Took), err)
}

// prepareBlock prepares a block's operation and verifies its answers.
func (in *instance) prepareBlock(ctx context.Context, j *job, t *assay.Trial) (err error) {
	return in.each(func(one *instance) error {
		if t.QueryPlan, err = one.prepareOperation(ctx, j); err != nil {
			return err
		}
		if !j.Operation.Cold && !in.asked.lazy { // else it would no longer be
			t.Digest, _, err = one.verify(ctx, j)
		}
		return err
	})
}

// beginBlock prepares a block, verifies and warms up. It returns how long an operation took
// in the warm-up; zero where there is none.
func (in *instance) beginBlock(ctx context.Context, j *job, t *assay.Trial) (each time.Duration, err error) {
	if err := in.prepareBlock(ctx, j, t); err != nil || j.warm == 0 {
		return 0, err
	}
	m, err := in.warm(ctx, wire.Measure{Operation: j.Cell.Peer(), Operations: int64(j.warm)})
	return time.Duration(m.Nanos / max(1, m.Operations)), err
}

func (in *instance) runBlock(ctx context.Context, j *job, t *assay.Trial) error {
	if _, err := in.beginBlock(ctx, j, t); err != nil {
		return err
	}
	var tally tally
	var m wire.Measured
	request := wire.Measure{Operation: j.Cell.Peer(), Start: int64(j.warm), Operations: int64(j.Operation.Count), Latency: true}
	did, err := in.pooled(ctx, j, func() error { return in.measure(ctx, request, &m) })
	if err != nil {
		return err
	}
	tally.add(m)
	in.r.time.add(assay.StageMeasured, tally.took())
	if j.Operation.Cold {
		if err := end(t, tally.wasCold()); err != nil {
			return err
		}
		err := in.each(func(one *instance) (err error) {
			t.Digest, _, err = one.verify(ctx, j)
			return err
		})
		if err != nil {
			return err
		}
	}
	t.Warnings = append(t.Warnings, in.differences()...)
	if err := in.completeBlock(ctx, j, t, &tally); err != nil {
		return err
	}
	if t.Measured() {
		recordPool(t, j, m.Executed, did)
	}
	return nil
}

// runOneClient has one client go on behind the block: the newest value of each key
// that it writes is known.
func (in *instance) runOneClient(ctx context.Context, j *job) error {
	if j.oneClient == 0 {
		return nil
	}
	name := "alone " + j.Cell.Peer()
	if _, err := in.prepare(ctx, name, j.Operation, j.trace, 1); err != nil {
		return err
	}
	_, err := in.warm(ctx, wire.Measure{Operation: name, Start: int64(j.warm + j.Operation.Count + j.behind), Operations: int64(j.oneClient)})
	return err
}

// completeBlock verifies a block, closes, and records the figures.
func (in *instance) completeBlock(ctx context.Context, j *job, t *assay.Trial, tally *tally) error {
	if err := in.verifyBlock(ctx, j, t, tally); err != nil {
		return err
	}
	return in.closeBlock(ctx, j, t, tally)
}

// verifyBlock reads the settings back and checks what the block left behind.
func (in *instance) verifyBlock(ctx context.Context, j *job, t *assay.Trial, tally *tally) error {
	if err := in.readSettings(ctx); err != nil {
		if errors.Is(err, errBudgetEnded) {
			err = cmp.Or(end(t, tally.failure()), err)
		}
		return err
	}
	in.recordSettings(t, j.Operation)
	t.Warnings = slices.Concat(t.Warnings, in.deferredWork(j.Operation), in.clockWarning(j))
	if err := end(t, in.applied, tally.failure()); err != nil {
		return err
	}
	if tally.failure() == nil { // else it is known already that not all is right
		s, err := in.r.sampleOf(ctx, j, int64(j.warm), int64(j.warm+j.Operation.Count), tally.each(j.Cell.AllClients()))
		if err != nil {
			return err
		}
		if err := end(t, in.verifySample(ctx, j, s, t)); err != nil {
			return err
		}
	}
	if tally.partial {
		if j.checksLeft() {
			unchecked := *j // nobody knows what those would have left that were not done
			unchecked.state, unchecked.keys, unchecked.rows = "", nil, nil
			t.Checked, t.Warnings = unchecked.checked(), append(t.Warnings, unchecked.uncompared()...)
		}
		return nil
	}
	if err := end(t, in.runBehind(ctx, j, t)); err != nil {
		return err
	}
	if err := end(t, in.runOneClient(ctx, j)); err != nil {
		return err
	}
	return end(t, in.each(func(one *instance) error { return one.verifyLeft(ctx, j, t) }))
}

// verifyLeft checks what a block left behind, as one process sees it.
func (in *instance) verifyLeft(ctx context.Context, j *job, t *assay.Trial) error {
	digest, err := in.verifyState(ctx, j)
	t.Digest = cmp.Or(digest, t.Digest)
	return cmp.Or(err, in.verifyKeys(ctx, j), in.verifyRows(ctx, j)) // a job has one of them at most
}

// closeBlock closes, and records the figures.
func (in *instance) closeBlock(ctx context.Context, j *job, t *assay.Trial, tally *tally) error {
	if err := end(t, in.stop(ctx)); err != nil {
		return err
	}
	tally.record(t, j.Operation, in.worker.Hello().Target.Facts)
	t.Warnings = append(t.Warnings, splitWarning(tally.total.Splits, tally.total.Executed)...)
	if _, ok := t.Figures[assay.NsPerOp]; !ok {
		return nil
	}
	in.recordSyncs(t, j)
	t.Figures[assay.CloseNanos] = float64(in.closed)
	if j.Operation.Changes && in.disk > 0 {
		t.Figures[assay.DiskBytes] = float64(in.disk)
	}
	if j.put > 0 {
		t.Figures[assay.WrittenPerPut] = t.Figures[assay.WrittenPerOp] / j.put
	}
	return nil
}

// callUnits is how many units a trace of a call's system calls has, each of
// them with many commits; they come after untracedUnits more.
const callUnits = untracedUnits + 3

// expectCall asks the oracle for what a call answers.
func expectCall(ctx context.Context, j *job) error {
	found, err := j.data.Expect(ctx, j.Operation, j.trace, 0, 1)
	if err != nil {
		return err
	}
	j.Operation.Steps = slices.Clone(j.Operation.Steps)
	j.Operation.Steps[0].Rows = int(found.Rows)
	j.expected = []expectation{{operation: j.Operation, trace: j.trace, count: 1, digest: found.Digest}}
	return nil
}

// smallest is a call of size 1, whatever it answers then.
func smallest(op assay.Operation) assay.Operation {
	op.Steps = slices.Clone(op.Steps)
	op.Steps[0].N, op.Steps[0].Rows = 1, -1
	return op
}

// sequence is a launch of one member whose operations are calls.
type sequence struct {
	r      *Runner
	m      *member
	launch int
	in     *instance // nil: none is running
	since  int       // the first trial that the running instance has measured
	trials []assay.Trial
	used   time.Duration // CPU time of ended processes
}

// sequence measures the calls of a member in the plan's order, in one process
// on one copy of the data. A call that ends it costs its own outcome only: the
// next one starts another. All share what disturbed them.
func (r *Runner) sequence(ctx context.Context, g *group, m *member, launch int) error {
	s := &sequence{r: r, m: m, launch: launch}
	began, meter, before := time.Now(), host.Start(), host.SelfCPU()
	err := s.run(ctx)
	if err == nil {
		err = s.complete(ctx)
	}
	s.end()
	if err != nil && !errors.Is(err, errBudgetEnded) {
		return err
	}
	took, noise := time.Since(began), meter.Stop(host.SelfCPU()-before+s.used)
	for i := range s.trials {
		if err != nil && !s.trials[i].PermanentFailure() { // its settings were not read back
			continue
		}
		if err := r.finish(g, &s.trials[i], noise, took); err != nil {
			return err
		}
	}
	return err
}

// run measures each call. Where no process can be started, all that are left
// end alike.
func (s *sequence) run(ctx context.Context) error {
	var refused error
	for _, j := range s.m.jobs {
		began := time.Now()
		t := newTrial(s.m, j, s.launch)
		err := refused
		if err == nil && s.in == nil {
			s.in, refused = s.r.start(ctx, s.m, s.launch, j.method.connections(j))
			err, s.since = refused, len(s.trials)
		}
		if err == nil {
			t = s.in.trial(j, s.launch)
			err = s.in.measureCall(ctx, j, &t)
		}
		if err := end(&t, err); err != nil {
			return err
		}
		t.Took = time.Since(began)
		s.trials = append(s.trials, t)
		if err != nil && refused == nil {
			s.end() // it may not answer any more
		}
	}
	return nil
}

// measureCall measures a block of one call, and verifies what its last unit did. Its
// error is that of the process; what the call did wrong is in the trial.
func (in *instance) measureCall(ctx context.Context, j *job, t *assay.Trial) error {
	if _, err := in.prepareOperation(ctx, j); err != nil {
		return err
	}
	var tally tally
	var m wire.Measured
	request := wire.Measure{Operation: j.Cell.Peer(), Operations: int64(j.Operation.Count), Latency: true}
	if err := in.measure(ctx, request, &m); err != nil {
		return err
	}
	tally.add(m)
	in.r.time.add(assay.StageMeasured, tally.took())
	if err := tally.failure(); err != nil {
		return end(t, err)
	}
	var err error
	t.Digest, _, err = in.verify(ctx, j)
	if wrong, is := errors.AsType[*failure](err); is && wrong.outcome == assay.WrongAnswer {
		return end(t, err)
	}
	if err != nil {
		return err
	}
	tally.record(t, j.Operation, in.worker.Hello().Target.Facts)
	in.recordSyncs(t, j)
	return nil
}

// complete reads the settings back after the last call and closes. What is not
// effective then was not for any call of the process.
func (s *sequence) complete(ctx context.Context) error {
	if s.in == nil {
		return nil
	}
	err := s.in.readSettings(ctx)
	if err == nil {
		err = s.in.stop(ctx)
	}
	for i := s.since; i < len(s.trials); i++ {
		t, j := &s.trials[i], s.m.job(s.trials[i].Cell.Peer())
		traced := slices.DeleteFunc(slices.Clone(t.Settings), func(set assay.Setting) bool { return set.Connection != "trace" })
		s.in.recordSettings(t, j.Operation)
		t.Settings = append(slices.Clone(t.Settings), traced...)
		if err := end(t, err, s.in.applied); err != nil {
			return err
		}
	}
	return nil
}

// end ends the running process, however it is.
func (s *sequence) end() {
	if s.in != nil {
		s.in.kill()
		s.used += s.in.used
		s.in = nil
	}
}

// expectReplay finds what the units of a sequence answer.
func (r *Runner) expectReplay(ctx context.Context, j *job) (err error) {
	played := j.played(oracle.Done{Measured: j.Operation.Count})
	j.told, err = once(ctx, r.prepared.told, "replay of "+j.data.Digest+played.Name(), r.answersLimit(), played.SequenceAnswers)
	return err
}

// runReplay has another instance do the sequence first and tell what it answers: to tell takes
// time, and what is measured cannot be done again on the same data.
func (in *instance) runReplay(ctx context.Context, j *job, t *assay.Trial) error {
	if err := in.verifyReplay(ctx, j, t); err != nil {
		return err
	}
	return in.runBlock(ctx, j, t)
}

// toldAtOnce is how many units of a sequence are told by one request: a worker may write
// their rows to a file first.
const toldAtOnce = 1000

func (in *instance) verifyReplay(ctx context.Context, j *job, t *assay.Trial) error {
	if j.told == nil {
		return nil
	}
	other, err := in.r.start(ctx, in.member, t.Launch, in.asked)
	if err != nil {
		return err
	}
	defer func() {
		other.kill()
		in.besideUsed += other.used
	}()
	if _, err := other.prepareOperation(ctx, j); err != nil {
		return err
	}
	var digests []string
	size := toldAtOnce * max(1, j.Operation.Transaction)
	for start := 0; start < j.Operation.Count; start += size {
		some, err := other.digestsOf(ctx, j, int64(start), int64(min(size, j.Operation.Count-start)))
		if err != nil {
			return err
		}
		digests = append(digests, some...)
	}
	return other.compareTold(ctx, j, t, "in the replay before the measured one", 0, digests)
}
