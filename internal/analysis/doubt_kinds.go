package analysis

import (
	"assay"
	"assay/internal/stat"
)

// Doubt is why a row's figures may mean less than they say: one type a kind, with
// its numbers. The sentences are in package report.
type Doubt interface {
	// Code names the kind in every format.
	Code() string
}

// Reported is a warning that trials gave, in the words that are stored with them.
type Reported struct{ assay.Warning }

func (r Reported) Code() string { return r.Warning.Code }

// FewLaunches doubts a row with fewer launches than a plan fixes at least.
type FewLaunches struct{ Counted int }

func (FewLaunches) Code() string { return "few-launches" }

// Disturbed doubts a row whose disturbed launches count, because too few others
// are left.
type Disturbed struct {
	Launches, Of int
	Computed     bool // CPU time is compared, which others change less than wall time
}

func (Disturbed) Code() string { return "disturbed" }

// Dropped doubts a row of which many launches were disturbed and do not count.
type Dropped struct{ Launches, Of int }

func (Dropped) Code() string { return "dropped" }

// Busy doubts a row that waited for locks.
type Busy struct {
	PerOperation float64
	Stale        float64 // of these, those that came too late to change, whatever busy_timeout says
	Default      bool    // busy_timeout is 0: no connection waits
}

func (Busy) Code() string { return "busy" }

// Stalls doubts a row some of whose windows took much longer than the others.
type Stalls struct{ Factor float64 } // total time / time at the pace of the median window

func (Stalls) Code() string { return "stalls" }

// OwnLoop doubts a row of whose figure the worker's own loop is a large part.
type OwnLoop struct{ Share float64 }

func (OwnLoop) Code() string { return "own-loop" }

// NotSteady doubts a row whose warm-up did not end.
type NotSteady struct{ Window, Of int } // the last window that differs from those after it

func (NotSteady) Code() string { return "not-steady" }

// Series is what a doubt about the order of launches looks at.
type Series int

// The series.
const (
	OfFigure Series = iota // the row's own figures
	OfRatio                // their ratios to the baseline
)

// Drift doubts launches that change with time.
type Drift struct {
	Of       Series
	Launches int
	Total, P float64 // the last value / the first one, and the p-value of that
}

func (Drift) Code() string { return "drift" }

// Autocorrelation doubts launches that resemble those before them.
type Autocorrelation struct {
	Of          Series
	Launches    int
	Correlation float64 // of ranks
}

func (Autocorrelation) Code() string { return "autocorrelation" }

// TwoModes doubts launches that form two groups.
type TwoModes struct {
	Upper, Launches int     // launches of the upper group, and all
	Gap             float64 // between the groups, as a factor
}

func (TwoModes) Code() string { return "two-modes" }

// Skewed doubts launches of which a few lie far out on one side.
type Skewed struct {
	Launches int
	Skewness float64
}

func (Skewed) Code() string { return "skewed" }

// Noisy doubts a table whose A/A test differs by more than its launches explain.
type Noisy struct{ Systematic, Margin float64 }

func (Noisy) Code() string { return "noise" }

// UnknownNoise doubts a verdict of a run without an A/A test.
type UnknownNoise struct{}

func (UnknownNoise) Code() string { return "unknown-noise" }

// UnknownDurability doubts a row whose settings do not show what a power cut loses.
type UnknownDurability struct{}

func (UnknownDurability) Code() string { return "unknown-durability" }

// Refuted doubts a row whose durability was refuted.
type Refuted struct{ Proof assay.Proof }

func (Refuted) Code() string { return "refuted-durability" }

// UnequalDurability is the code of UnlikePromises.
const UnequalDurability = "unequal-durability"

// UnlikePromises is why two rows are not compared: their classes of durability differ, or
// only one of one class syncs its commits.
type UnlikePromises struct {
	Names   [2]string
	Classes [2]assay.Durability
	Syncs   [2]bool // where the classes are one
}

func (UnlikePromises) Code() string { return UnequalDurability }

// UnlikeSyncs doubts a ratio of two rows of one class of durability that sync otherwise.
type UnlikeSyncs struct {
	Setting string // as it was read back
	Names   [2]string
	Values  [2]string
	// PerOperation are the syncs that a trace shows; 0 where that is not known of both.
	PerOperation [2]float64
}

func (UnlikeSyncs) Code() string { return "unequal-syncs" }

// Scan doubts a row that reads a whole table where another row looks rows up.
type Scan struct{ Plan, Other, OtherPlan string }

func (Scan) Code() string { return "scan" }

// StrongerSyncFaster doubts a row that is faster than one of the same target that
// promises less.
type StrongerSyncFaster struct {
	Durability [2]assay.Durability // of the row, and of the other one
	Profiles   [2]string
	Ratio      stat.Interval
}

func (StrongerSyncFaster) Code() string { return "stronger-sync-faster" }

// OptionWithoutEffect doubts the use of a setting or a compile option: two rows
// that differ only in it are equivalent.
type OptionWithoutEffect struct {
	Option     string
	Names      [2]string // of the row, and of the other one
	Values     [2]string // that they ask for; empty: none; IsSet: of a compile option without values
	Ratio      stat.Interval
	Effective  string // in both; empty: it differs, or was not read back
	Durability [2]assay.Durability
}

func (OptionWithoutEffect) Code() string { return "option-without-effect" }

// Grows doubts a figure per operation that depends on the number of operations.
type Grows struct {
	Ratio    stat.Interval
	Max, Min string // numbers of operations
}

func (Grows) Code() string { return "grows" }

// BeyondDisk doubts synced commits that come faster than the disk syncs.
type BeyondDisk struct{ Commits, Syncs float64 } // a second

func (BeyondDisk) Code() string { return "beyond-disk" }

// SameEngine doubts a difference between drivers whose engines have the same
// source and options.
type SameEngine struct{ Targets []string }

func (SameEngine) Code() string { return "same-engine" }
