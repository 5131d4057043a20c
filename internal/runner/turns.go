//go:build unix

package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"assay"
	"assay/internal/runner/host"
	"assay/kit/wire"
)

const (
	// partLength is how long a part of a block is, about, after which another instance has
	// its turn: what the machine does for longer strikes all of them.
	partLength = 5 * time.Millisecond
	// maxParts bounds the parts of a block: in a long one, more would gain nothing.
	maxParts = 40
	// maxCopy bounds the bytes of a copy of the data: those of all instances that take turns
	// shall stay in the system's cache.
	maxCopy = 128 << 20
)

// inTurns is for blocks of one client that changes a database. The instances are alive
// together and take turns: each does a part of its block while the others are paused.
type inTurns struct{ inBlocks }

// takesTurns reports whether a case's blocks have parts. Those of a store have none: pausing
// it would also pause what it does in the background.
func takesTurns(c assay.Case) bool {
	op := c.Operation
	return op.Changes && c.Cell.AllClients() == 1 && len(op.Parts) == 0 && !op.KV() && !op.Cold && !wholeTransaction(op)
}

// ready finds out, once for all launches, whether the group's members can take turns: one
// that fails later does not change the conditions of the others.
func (m inTurns) ready(ctx context.Context, r *Runner, g *group) error {
	g.undivided = g.undivided || slices.ContainsFunc(g.members, func(m *member) bool { return !m.first.canAlternate() })
	return m.inBlocks.ready(ctx, r, g)
}

// canAlternate reports whether a job's engine can be paused, and its data are not too large to
// be there for each instance.
func (j *job) canAlternate() bool { return j.engine.traits().pauses && j.data.Size() <= maxCopy }

func (m inTurns) launch(ctx context.Context, r *Runner, g *group, members []*member, number int) error {
	if g.undivided {
		return m.inBlocks.launch(ctx, r, g, members, number)
	}
	for _, set := range r.setsOf(members) {
		if err := r.turns(ctx, g, set, number); err != nil {
			return err
		}
	}
	return nil
}

func (inTurns) spent(k Costs, c assay.Case) assay.Spent { return k.turns(c) }

// setsOf are the members that take turns with one another, in random order: all of them, or
// as many whole profiles as may be alive at the same time.
func (r *Runner) setsOf(members []*member) (sets [][]*member) {
	profiles := byProfile(members)
	for _, i := range r.shuffled(len(profiles)) {
		last := len(sets) - 1
		if last < 0 || len(sets[last])+len(profiles[i]) > maxMembers {
			sets = append(sets, profiles[i])
			continue
		}
		sets[last] = append(sets[last], profiles[i]...)
	}
	return sets
}

// turns measures a block of each member, a part at a time. What is not measured happens at
// the same time, but for closing, which is timed. What went wrong until the budget ends is emitted.
func (r *Runner) turns(ctx context.Context, g *group, members []*member, launch int) (err error) {
	l := &jointLaunch{r: r, g: g, members: members, number: launch, tried: map[string]bool{}}
	defer l.killAll()
	var all []*turn
	defer func() { err = l.emitWrong(all, assay.Noise{}, 0, err) }()
	began := time.Now()
	if err := l.startAll(ctx); err != nil {
		return err
	}
	for _, in := range l.instances {
		for _, j := range in.jobs { // one; none where it has ended already
			all = append(all, &turn{instance: in, j: j, trial: in.trial(j, launch)})
		}
	}
	err = l.meanwhile(ctx, all, func(t *turn) (err error) {
		t.each, err = t.beginBlock(ctx, t.j, &t.trial)
		return err
	})
	if err != nil {
		return err
	}
	start, meter, before := time.Now(), host.Start(), l.cpu()
	if err := l.parts(ctx, all); err != nil {
		return err
	}
	took, noise := time.Since(start), meter.Stop(l.cpu()-before)
	err = l.meanwhile(ctx, all, func(t *turn) error { return t.verifyBlock(ctx, t.j, &t.trial, &t.tally) })
	if err != nil {
		return err
	}
	shared := (time.Since(began) - took) / time.Duration(max(1, len(all)))
	for _, i := range r.shuffled(len(all)) {
		if err := l.endBlock(ctx, all[i], shared); err != nil {
			return err
		}
		if err := l.emit(noise, took); err != nil {
			return err
		}
	}
	return nil
}

// parts measures the blocks: in each round a part of every instance, in random order. Those
// with fewer parts than others have them spread over the rounds.
func (l *jointLaunch) parts(ctx context.Context, turns []*turn) error {
	left, rounds := slices.DeleteFunc(slices.Clone(turns), l.ended), 0
	// Its own, since the number of parts is not the same with the same seed.
	random := rand.New(rand.NewPCG(l.r.random.Uint64(), 0))
	for _, t := range left {
		t.block.parts = partsIn(t.j.Operation, t.each)
		rounds = max(rounds, t.block.parts)
	}
	for round := range rounds {
		for _, i := range random.Perm(len(left)) {
			t := left[i]
			part, has := partAt(round, rounds, t.block.parts)
			if !has || l.ended(t) || t.block.over {
				continue
			}
			if _, err := l.settle(t, l.part(ctx, t, part)); err != nil {
				return err
			}
		}
	}
	for _, t := range left {
		if l.ended(t) {
			continue
		}
		t.tally.join()
		if _, err := l.settle(t, t.checkWhole()); err != nil {
			return err
		}
	}
	return nil
}

// partAt is the part, of so many, that is done in a round: the first in the first, the others
// spread over the rest.
func partAt(round, rounds, parts int) (part int, has bool) {
	part = (round*parts + rounds - 1) / rounds
	return part, part < parts && part*rounds/parts == round
}

// partsIn returns how many parts a block has whose operations take so long each.
func partsIn(op assay.Operation, each time.Duration) int {
	return max(1, min(maxParts, transactions(op), int(time.Duration(op.Count)*each/partLength)))
}

// transactions returns how many a block has, the last of which may be smaller.
func transactions(op assay.Operation) int {
	unit := max(1, op.Transaction)
	return (op.Count + unit - 1) / unit
}

// part measures the part of a number, from 0, of an instance's block: whole transactions.
func (l *jointLaunch) part(ctx context.Context, t *turn, number int) error {
	op := t.j.Operation
	unit, all := max(1, op.Transaction), transactions(op)
	from, to := number*all/t.block.parts*unit, min(op.Count, (number+1)*all/t.block.parts*unit)
	request := wire.Measure{Operation: t.j.Cell.Peer(), Start: int64(t.j.warm + from), Operations: int64(to - from), Latency: true}
	var w measured
	began := time.Now()
	err := whileResumed(ctx, t.instance, func() (err error) {
		w.pool, err = t.pooled(ctx, t.j, func() error {
			call, err := t.checkedCall(ctx, request, &w.Measured)
			t.block.add(call)
			return err
		})
		return err
	})
	w.took = time.Since(began)
	t.block.took += w.took
	if err != nil {
		return err
	}
	l.r.time.addWindow(w, false)
	t.keep(w)
	t.block.over = w.Executed < request.Operations // the worker has given up
	if limit := l.r.config.Timeout; t.tally.took() > limit {
		return &failure{assay.TimedOut, fmt.Sprintf("measure: the block took longer than the plan's timeout of %s", limit)}
	}
	return nil
}

// partedBlock is a block that is measured in parts.
type partedBlock struct {
	parts int
	took  time.Duration // wall time of all that was done for the parts
	whole wire.Call     // what the calls of the parts were together
	over  bool          // nothing is left to be done
}

func (b *partedBlock) add(call wire.Call) {
	if b.whole.Operations == 0 {
		b.whole = call
		return
	}
	b.whole.Operations += call.Operations
	b.whole.Took += call.Took
	if b.whole.CPU < 0 || call.CPU < 0 {
		b.whole.CPU = -1
		return
	}
	b.whole.CPU += call.CPU
}

// checkWhole refuses what the parts of a block say together where that cannot be true: each
// is too short to show a slow clock.
func (t *turn) checkWhole() error {
	m := t.tally.total
	if err := m.Check(t.block.whole); err != nil {
		return untrue(wire.TypeMeasure, err)
	}
	return t.checkPace(m, t.block.whole)
}

// endBlock closes the database, with nothing beside it, and completes the trial. What was done
// for all instances at the same time took so long for each of them.
func (l *jointLaunch) endBlock(ctx context.Context, t *turn, shared time.Duration) error {
	if l.ended(t) {
		return nil
	}
	began := time.Now()
	err := t.closeBlock(ctx, t.j, &t.trial, &t.tally)
	t.took = shared + t.block.took + time.Since(began)
	if ok, err := l.settle(t, err); err != nil || !ok {
		return err
	}
	if t.trial.Measured() {
		recordPool(&t.trial, t.j, t.tally.total.Executed, t.reopened)
	}
	l.recordTurn(t)
	return nil
}
