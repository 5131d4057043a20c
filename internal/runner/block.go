//go:build unix

package runner

import (
	"context"
	"slices"
	"time"

	"assay"
	"assay/internal/runner/host"
	"assay/kit/wire"
)

// oneByOne measures members of a group one after the other, in random order, each on a
// fresh copy of the data. Of a first launch within a budget, twins come last: where it ends
// before, a cell without its A/A test is worth more than the test without its cell.
func (r *Runner) oneByOne(g *group, members []*member, measure func(*member) error) error {
	order := r.shuffled(len(members))
	if r.config.Budget > 0 && g.launches.finished == 0 {
		slices.SortStableFunc(order, func(a, b int) int {
			switch twin := members[a].twin; {
			case twin == members[b].twin:
				return 0
			case twin:
				return 1
			}
			return -1
		})
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
	if err := end(&t, err); err != nil {
		return err
	}
	used := host.SelfCPU() - before
	if in != nil {
		used += in.used + in.loadUsed
	}
	t.Took = time.Since(began)
	return r.finish(g, &t, meter.Stop(used), t.Took)
}

// prepareBlock prepares a block's operation and verifies its answers.
func (in *instance) prepareBlock(ctx context.Context, j *job, t *assay.Trial) (err error) {
	if t.QueryPlan, err = in.prepareOperation(ctx, j); err != nil {
		return err
	}
	if !j.Operation.Cold && !in.asked.lazy { // else it would no longer be
		t.Digest, _, err = in.verify(ctx, j)
	}
	return err
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
	did, err := in.measurePooled(ctx, j, request, &m)
	if err != nil {
		return err
	}
	tally.add(m)
	in.r.time.add(assay.StageMeasured, tally.took())
	if j.Operation.Cold {
		if err := end(t, tally.wasCold()); err != nil {
			return err
		}
		if t.Digest, _, err = in.verify(ctx, j); err != nil {
			return err
		}
	}
	if err := in.completeBlock(ctx, j, t, &tally); err != nil {
		return err
	}
	if t.Measured() {
		recordPool(t, j, m.Executed, did)
	}
	return nil
}

// runAlone has one client go on behind the block: the newest value of each key
// that it writes is known.
func (in *instance) runAlone(ctx context.Context, j *job) error {
	if j.alone == 0 {
		return nil
	}
	name := "alone " + j.Cell.Peer()
	if _, err := in.prepare(ctx, name, j.Operation, j.trace, 1); err != nil {
		return err
	}
	_, err := in.warm(ctx, wire.Measure{Operation: name, Start: int64(j.warm + j.Operation.Count + j.behind), Operations: int64(j.alone)})
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
		return err
	}
	in.recordSettings(t, j.Operation)
	t.Warnings = append(t.Warnings, in.deferredWork(j.Operation)...)
	for _, err := range []error{in.applied, tally.failure()} {
		if err := end(t, err); err != nil {
			return err
		}
	}
	if tally.failure() == nil { // else it is known already that not all is right
		s, err := in.r.sampleOf(ctx, j, int64(j.warm), int64(j.warm+j.Operation.Count), tally.each(j.Cell.Clients))
		if err != nil {
			return err
		}
		if err := end(t, in.verifySample(ctx, j, s, t)); err != nil {
			return err
		}
	}
	if !tally.partial {
		for _, run := range []func(context.Context, *job) error{in.runBehind, in.runAlone} {
			if err := end(t, run(ctx, j)); err != nil {
				return err
			}
		}
		digest, err := in.verifyState(ctx, j)
		if digest != "" {
			t.Digest = digest
		}
		if err := end(t, err); err != nil {
			return err
		}
		for _, verify := range []func(context.Context, *job) error{in.verifyKeys, in.verifyRows} {
			if err := end(t, verify(ctx, j)); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeBlock closes, and records the figures.
func (in *instance) closeBlock(ctx context.Context, j *job, t *assay.Trial, tally *tally) error {
	if err := end(t, in.stop(ctx)); err != nil {
		return err
	}
	tally.record(t, j.Operation)
	in.recordSyncs(t, j)
	t.Warnings = append(t.Warnings, splitWarning(tally.total.Splits, tally.total.Executed)...)
	if _, ok := t.Figures[assay.NsPerOp]; !ok {
		return nil
	}
	t.Figures[assay.CloseNanos] = float64(in.closed)
	if j.Operation.Changes && in.disk > 0 {
		t.Figures[assay.DiskBytes] = float64(in.disk)
	}
	if j.put > 0 {
		t.Figures[assay.WrittenPerPut] = t.Figures[assay.WrittenPerOp] / j.put
	}
	return nil
}
