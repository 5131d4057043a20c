//go:build unix

package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"assay"
)

// method is how a case is measured: in windows, in blocks, over HTTP, or as a call. What
// follows from it is here, as what depends on a target's engine is in engine.
type method interface {
	// mode is how trials name it.
	mode() assay.Mode
	// key is the same for all cases that are measured in one group.
	key(c assay.Case) string
	// name returns the name of a group that begins with a job. Trials keep it.
	name(j *job) string
	// describe says what a group measures that begins with a cell.
	describe(cell assay.Cell) string
	// arguments chooses how many operations a job has beside those that are measured,
	// and returns the length of its argument sequence.
	arguments(ctx context.Context, j *job) (length int, err error)
	// connections are what an instance opens for a job.
	connections(j *job) connections
	// ready finds out what figures of a group need beside its launches, each once.
	ready(ctx context.Context, r *Runner, g *group) error
	// launch measures members of a group in the launch of a number.
	launch(ctx context.Context, r *Runner, g *group, members []*member, number int) error
	// spent estimates what one launch of a case takes, without its instance.
	spent(k Costs, c assay.Case) assay.Spent
}

// methodOf chooses how a case is measured: windows show the smallest
// differences, but only where nothing is left behind from one window to the
// next, there is one process, its clients are not more than the processors, and a
// transaction is shorter than a block. Blocks have parts where nothing goes on in a paused worker.
func methodOf(c assay.Case) method {
	op := c.Operation
	switch {
	case op.Call():
		return inCalls{}
	case op.Sequence != "":
		return inReplay{}
	case op.Serve:
		return overHTTP{}
	case takesTurns(c):
		return inTurns{}
	case op.Changes || op.Cold || len(op.Parts) > 0 || c.Cell.Processes > 1 || c.Cell.Clients > runtime.NumCPU() || wholeTransaction(op):
		return inBlocks{}
	}
	return inWindows{}
}

// Together reports whether two cases are measured in the same launches.
func Together(a, b assay.Case) bool {
	m := methodOf(a)
	return m == methodOf(b) && m.key(a) == m.key(b)
}

// wholeTransaction reports whether all operations of a block are one transaction.
func wholeTransaction(op assay.Operation) bool {
	return op.Transaction > 0 && op.Transaction >= op.Count
}

// inWindows is for operations that change nothing, on instances that are alive together.
// Those of one dataset, number of clients and pool share them.
type inWindows struct{}

func (inWindows) mode() assay.Mode { return assay.Windows }

// key is the same for files of the same rows with other settings, such as another page
// size or index: profiles are compared within a launch.
func (w inWindows) key(c assay.Case) string {
	rows := c.Dataset
	rows.Workload, rows.FileSettings, rows.Prepare = "", nil, nil
	text, err := json.Marshal(rows)
	if err != nil { // a constant that JSON has no form for
		text = fmt.Appendf(nil, "%+v", c.Dataset)
	}
	return w.named(string(text), c.Cell)
}

func (w inWindows) name(j *job) string { return w.named(j.data.Digest, j.Cell) }

// named names a group of windows of some data.
func (inWindows) named(data string, c assay.Cell) string {
	return fmt.Sprintf("%s|%d|%d|%d", data, c.Clients, c.Pool, c.Idle)
}

func (inWindows) describe(cell assay.Cell) string { return sized(cell.Workload+", reads", cell) }

// arguments are as many as an operation draws from: windows use up the sequence, and one
// that were shorter would have windows and launches read the same few rows again and
// again.
func (inWindows) arguments(ctx context.Context, j *job) (int, error) {
	choices, err := j.data.Choices(ctx, j.Operation, maxSequence)
	if err != nil {
		return 0, err
	}
	length := int(min(max(choices, minSequence), maxSequence))
	j.unreached = max(0, choices-int64(length))
	return length, nil
}

func (inWindows) connections(j *job) connections {
	return connections{readers: j.Cell.Pool, idle: j.Cell.Idle}
}

// ready finds out, once for all launches, how each member's data are read whole.
func (inWindows) ready(ctx context.Context, _ *Runner, g *group) error {
	for _, m := range g.members {
		if len(m.pages) > 0 || !m.first.canAlternate() {
			continue
		}
		queries, err := m.first.data.Pages(ctx)
		if err != nil {
			return err
		}
		m.pages = queries
	}
	return nil
}

func (inWindows) launch(ctx context.Context, r *Runner, g *group, members []*member, number int) error {
	return r.windows(ctx, g, members, number)
}

func (inWindows) spent(k Costs, c assay.Case) assay.Spent { return k.windows(c) }

// inBlocks has a group for every operation, and measures one instance at a time.
type inBlocks struct{}

func (inBlocks) mode() assay.Mode { return assay.Blocks }

func (inBlocks) key(c assay.Case) string { return c.Cell.Peer() }

func (b inBlocks) name(j *job) string { return b.key(j.Case) }

func (inBlocks) describe(cell assay.Cell) string { return describe(cell) }

func (inBlocks) arguments(_ context.Context, j *job) (int, error) {
	j.warm, j.behind, j.oneClient = warmOperations(j.Operation), operationsBehind(j), oneClientOperations(j)
	return j.warm + j.Operation.Count + j.behind + j.oneClient, nil
}

// warmOperations returns how many operations come before a block. A whole transaction goes into
// a store as it is, and nothing may be read before an operation on data that no cache has
// seen. One that reads is warmed up though verifying has run it: without that, a million reads
// of Badger take half as long again.
func warmOperations(op assay.Operation) int {
	if op.Cold || op.Sequence != "" || op.KV() && op.Changes && wholeTransaction(op) {
		return 0
	}
	unit := max(1, op.Transaction)
	return (op.Count/warmShare + unit - 1) / unit * unit
}

// connections are for readers unless an operation only changes data, and for writers if
// it changes any.
func (inBlocks) connections(j *job) connections {
	lazy := j.Operation.Serve && j.Profile.Lazy
	if len(j.Operation.Parts) > 0 {
		writers := 0
		if j.Operation.Changes {
			writers = max(1, j.Operation.Writers)
		}
		return connections{readers: j.Cell.Pool, idle: j.Cell.Idle, writers: writers, lazy: lazy}
	}
	if j.Operation.Changes {
		c := connections{writers: max(1, j.Cell.Pool)}
		if j.checksLeft() && !j.singleConnection() {
			c.readers, c.idle = 1, 1 // a writer sees what it never commits
		}
		return c
	}
	return connections{readers: j.Cell.Pool, idle: j.Cell.Idle, lazy: lazy}
}

// ready traces commits.
func (inBlocks) ready(ctx context.Context, r *Runner, g *group) error {
	return r.time.only(assay.StageTrace, func() error { return r.traceGroup(ctx, g) })
}

func (inBlocks) launch(ctx context.Context, r *Runner, g *group, members []*member, number int) error {
	return r.blocks(ctx, g, members, number, (*instance).runBlock)
}

func (inBlocks) spent(k Costs, c assay.Case) assay.Spent { return k.blocks(c) }

// overHTTP is for a block that is asked for over HTTP. Nothing is done behind it.
type overHTTP struct{ inBlocks }

func (overHTTP) arguments(_ context.Context, j *job) (int, error) {
	j.warm = warmOperations(j.Operation)
	return j.warm + j.Operation.Count, nil
}

// ready also finds the load generator's own limit.
func (o overHTTP) ready(ctx context.Context, r *Runner, g *group) error {
	if err := o.inBlocks.ready(ctx, r, g); err != nil {
		return err
	}
	return r.calibrate(ctx, g.members[0].cell())
}

func (overHTTP) launch(ctx context.Context, r *Runner, g *group, members []*member, number int) error {
	return r.blocks(ctx, g, members, number, (*instance).runServed)
}

// inCalls has one group for the calls of a workload: blocks which run one after the other in
// one process, as an application would.
type inCalls struct{ inBlocks }

func (inCalls) key(c assay.Case) string {
	cell := c.Cell
	cell.Operation, cell.Transaction = "calls", 0
	return cell.Peer()
}

func (s inCalls) name(j *job) string { return s.key(j.Case) }

func (inCalls) describe(cell assay.Cell) string {
	cell.Operation = "calls"
	return describe(cell)
}

func (inCalls) arguments(context.Context, *job) (int, error) { return 1, nil }

func (inCalls) connections(j *job) connections { return connections{writers: j.Cell.Pool} }

func (inCalls) launch(ctx context.Context, r *Runner, g *group, members []*member, number int) error {
	return r.oneByOne(g, members, func(m *member) error { return r.sequence(ctx, g, m, number) })
}

func (inCalls) spent(k Costs, c assay.Case) assay.Spent {
	return assay.Spent{assay.StageMeasured: k.call(c)}
}

// inReplay is for a block that is a whole sequence: nothing of it can be done before or behind.
type inReplay struct{ inBlocks }

func (inReplay) arguments(_ context.Context, j *job) (int, error) { return j.Operation.Count, nil }

func (inReplay) launch(ctx context.Context, r *Runner, g *group, members []*member, number int) error {
	return r.blocks(ctx, g, members, number, (*instance).runReplay)
}
