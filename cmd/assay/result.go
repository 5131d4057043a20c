package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"assay"
	"assay/internal/host"
	"assay/internal/report"
)

// interrupted says what was kept when a run was stopped.
func (s *session) interrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	s.progress.close()
	s.run.Status = assay.Interrupted
	hint := "nothing was measured yet"
	if updated := s.store.Update(context.WithoutCancel(ctx), s.run); updated == nil {
		hint = fmt.Sprintf("what was finished is kept; go on with: assay run %s --resume", s.name)
	}
	return &exitError{statusInterrupted, errors.New("interrupted"), []string{hint}}
}

// summarize says what the run itself cost.
func (s *session) summarize() {
	fmt.Fprintf(s.stderr, "\nmeasuring took %s, %.0f %% of it inside measured windows and blocks", brief(s.took),
		100*s.measured.Seconds()/s.took.Seconds())
	if peak, err := host.PeakMemory(); err == nil {
		fmt.Fprintf(s.stderr, "; peak memory of assay %.0f MB", float64(peak)/1e6)
	}
	fmt.Fprintln(s.stderr)
}

// report shows the result and says where it lies.
func (s *session) report(ctx context.Context) error {
	s.progress.close()
	r, err := loadReport(ctx, s.store, s.run.ID)
	if err != nil {
		return err
	}
	if err := report.New(r).Write(s.stdout, "text"); err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(s.location), "reports", s.run.ID+".md")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := writeReport(r, "markdown", path); err != nil {
		return err
	}
	s.summarize()
	fmt.Fprintf(s.stderr, "report: %s\nresults: %s; again: assay report %s --format text|markdown|html|csv|json|benchfmt|svg|png\n", path, s.location, s.run.ID)
	if r.Failed() {
		return &exitError{status: statusFailed, err: errors.New("some cells failed; the report says which and why")}
	}
	return nil
}
