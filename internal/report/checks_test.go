package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/internal/analysis"
	"assay/internal/doc"
)

// What was checked is said once, by extent, and what was not; a trial that did not end ok says
// nothing.
func TestChecks(t *testing.T) {
	row := func(operation string, outcome assay.Outcome, checked assay.Check) *analysis.Row {
		driver, operation, _ := strings.Cut(operation, " ")
		trial := analysis.Trial{Outcome: outcome, Checked: checked}
		return &analysis.Row{Measured: analysis.Measured{Cell: assay.Cell{Driver: driver, Operation: operation}, Trials: []analysis.Trial{trial, trial}}}
	}
	document := func(rows ...*analysis.Row) (text []string) {
		r := &Report{Result: &analysis.Result{Tables: []*analysis.Table{{Rows: rows}}}}
		var d doc.Document
		r.addChecks(&d)
		for _, b := range d {
			text = append(text, b.Text)
		}
		return text
	}
	got := document(row("a insert", assay.OK, assay.CheckRows), row("a update", assay.OK, assay.CheckKeys), row("b insert", assay.OK, assay.CheckRows),
		row("a delete", assay.OK, assay.CheckRows), row("c read", assay.WrongAnswer, assay.CheckAnswers), row("a old", assay.OK, assay.CheckUnknown),
		row("a read", assay.OK, assay.CheckSample), row("b read", assay.OK, assay.CheckAnswers), row("d read", assay.OK, assay.CheckSample))
	words := func(check assay.Check) string {
		for _, e := range extents {
			if e.check == check {
				return e.words
			}
		}
		t.Fatalf("no words for %q", check)
		return ""
	}
	want := []string{"Answers checked:", "insert, delete: " + words(assay.CheckRows), "read (b): " + words(assay.CheckAnswers),
		"read (a, d): " + words(assay.CheckSample), "update: " + words(assay.CheckKeys)}
	if last := got[len(got)-1]; !strings.HasPrefix(last, "old (a): ") {
		t.Errorf("what was not compared comes last: got %q, want it of old (a)", last)
	}
	if diff := cmp.Diff(want, got[:len(got)-1]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	mixed := row("a read", assay.OK, assay.CheckSample)
	mixed.Trials[1].Checked = assay.CheckUnknown
	left := "read (a): " + unchecked
	if diff := cmp.Diff([]string{"Answers checked:", left}, document(mixed, row("a read", assay.OK, assay.CheckSample))); diff != "" {
		t.Errorf("where a launch was not checked (-want +got)\n%s", diff)
	}
	mixed.Trials[1].Checked = assay.CheckAnswers
	if diff := cmp.Diff([]string{"Answers checked:", "read: " + words(assay.CheckAnswers)}, document(mixed)); diff != "" {
		t.Errorf("where launches differ (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Answers checked:", left}, document(row("a read", assay.OK, assay.CheckUnknown))); diff != "" {
		t.Errorf("where nothing was checked (-want +got)\n%s", diff)
	}
}
