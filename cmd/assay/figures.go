package main

import (
	"slices"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/report"
)

// figuresSoFar are the lines of the answer that a run has so far: the same table as at its end.
type figuresSoFar struct {
	run    assay.Run
	trials []assay.Trial
	drawn  []string
	size   [2]int
	after  time.Time // when they are worked out again
}

// workedShare is the part of the time, at most, in which figures are worked out.
const workedShare = 0.02

// add keeps of a trial what figures are made of.
func (f *figuresSoFar) add(run assay.Run, t assay.Trial) {
	t.Samples, t.Histogram = nil, nil
	f.run, f.trials = run, append(f.trials, t)
}

// lines draws them with at most so many letters a line and that many lines.
func (f *figuresSoFar) lines(width, height int) []string {
	began, size := time.Now(), [2]int{width, height}
	if len(f.trials) == 0 || size == f.size && began.Before(f.after) {
		return slices.Clone(f.drawn)
	}
	result, err := analysis.New(f.run, func(yield func(assay.Trial, error) bool) {
		for _, t := range f.trials {
			if !yield(t, nil) {
				return
			}
		}
	})
	if err == nil {
		f.drawn, f.size = report.New(result).FigureLines(width, height), size
	}
	f.after = time.Now().Add(time.Duration(float64(time.Since(began)) / workedShare))
	return slices.Clone(f.drawn)
}
