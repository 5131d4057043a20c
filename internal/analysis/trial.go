package analysis

import (
	"iter"
	"maps"
	"slices"
	"time"

	"assay"
)

// Trial holds what one launch measured of a cell: an assay.Trial without its histogram
// and without what Measured holds once for all launches.
type Trial struct {
	Run          string
	Group        string
	Launch       int
	Layout       int
	Mode         assay.Mode
	Outcome      assay.Outcome
	Reason       string
	Figures      Figures
	Samples      []assay.Sample
	Digest       string
	Checked      assay.Check
	Warnings     []assay.Warning
	Started      time.Time
	Took         time.Duration
	Noise        assay.Noise
	Disqualified bool

	measured bool // see assay.Trial.Measured
}

// newTrial keeps what a row shows of a trial. It shares the names of figures with
// those of another launch, where they are the same.
func newTrial(t *assay.Trial, names []string) Trial {
	return Trial{
		Run: t.Run, Group: t.Group, Launch: t.Launch, Layout: t.Layout, Mode: t.Mode, Outcome: t.Outcome, Reason: t.Reason,
		Figures: newFigures(t.Figures, names), Samples: t.Samples, Digest: t.Digest, Checked: t.Checked, Warnings: t.Warnings,
		Started: t.Started, Took: t.Took, Noise: t.Noise, Disqualified: t.Disqualified, measured: t.Measured(),
	}
}

// Has reports whether the trial has a figure of a metric. assay.Primary asks it, and As and
// Ended.
func (t *Trial) Has(metric string) bool {
	_, has := t.Figures.Of(metric)
	return has
}

// As returns how the trial was measured.
func (t *Trial) As() assay.Mode { return t.Mode }

// Ended returns how the trial ended.
func (t *Trial) Ended() assay.Outcome { return t.Outcome }

// Figures holds the figures of one launch by metric. A report has hundreds of thousands of
// them: as maps they would take most of its memory.
type Figures struct {
	names  []string // sorted; launches share them
	values []float64
}

// newFigures takes other names instead of its own where they are the same.
func newFigures(figures map[string]float64, names []string) Figures {
	if own := slices.Sorted(maps.Keys(figures)); !slices.Equal(own, names) {
		names = own
	}
	f := Figures{names, make([]float64, len(names))}
	for i, name := range names {
		f.values[i] = figures[name]
	}
	return f
}

// Of is the figure of a metric; false where there is none.
func (f Figures) Of(metric string) (value float64, has bool) {
	i, has := slices.BinarySearch(f.names, metric)
	if !has {
		return 0, false
	}
	return f.values[i], true
}

// Value is the figure of a metric; 0 where there is none.
func (f Figures) Value(metric string) float64 {
	value, _ := f.Of(metric)
	return value
}

// All are the figures in the order of their metrics' names.
func (f Figures) All() iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for i, name := range f.names {
			if !yield(name, f.values[i]) {
				return
			}
		}
	}
}
