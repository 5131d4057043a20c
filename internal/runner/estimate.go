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
	thumbInstance = 30 * time.Millisecond  // start, copy of the data, warm-up, close
	thumbCommit   = 800 * time.Microsecond // with syncs
	thumbFast     = 20 * time.Microsecond  // one operation without
	thumbRequest  = 100 * time.Microsecond // one request over HTTP
	thumbRow      = 500 * time.Nanosecond  // one row of its answer
)

// Estimate returns by rule of thumb how long the least number of launches of
// every case takes. Operations that scan large tables take longer.
func Estimate(cases []assay.Case, launches int) time.Duration {
	var once time.Duration
	for _, c := range cases {
		if c.Operation.Call() {
			once += thumbCall(c)
			continue
		}
		once += thumbInstance
		if modeOf(c) == assay.Windows {
			once += windowsPerLaunch * windowLength
			continue
		}
		if c.Operation.Serve {
			once += servedTime(c)
			continue
		}
		once += time.Duration(c.Operation.Count) * (thumbFast + time.Duration(answeredRows(c.Operation))*thumbRow)
		if c.Operation.Changes && waits(c.Profile.Requested()) {
			once += time.Duration(commits(c.Operation)) * thumbCommit
		}
	}
	return time.Duration(launches) * once
}

// servedTime is what the requests of a served operation take, warm-up included.
func servedTime(c assay.Case) time.Duration {
	each := thumbRequest
	if c.Cell.Rate > 0 {
		each = time.Duration(float64(time.Second) / c.Cell.Rate)
	}
	return time.Duration(c.Operation.Count+c.Operation.Count/warmShare) * each
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

// commits is the number of commits of a block.
func commits(op assay.Operation) int {
	weight, changing := 0, 0
	for _, part := range op.Parts {
		weight += part.Weight
		if part.Operation.Changes {
			changing += part.Weight
		}
	}
	if weight > 0 {
		return op.Count * changing / weight
	}
	return op.Count / max(1, op.Transaction)
}
