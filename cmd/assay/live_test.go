//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"assay"

	"github.com/google/go-cmp/cmp"
)

func liveTrial(driver, operation string, clients int, ns float64) assay.Trial {
	cell := assay.Cell{Driver: driver, DriverVersion: "v1.0.0", Profile: "WAL", Operation: operation, Clients: clients, Pool: clients}
	return assay.Trial{Cell: cell, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: ns}}
}

// The table has the geometric mean of what was measured, and says what ended
// otherwise. Twins and ablations do not count, and disturbed launches where there
// are others.
func TestLiveTable(t *testing.T) {
	var l liveTable
	l.add(liveTrial("mattn", "read", 1, 1000))
	l.add(liveTrial("mattn", "read", 1, 4000))
	l.add(liveTrial("modernc", "write\x1b[2J", 1, 5e6))
	l.add(liveTrial("modernc", "read", 8, 12345))
	for _, change := range []func(*assay.Trial){
		func(t *assay.Trial) { t.Twin = true },
		func(t *assay.Trial) { t.Cell.Without = "cache_size" },
		func(t *assay.Trial) { t.Figures = nil },
	} {
		trial := liveTrial("mattn", "read", 1, 1)
		change(&trial)
		l.add(trial)
	}
	failed := liveTrial("mattn", "read", 8, 0)
	failed.Outcome = assay.WrongAnswer
	l.add(failed)
	want := []string{
		`mean so far             mattn  modernc`,
		`                          WAL      WAL`,
		`read 1c                   2µs         `,
		`write\x1b[2J 1c                    5ms`,
		`read 8c          wrong-answer   12.3µs`,
	}
	if diff := cmp.Diff(want, l.lines(80, 24)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	narrow := []string{`mean so far             mattn  +1`, `                          WAL`, `read 1c                   2µs`, `write\x1b[2J 1c              `, `read 8c          wrong-answer`}
	if diff := cmp.Diff(narrow, l.lines(33, 24)); diff != "" {
		t.Errorf("where a column does not fit (-want +got)\n%s", diff)
	}
	narrow[0] = strings.TrimSuffix(narrow[0], "  +1")
	if diff := cmp.Diff(narrow, l.lines(32, 24)); diff != "" {
		t.Errorf("where their number does not fit either (-want +got)\n%s", diff)
	}
}

// Each row has the metric by which the report will compare it.
func TestLiveTableHasPrimaryMetric(t *testing.T) {
	var l liveTable
	for i, figures := range []map[string]float64{
		{assay.NsPerOp: 1000, assay.OpPerS: 1e6},
		{assay.NsPerOp: 81_000, assay.OpPerS: 12_345},
		{assay.NsPerOp: 100, assay.P50: 2e6, assay.P99: 5e6, assay.LimitPerS: 1e5},
		{assay.CapacityPerS: 912.3, assay.LimitPerS: 1e5},
	} {
		trial := liveTrial("mattn", fmt.Sprintf("operation %d", i), []int{1, 8, 8, 8}[i], 0)
		trial.Mode, trial.Figures = assay.Blocks, figures
		if i == 2 {
			trial.Cell.Rate = 40
		}
		l.add(trial)
	}
	var got []string
	for _, line := range l.lines(80, 24)[2:] {
		words := strings.Fields(line)
		got = append(got, words[len(words)-1])
	}
	if diff := cmp.Diff([]string{"1µs", "12300/s", "5ms", "912/s"}, got); diff != "" {
		t.Errorf("figures (-want +got):\n%s", diff)
	}
}

// A cell that failed does not say what others are compared by: the report leaves it out.
func TestLiveTableLeavesOutWhatFailed(t *testing.T) {
	var l liveTable
	add := func(driver string, figures map[string]float64, outcome assay.Outcome) {
		trial := liveTrial(driver, "read", 8, 0)
		trial.Cell.Rate, trial.Mode, trial.Figures, trial.Outcome = 40, assay.Blocks, figures, outcome
		l.add(trial)
	}
	add("mattn", map[string]float64{assay.NsPerOp: 100, assay.P50: 2e6}, assay.OK)
	add("modernc", map[string]float64{assay.NsPerOp: 100, assay.P50: 2e6, assay.P99: 5e6}, assay.OK)
	add("modernc", nil, assay.Failed)
	if got := l.primary(0); got != assay.P50 {
		t.Errorf("compared by %s, want %s: only a driver that failed has more", got, assay.P50)
	}
}

// Disturbed launches count until there is one that was not.
func TestLiveTableOfDisturbedLaunches(t *testing.T) {
	for _, c := range []struct {
		disturbed []bool
		want      string
	}{
		{[]bool{true}, "1µs"}, {[]bool{true, true}, "2µs"}, {[]bool{true, false, true}, "4µs"}, {[]bool{false, true, false}, "3µs"},
	} {
		var l liveTable
		for i, is := range c.disturbed {
			trial := liveTrial("mattn", "read", 1, []float64{1e3, 4e3, 9e3}[i])
			trial.Disqualified = is
			l.add(trial)
		}
		if got := l.cells[place{0, 0}].text(assay.NsPerOp); got != c.want {
			t.Errorf("disturbed %v: got %s, want %s", c.disturbed, got, c.want)
		}
	}
}

// What does not fit is left out: whole columns, and rows far from the newest
// figure.
func TestLiveTableFits(t *testing.T) {
	var l liveTable
	for i := range 30 {
		for _, driver := range []string{"mattn", "modernc", "glebarez"} {
			l.add(liveTrial(driver, fmt.Sprintf("operation %02d", i), 1, 1e6))
		}
	}
	l.add(liveTrial("mattn", "operation 10", 1, 1e6))
	for _, test := range []struct{ width, height, lines, columns int }{
		{80, 12, 12, 3}, {80, 60, 32, 3}, {22, 12, 12, 1}, {80, 2, 0, 0}, {8, 12, 12, 0}, {80, -3, 0, 0},
	} {
		lines := l.lines(test.width, test.height)
		columns := 0
		if len(lines) > 0 {
			columns = strings.Count(lines[1], "WAL")
			if test.height < 30 && !strings.Contains(strings.Join(lines, "\n"), "operation 10") {
				t.Errorf("%+v: the newest figure is not in\n%s", test, strings.Join(lines, "\n"))
			}
		}
		if len(lines) != test.lines || columns != test.columns {
			t.Errorf("%+v: got %d lines and %d columns:\n%s", test, len(lines), columns, strings.Join(lines, "\n"))
		}
	}
}
