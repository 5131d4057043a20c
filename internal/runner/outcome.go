//go:build unix

package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"time"

	"assay"
	"assay/kit/process"
)

// failure is how measuring a cell ended badly: data, not an error of the run.
type failure struct {
	outcome assay.Outcome
	reason  string
}

func (f *failure) Error() string { return string(f.outcome) + ": " + f.reason }

// fail makes a failure of an error from the worker or the system. The run's
// own end (Ctrl-C) is no failure of a cell and passes through.
func fail(doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.As(err, new(*failure)) {
		return err
	}
	reason := doing + ": " + err.Error()
	switch {
	case process.IsUnsupported(err):
		return &failure{assay.Unsupported, reason}
	case errors.Is(err, process.ErrTimeout):
		return &failure{assay.TimedOut, reason}
	}
	return &failure{assay.Failed, reason}
}

// trial starts the record of a job in a launch, with all that is known before
// measuring.
func (in *instance) trial(j *job, launch int) assay.Trial {
	t := newTrial(in.member, j, launch)
	t.Layout = in.layout
	t.Checked = j.checked()
	in.recordSettings(&t, j.Operation)
	t.DSN = in.withoutPath(in.opened.DSN)
	for _, text := range in.opened.Each {
		t.Each = append(t.Each, in.withoutPath(text))
	}
	t.Warnings = slices.Concat(j.layoutWarning(), j.cacheWarning(), j.sequenceWarning(), BeginWarning(j.Case), in.storageWarning(j.Operation))
	t.Warnings = append(t.Warnings, knownBugs(j.target, t.Settings)...)
	return t
}

func newTrial(m *member, j *job, launch int) assay.Trial {
	return assay.Trial{Cell: j.Cell, Group: m.group, Launch: launch, Twin: m.twin, Mode: j.method.mode(), Outcome: assay.OK,
		Figures: map[string]float64{}, Started: time.Now().UTC()}
}

// end gives a trial the outcome of an error. It returns the error where that
// is no outcome of a cell.
func end(t *assay.Trial, err error) error {
	if err == nil {
		return nil
	}
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if assay.Worse(t.Outcome, f.outcome) == f.outcome && t.Outcome != f.outcome {
		t.Reason, t.Outcome = f.reason+makeRoom(f.reason), f.outcome
	}
	return nil
}

func tooManyFiles(reason string) bool { return strings.Contains(reason, syscall.EMFILE.Error()) }

// makeRoom is what to do about a full disk or too many files, whoever met them: the
// system's words are from here, SQLite's from a worker.
func makeRoom(reason string) string {
	if tooManyFiles(reason) {
		return "; raise the limit of open files (ulimit -n), or use fewer clients and connections"
	}
	if isFull(reason) || strings.Contains(reason, "disk is full") {
		return "; free some space, or put the databases elsewhere by XDG_CACHE_HOME"
	}
	return ""
}
