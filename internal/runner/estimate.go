//go:build unix

package runner

import (
	"fmt"
	"runtime"
	"time"

	"assay"
	"assay/internal/runner/schedule"
	"assay/kit/kv"
)

// What parts of a launch cost, by rule of thumb: on a machine of two slow
// cores. A run replaces them by what it measures in its first round.
const (
	typicalInstance = 30 * time.Millisecond  // starting a worker, opening, reading the settings, closing
	typicalClient   = 500 * time.Microsecond // each beyond the first, with its connection
	typicalCommit   = 800 * time.Microsecond // with syncs
	typicalUnsynced = 15 * time.Microsecond  // a commit without
	typicalFast     = 20 * time.Microsecond  // one operation
	typicalRequest  = 100 * time.Microsecond // one request over HTTP
	typicalRow      = 500 * time.Nanosecond  // one row of its answer
	typicalTurn     = 500 * time.Microsecond // resuming an instance for a window, and pausing it
	typicalRead     = time.Microsecond       // one key of a store, where all of them are read behind a block
	typicalCopied   = 300_000_000            // bytes of the data that are copied in a second, or read into a cache

	syncsToCopy = 2 // of a copy and its folder
	syncsToOpen = 3 // for a journal mode, a log that becomes a part of the data, and a log that is removed
)

// Pace holds what was learned of a case's operation by doing it on the data.
type Pace struct {
	Each time.Duration // one operation; 0: unknown
	// Check is reading what a block left behind once, where the plan says what to
	// read; 0: unknown.
	Check time.Duration
	Scans bool // it reads a whole table or index: few answers are verified
}

// Costs holds what is known before anything is measured.
type Costs struct {
	// Pace is the pace of a case; the zero Pace: unknown. nil knows none.
	Pace func(assay.Case) Pace
	// Commit is how long a commit takes with the settings of a case; 0: unknown.
	// nil knows none.
	Commit func(assay.Case) time.Duration
	// Sync is how long a file's sync takes; 0: unknown.
	Sync time.Duration
	// Processors is the number of processors that clients share which ask at the same time; 0: one.
	Processors int
	// Bytes returns the size of a case's data in bytes, which every instance has a copy of. nil
	// knows none.
	Bytes func(assay.Case) int64
	// Scarce says that it is a first launch of a budget that is too small for one of all.
	Scarce bool
}

// Estimate returns what the least number of launches of every case takes, by what
// is known and else by rule of thumb. Each table has its baseline twice: once for
// the A/A test.
func Estimate(cases []assay.Case, launches int, costs Costs) assay.Spent {
	sum := assay.Spent{}
	seen, started := map[string]bool{}, map[string]bool{}
	for _, c := range cases {
		if len(c.Operation.Terms) > 0 {
			continue // a sum is of what others measured
		}
		method := methodOf(c)
		once, group := method.spent(costs, c), method.key(c)
		sum = sum.Plus(once)
		if peer := c.Cell.Peer(); !seen[peer] && !costs.Scarce {
			seen[peer] = true
			sum = sum.Plus(once)
		}
		for _, instance := range []string{group, group + "|" + c.Cell.Target() + "|" + c.Cell.Profile + "|" + c.Cell.Without} { // the A/A test's and its own
			if !started[instance] && (instance != group || !costs.Scarce) {
				started[instance] = true
				sum = sum.Plus(costs.instance(c, method))
			}
		}
	}
	for stage := range sum {
		sum[stage] *= time.Duration(launches)
	}
	return sum
}

// guess returns what a launch of the group takes, by rule of thumb.
func (g *group) guess(scarce bool) time.Duration {
	var cases []assay.Case
	for _, m := range g.members {
		if m.twin { // Estimate counts it
			continue
		}
		for _, j := range m.jobs {
			cases = append(cases, j.Case)
		}
	}
	return Estimate(cases, 1, Costs{Processors: runtime.GOMAXPROCS(0), Scarce: scarce}).Total()
}

// TooLong says why a cell is not measured within a budget: even where its estimate is too
// high, one launch of it alone takes longer. It is empty for other cells, and without a
// budget.
func TooLong(c assay.Case, budget time.Duration, costs Costs) string {
	if budget == 0 || len(c.Operation.Terms) > 0 {
		return ""
	}
	method := methodOf(c)
	once := method.spent(costs, c).Plus(costs.instance(c, method)).Total()
	if once/schedule.GuessError <= budget {
		return ""
	}
	return fmt.Sprintf("one launch of it takes about %s by an estimate, which does not fit into the budget of %s", brief(once), brief(budget))
}

// instance returns what it takes to start an instance in a launch, and to end it. Those
// of windows and turns are started together; those of windows have copies that earlier
// launches made.
func (k Costs) instance(c assay.Case, m method) assay.Spent {
	spent := assay.Spent{assay.StageStart: time.Duration(max(1, c.Cell.Processes))*typicalInstance + time.Duration(max(0, c.Cell.AllClients()-1))*typicalClient + syncsToOpen*k.Sync}
	if m == (inWindows{}) || m == (inTurns{}) {
		spent[assay.StageStart] /= atOnce
	}
	bytes := int64(0)
	if k.Bytes != nil {
		bytes = k.Bytes(c)
	}
	moved := time.Duration(float64(bytes) / typicalCopied * float64(time.Second))
	if m == (inWindows{}) {
		if bytes <= maxCopy {
			spent[assay.StageWarmUp] = moved / atOnce
		}
		return spent
	}
	spent[assay.StageCopy] = syncsToCopy*k.Sync + moved
	return spent
}

// atOnce is how many instances of a machine do at the same time what is not
// measured, at least: a run uses all processors for it.
const atOnce = 2

// blocks returns what a block of a case takes, with all that is beside it.
func (k Costs) blocks(c assay.Case) assay.Spent {
	spent := assay.Spent{
		assay.StageMeasured: k.block(c, c.Operation.Count),
		assay.StageVerify:   k.verified(c, c.Operation) + k.checked(c),
	}
	if warm := warmOperations(c.Operation); warm > 0 {
		spent[assay.StageWarmUp] = k.block(c, warm)
	}
	return spent
}

// turns returns what a block takes whose instances take turns: they are verified and warmed up at
// the same time.
func (k Costs) turns(c assay.Case) assay.Spent {
	spent := k.blocks(c)
	spent[assay.StageVerify] /= atOnce
	spent[assay.StageWarmUp] /= atOnce
	each := k.block(c, c.Operation.Count) / time.Duration(max(1, c.Operation.Count))
	spent[assay.StageTurns] = time.Duration(partsIn(c.Operation, each)) * typicalTurn
	return spent
}

// windows returns what the windows of a case take in a launch.
func (k Costs) windows(c assay.Case) assay.Spent {
	each := k.pace(c).Each
	w := windowOf(each, c)
	count := time.Duration(w.count(k.Scarce))
	spent := assay.Spent{
		assay.StageMeasured: count * w.length,
		assay.StageTurns:    count*typicalTurn + min(count, shortCalls)*each,
		assay.StageVerify:   (k.verified(c, c.Operation) + max(each, min(sampleTime, verifiedOperations*each))) / atOnce,
	}
	if minPerWindow*each <= warmUp {
		spent[assay.StageWarmUp] = warmUp / atOnce
	}
	return spent
}

// verified returns how long the answers take that are compared before anything is
// measured.
func (k Costs) verified(c assay.Case, op assay.Operation) time.Duration {
	pace := k.pace(c)
	if len(op.Parts) > 0 {
		var sum time.Duration
		for _, part := range op.Parts {
			sum += k.verified(c, part.Operation)
		}
		return sum
	}
	if op.Changes {
		return 0
	}
	if pace.Scans {
		return pace.Each
	}
	return time.Duration(min(max(1, verifiedRows/max(1, answeredRows(op))), verifiedOperations)) * pace.Each
}

// checked returns how long it takes to read what a block left behind.
func (k Costs) checked(c assay.Case) time.Duration {
	if !c.Operation.Changes {
		return 0
	}
	if c.Operation.KV() {
		return time.Duration(c.Operation.Count+c.Dataset.Rows()) * typicalRead
	}
	return k.pace(c).Check
}

// block returns what so many operations of a block take.
func (k Costs) block(c assay.Case, count int) time.Duration {
	if c.Operation.Serve && c.Cell.Rate > 0 {
		return time.Duration(float64(count) / c.Cell.Rate * float64(time.Second))
	}
	took := time.Duration(count) * k.pace(c).Each
	if c.Operation.Serve {
		took += time.Duration(count) * typicalRequest
	}
	if !c.Operation.Changes {
		return took / k.atATime(c)
	}
	waited := time.Duration(commits(c.Operation, count)) * k.commit(c)
	if len(c.Operation.Parts) == 0 {
		return took + waited
	}
	return max(took/k.atATime(c), waited) // some ask while another one waits for the disk
}

// atATime returns how many operations of a block run at the same time: clients of a served
// operation share the processors with the requests. Those that change one database wait
// for each other.
func (k Costs) atATime(c assay.Case) time.Duration {
	if c.Operation.Serve {
		return 1
	}
	return time.Duration(max(1, min(k.Processors, c.Cell.AllClients())))
}

// pace returns what is known of an operation, and the rest by rule of thumb.
func (k Costs) pace(c assay.Case) Pace {
	var pace Pace
	if k.Pace != nil {
		pace = k.Pace(c)
	}
	if pace.Each <= 0 {
		pace.Each = typicalFast + time.Duration(answeredRows(c.Operation))*typicalRow
	}
	return pace
}

func (k Costs) commit(c assay.Case) time.Duration {
	if k.Commit != nil {
		if known := k.Commit(c); known > 0 {
			return known
		}
	}
	if waits(c.Profile.Requested()) {
		return typicalCommit
	}
	return typicalUnsynced
}

// call estimates one unit of a call, which does about a hundred times its size of
// work.
func (k Costs) call(c assay.Case) time.Duration {
	work := time.Duration(c.Operation.Count * c.Operation.Steps[0].N * 100)
	if c.Operation.Changes && c.Operation.Transaction == 0 && waits(c.Profile.Requested()) {
		return work * k.commit(c)
	}
	return work * typicalFast
}

// answeredRows is the number of rows that an operation is known to answer.
func answeredRows(op assay.Operation) int {
	rows := 0
	for _, step := range op.Steps {
		if step.Query {
			rows += max(0, step.Rows)
		}
	}
	return rows
}

// waits reports whether every commit waits for the disk.
func waits(requested map[string]string) bool {
	off := requested["synchronous"] == "0" || requested["memory"] == "1" || requested[kv.Sync] == "0" || requested["synchronous_commit"] == "off" || requested["fsync"] == "off"
	return !off && !(requested["journal_mode"] == "wal" && requested["synchronous"] == "1")
}

// commits is the number of commits of so many operations.
func commits(op assay.Operation, count int) int {
	weight, changing := 0, 0
	for _, part := range op.Parts {
		weight += part.Weight
		if part.Operation.Changes {
			changing += part.Weight
		}
	}
	if weight > 0 {
		return count * changing / weight
	}
	return count / max(1, op.Transaction)
}
