//go:build unix

package runner

import (
	"time"

	"assay"
)

// What parts of a launch cost, by rule of thumb: on a machine of two slow
// cores. A run replaces them by what it measures in its first round.
const (
	thumbInstance = 60 * time.Millisecond  // start, copy of the data, warm-up, close
	thumbChange   = 200 * time.Microsecond // one operation that changes data
	thumbRead     = 20 * time.Microsecond  // one that does not
)

// Estimate returns by rule of thumb how long the least number of launches of
// every case takes.
func Estimate(cases []assay.Case, launches int) time.Duration {
	var once time.Duration
	for _, c := range cases {
		once += thumbInstance
		switch {
		case modeOf(c) == assay.Windows:
			once += windowsPerLaunch * windowLength
		case c.Operation.Changes:
			once += time.Duration(c.Operation.Count) * thumbChange
		default:
			once += time.Duration(c.Operation.Count) * thumbRead
		}
	}
	return time.Duration(launches) * once
}
