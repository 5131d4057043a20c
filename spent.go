package assay

import (
	"maps"
	"time"
)

// Stage is one of the things that the wall time of launches goes into.
type Stage string

// The stages. Only the measured one is in any figure.
const (
	StageCopy     Stage = "copies"     // copying the data, or making a copy equal again
	StageStart    Stage = "starting"   // starting worker programs and servers
	StageOpen     Stage = "opening"    // opening databases with their settings
	StageSettings Stage = "settings"   // reading settings back
	StageVerify   Stage = "verifying"  // preparing operations and checking their answers
	StageWarmUp   Stage = "warming up" // operations before the measured ones
	StageMeasured Stage = "measured"   // inside measured windows and blocks
	StageAgain    Stage = "disturbed"  // windows that others disturbed and that were measured again
	StageTurns    Stage = "turns"      // resuming, asking and pausing the instances between windows
	StageClose    Stage = "closing"    // closing databases and ending processes
	StageTrace    Stage = "tracing"    // launches that show system calls and are not measured
	StageOther    Stage = "other"      // what is left of the wall time
)

// Spent says where the wall time of launches went.
type Spent map[Stage]time.Duration

// Plus is the sum of both.
func (s Spent) Plus(other Spent) Spent {
	sum := maps.Clone(s)
	if sum == nil {
		sum = Spent{}
	}
	for stage, took := range other {
		sum[stage] += took
	}
	return sum
}

// Total is the wall time of all stages.
func (s Spent) Total() time.Duration {
	var total time.Duration
	for _, took := range s {
		total += took
	}
	return total
}

// Share is a stage's share of the wall time, 0 to 1; 0 where nothing was spent.
func (s Spent) Share(stage Stage) float64 {
	return s[stage].Seconds() / max(s.Total().Seconds(), 1e-9)
}
