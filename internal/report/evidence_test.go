package report

import (
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// Lines of the page's tables are written without its template, and escaped all the same.
func TestTableLinesAreEscaped(t *testing.T) {
	var lines tableLines
	lines.add(`1"`, "<b>", "a & b")
	if got, want := lines.String(), "<tr><td>&lt;b&gt;<td data-exact=\"1&#34;\">a &amp; b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A launch has its samples with their times, and says what became of it.
func TestTrialLines(t *testing.T) {
	table := &analysis.Table{Primary: assay.Metric{Name: assay.NsPerOp, Unit: "ns"}}
	row := &analysis.Row{}
	row.Trials = []analysis.Trial{{Launch: 2, Outcome: assay.OK, Disqualified: true, Samples: []assay.Sample{{Operations: 3, Nanos: 4500}}}}
	if got, want := string(trialLines(table, row)), "<tr><td>2<td>-<td>3 in 4.50 µs<td>disturbed\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := rawSamples(row.Trials[0].Samples), "3:4500"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTextsOfScreen(t *testing.T) {
	for got, want := range map[string]string{
		wording.Human(-12345, "ns"):                       "-12.3 µs",
		wording.FirstFew([]string{"a", "b", "c"}, 2):      "a, b, c",
		wording.FirstFew([]string{"a", "b", "c", "d"}, 2): "a, b and 2 more",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
