//go:build unix

package runner

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay"
	"assay/internal/host"
	"assay/kit/wire"
)

const (
	// partLength is the minimum length of a part of a block, after which another instance
	// has its turn: what the machine does for longer strikes all of them.
	partLength = 5 * time.Millisecond
	// maxParts bounds the parts of a block: in a long one, more would gain nothing.
	maxParts = 40
)

// inTurns is for blocks of one client that changes a database. The instances are alive
// together and take turns: each does a part of its block while the others are paused.
type inTurns struct{ inBlocks }

// takesTurns reports whether the blocks of a case have parts. Those of a store have none:
// pausing it would also pause what it does in the background.
func takesTurns(c assay.Case) bool {
	op := c.Operation
	return op.Changes && c.Cell.Clients == 1 && len(op.Parts) == 0 && !op.KV()
}

func (inTurns) launch(ctx context.Context, r *Runner, g *group, members []*member, number int) error {
	sets := r.setsOf(members)
	for _, i := range r.shuffled(len(sets)) {
		var err error
		if set := sets[i]; len(set) > 1 {
			err = r.turns(ctx, g, set, number)
		} else {
			err = r.blocks(ctx, g, set, number, (*instance).runBlock)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// paused reports whether a job's workers are paused again and again.
func (j *job) paused() bool {
	return j.method.mode() == assay.Windows || j.method == inTurns{} && j.engine.pauses()
}

func (inTurns) spent(k Costs, c assay.Case) assay.Spent { return k.turns(c) }

// setsOf are the members that take turns with one another: all of them, or as many whole
// profiles, drawn at random, as may be alive at the same time. One whose engine goes on while
// its worker is paused is alone.
func (r *Runner) setsOf(members []*member) (sets [][]*member) {
	var profiles [][]*member
	place := map[string]int{}
	for _, m := range members {
		profile := m.cell().Profile
		i, has := place[profile]
		switch {
		case !m.first.engine.pauses():
			sets = append(sets, []*member{m})
			continue
		case !has:
			i = len(profiles)
			place[profile], profiles = i, append(profiles, nil)
		}
		profiles[i] = append(profiles[i], m)
	}
	var set []*member
	for _, i := range r.shuffled(len(profiles)) {
		if len(set) > 0 && len(set)+len(profiles[i]) > maxMembers {
			sets, set = append(sets, set), nil
		}
		set = append(set, profiles[i]...)
	}
	if len(set) > 0 {
		sets = append(sets, set)
	}
	return sets
}

// turns measures a block of each member, a part at a time. What is not measured happens at
// the same time, but for closing, which is timed.
func (r *Runner) turns(ctx context.Context, g *group, members []*member, launch int) error {
	l := &jointLaunch{r: r, g: g, members: members, number: launch, tried: map[trialKey]bool{}}
	defer l.killAll()
	if err := l.startAll(ctx); err != nil {
		return err
	}
	var all []*turn
	for _, in := range l.instances {
		all = append(all, &turn{instance: in, j: in.jobs[0], trial: in.trial(in.jobs[0], launch)})
	}
	err := l.meanwhile(ctx, all, func(t *turn) (err error) {
		t.each, err = t.beginBlock(ctx, t.j, &t.trial)
		return err
	})
	if err != nil {
		return err
	}
	began, meter, before := time.Now(), host.Start(), l.cpu()
	if err := l.parts(ctx, all); err != nil {
		return err
	}
	took, noise := time.Since(began), meter.Stop(l.cpu()-before)
	err = l.meanwhile(ctx, all, func(t *turn) error { return t.verifyBlock(ctx, t.j, &t.trial, &t.tally) })
	if err != nil {
		return err
	}
	for _, i := range r.shuffled(len(all)) {
		if err := l.endBlock(ctx, all[i]); err != nil {
			return err
		}
	}
	return l.emit(noise, took)
}

// parts measures the blocks: in each round a part of every instance, in random order; those of
// a profile with fewer parts are spread over the rounds.
func (l *jointLaunch) parts(ctx context.Context, turns []*turn) error {
	left := slices.DeleteFunc(slices.Clone(turns), l.ended)
	parts, rounds := partsOf(left), 0
	for _, t := range left {
		rounds = max(rounds, parts[t.cell().Profile])
	}
	for round := range rounds {
		for _, i := range l.r.shuffled(len(left)) {
			t := left[i]
			n := parts[t.cell().Profile]
			if l.ended(t) || (round+1)*n/rounds == round*n/rounds {
				continue
			}
			if _, err := l.settle(t, l.part(ctx, t, round*n/rounds, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

// partsOf is how many parts the blocks of each profile have, which are equally long.
func partsOf(turns []*turn) map[string]int {
	slowest, parts := map[string]time.Duration{}, map[string]int{}
	for _, t := range turns {
		profile := t.cell().Profile
		slowest[profile] = max(slowest[profile], t.each)
		parts[profile] = partsIn(t.j.Operation, slowest[profile])
	}
	return parts
}

// partsIn is how many parts a block has whose operations take so long each.
func partsIn(op assay.Operation, each time.Duration) int {
	return max(1, min(maxParts, transactions(op), int(time.Duration(op.Count)*each/partLength)))
}

// transactions is how many a block has, the last of which may be smaller.
func transactions(op assay.Operation) int {
	unit := max(1, op.Transaction)
	return (op.Count + unit - 1) / unit
}

// part measures a part of an instance's block, from 0, of so many: whole transactions.
func (l *jointLaunch) part(ctx context.Context, t *turn, part, parts int) error {
	op := t.j.Operation
	unit, all := max(1, op.Transaction), transactions(op)
	from, to := part*all/parts*unit, min(op.Count, (part+1)*all/parts*unit)
	request := wire.Measure{Operation: t.j.Cell.Peer(), Start: int64(t.j.warm + from), Operations: int64(to - from), Latency: true}
	var w measured
	began := time.Now()
	err := whileResumed(ctx, t.instance, func() (err error) {
		w.pool, err = t.measurePooled(ctx, t.j, request, &w.Measured)
		return err
	})
	w.took = time.Since(began)
	t.took += w.took
	if err != nil {
		return err
	}
	l.r.time.addWindow(w, false)
	t.keep(w)
	if limit := l.r.config.Timeout; t.tally.took() > limit {
		return &failure{assay.TimedOut, fmt.Sprintf("measure: the block took longer than the plan's timeout of %s", limit)}
	}
	return nil
}

// endBlock closes the database, with nothing beside it, and completes the trial.
func (l *jointLaunch) endBlock(ctx context.Context, t *turn) error {
	if l.ended(t) {
		return nil
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, l.r.config.Timeout)
	defer cancel()
	err := fail("resume", t.worker.Resume(limited))
	if err == nil {
		err = t.closeBlock(ctx, t.j, &t.trial, &t.tally)
	}
	t.took += time.Since(began)
	if ok, err := l.settle(t, err); err != nil || !ok {
		return err
	}
	if t.trial.Measured() {
		recordPool(&t.trial, t.j, t.tally.total.Executed, t.pooled)
	}
	l.recordTurn(t)
	return nil
}
