//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/runner"
)

// The figures so far are shown above the status, and are worked out in a small part of the time only.
// What is rewritten is cleared line by line: terminals keep what is cleared to the end of the
// screen, and every rewriting would add to it.
func TestFiguresSoFar(t *testing.T) {
	terminal, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	must(t, err)
	defer terminal.Close()
	p := &progress{out: terminal, terminal: terminal}
	for i, driver := range []string{"mattn", "modernc"} {
		for _, trial := range analysistest.Launches(analysistest.Cell("point-read", driver, "web"), 3, 1000*float64(1+i), 1) {
			p.Trial(analysistest.PlainRun, trial)
		}
	}
	event := runner.Event{Phase: runner.Measuring, What: "reads", Budget: time.Minute, Round: 1}
	p.Measure(event)
	worked := p.figures.after
	p.Trial(assay.Run{}, assay.Trial{})
	p.Measure(event)
	if !p.figures.after.Equal(worked) && time.Now().Before(worked) {
		t.Error("the figures were worked out again at once")
	}
	p.close()
	text, err := os.ReadFile(terminal.Name())
	must(t, err)
	for _, want := range []string{"mattn  modernc\n", "point-read  ", "at most 1m0s left [", "\r\x1b[K\x1b[A\x1b[K"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("got %q, want %q in it", text, want)
		}
	}
	if strings.Contains(string(text), "\x1b[J") {
		t.Errorf("%q clears to the end of the screen", text)
	}
}
