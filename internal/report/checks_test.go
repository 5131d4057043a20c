package report

import (
	"reflect"
	"testing"

	"assay"
	"assay/internal/analysis"
)

// What was checked is said once, by extent; a trial that did not end ok, or of an
// earlier version, says nothing.
func TestChecks(t *testing.T) {
	row := func(operation string, outcome assay.Outcome, checked assay.Check) *analysis.Row {
		trial := assay.Trial{Outcome: outcome, Checked: checked}
		return &analysis.Row{Cell: assay.Cell{Operation: operation}, Trials: []assay.Trial{trial, trial}}
	}
	document := func(rows ...*analysis.Row) (text []string) {
		r := &Report{Result: &analysis.Result{Tables: []*analysis.Table{{Rows: rows}}}}
		var d document
		r.addChecks(&d)
		for _, b := range d {
			text = append(text, b.text)
		}
		return text
	}
	got := document(row("insert", assay.OK, assay.CheckRows), row("update", assay.OK, assay.CheckKeys), row("insert", assay.OK, assay.CheckRows),
		row("delete", assay.OK, assay.CheckRows), row("read", assay.WrongAnswer, assay.CheckAnswers), row("old", assay.OK, assay.CheckUnknown))
	want := []string{"Answers checked:", "insert, delete: " + extents[0].words, "update: " + extents[2].words}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := document(row("old", assay.OK, assay.CheckUnknown)); got != nil {
		t.Errorf("of a run of an earlier version: got %q, want nothing", got)
	}
}
