//go:build unix

package runner

import (
	"time"

	"assay"
	"assay/kit/kv"
)

// What parts of a launch cost, by rule of thumb: on a machine of two slow
// cores. A run replaces them by what it measures in its first round.
const (
	typicalInstance = 30 * time.Millisecond  // start, copy of the data, warm-up, close
	typicalCommit   = 800 * time.Microsecond // with syncs
	typicalFast     = 20 * time.Microsecond  // one operation without
	typicalRequest  = 100 * time.Microsecond // one request over HTTP
	typicalRow      = 500 * time.Nanosecond  // one row of its answer
)

// Costs are what is known before anything is measured.
type Costs struct {
	Commit time.Duration // one commit that waits for the disk; 0: unknown
	// Each is how long one operation of a case takes; 0: unknown. nil knows none.
	Each func(assay.Case) time.Duration
}

// Estimate returns what the least number of launches of every case takes, by what
// is known and else by rule of thumb. Each table has its baseline twice: once for
// the A/A test.
func Estimate(cases []assay.Case, launches int, costs Costs) assay.Spent {
	sum := assay.Spent{}
	seen := map[string]bool{}
	for _, c := range cases {
		once := costs.launch(c)
		sum = sum.Plus(once)
		if peer := c.Cell.Peer(); !seen[peer] {
			seen[peer] = true
			sum = sum.Plus(once)
		}
	}
	for stage := range sum {
		sum[stage] *= time.Duration(launches)
	}
	return sum
}

// launch is what one launch of a case takes.
func (k Costs) launch(c assay.Case) assay.Spent {
	if len(c.Operation.Terms) > 0 {
		return assay.Spent{} // of what others measured
	}
	if c.Operation.Call() {
		return assay.Spent{assay.StageMeasured: k.call(c)}
	}
	spent := assay.Spent{assay.StageStart: typicalInstance}
	switch {
	case modeOf(c) == assay.Windows:
		length := windowLengthOf(k.each(c), c.Operation.Transaction)
		spent[assay.StageMeasured] = time.Duration(windowCountOf(length)) * length
	default:
		spent[assay.StageMeasured] = k.block(c, c.Operation.Count)
		spent[assay.StageWarmUp] = k.block(c, c.Operation.Count/warmShare)
	}
	return spent
}

// block is what so many operations of a block take.
func (k Costs) block(c assay.Case, count int) time.Duration {
	if c.Operation.Serve && c.Cell.Rate > 0 {
		return time.Duration(float64(count) / c.Cell.Rate * float64(time.Second))
	}
	took := time.Duration(count) * k.each(c)
	if c.Operation.Serve {
		took += time.Duration(count) * typicalRequest
	}
	if c.Operation.Changes && waits(c.Profile.Requested()) {
		took += time.Duration(commits(c.Operation, count)) * k.commit()
	}
	return took
}

// each is what one operation takes.
func (k Costs) each(c assay.Case) time.Duration {
	if k.Each != nil {
		if known := k.Each(c); known > 0 {
			return known
		}
	}
	return typicalFast + time.Duration(answeredRows(c.Operation))*typicalRow
}

func (k Costs) commit() time.Duration {
	if k.Commit > 0 {
		return k.Commit
	}
	return typicalCommit
}

// call estimates one unit of a call, which does about a hundred times its size of
// work.
func (k Costs) call(c assay.Case) time.Duration {
	if c.Operation.Sum > 0 {
		return typicalInstance
	}
	work := time.Duration(c.Operation.Count * c.Operation.Steps[0].N * 100)
	if c.Operation.Changes && c.Operation.Transaction == 0 && waits(c.Profile.Requested()) {
		return work * k.commit()
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
	off := requested["synchronous"] == "0" || requested["memory"] == "1" || requested[kv.Sync] == "0"
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
