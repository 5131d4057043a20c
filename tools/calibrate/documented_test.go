package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// docs/statistics.md has the bars.
func TestBarsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/statistics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| figure | bar |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var got []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		got = append(got, strings.TrimSpace(cells[len(cells)-2]))
	}
	want := []string{fmt.Sprintf("%d to %d %%", minCovered, maxCovered), fmt.Sprintf("at least %d %%", minWorst), fmt.Sprintf("at most %d %%", maxAlarmed), fmt.Sprintf("at most %d %%", maxOrdered),
		fmt.Sprintf("at most %v %%", maxEquivalent), fmt.Sprintf("at most %d %%", maxLooked), fmt.Sprintf("at least %d %%", minHeld), fmt.Sprintf("at most %d points", maxOverstated), "at least two thirds"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("docs/statistics.md has the bars %q, want %q", got, want)
	}
}
