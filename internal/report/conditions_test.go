package report

import (
	"bytes"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
)

// Where all PRAGMAs were read, a target with a profile is shown whole, once.
func TestConditions(t *testing.T) {
	run, trials := analysistest.SampleRun()
	for i := range trials {
		if trials[i].Cell.Driver == "mattn" && trials[i].Cell.Profile == "web" {
			trials[i].Settings = []assay.Setting{{Name: "application_id", Connection: "writer-1", Effective: "0"},
				{Name: "synchronous", Connection: "writer-1", Requested: "1", Effective: "2"}}
		}
	}
	var out bytes.Buffer
	must(t, mustReport(t, run, trials).Write(&out, "markdown"))
	_, conditions, found := strings.Cut(out.String(), "\n## Conditions\n")
	conditions, _, _ = strings.Cut(conditions, "\nAnswers checked:")
	const want = "\n### mattn (web)\n\n" +
		"| condition | requested | effective |\n| --- | --- | --- |\n" +
		"| driver | - | mattn@v1.14.52 |\n| sqlite | - | 3.53.4 |\n| cgo | - | true |\n" +
		"| compile options | - | THREADSAFE=1 ENABLE\\_FTS5 |\n" +
		"| application\\_id | - | 0 |\n| synchronous | NORMAL | FULL |\n"
	if !found || conditions != want {
		t.Errorf("got %q\nwant %q", conditions, want)
	}
}

// A reference with a profile is what all profiles are compared with.
func TestReferenceWithProfile(t *testing.T) {
	run, trials := analysistest.SampleRun()
	run.Baseline.Profile = "web"
	r := mustReport(t, run, trials)
	compared := 0
	for _, row := range r.Tables[0].Rows {
		if row.Reference == nil || row.Reference.Cell.Driver != "modernc" || row.Reference.Cell.Profile != "web" {
			t.Errorf("%s (%s) is compared with %+v", row.Driver, row.Cell.Profile, row.Reference)
		}
		if row.Cell.Profile == "tuned" {
			compared++
		}
	}
	if compared == 0 {
		t.Error("no row of another profile")
	}
	var out bytes.Buffer
	if err := r.Write(&out, "text"); err != nil || !strings.Contains(out.String(), "of modernc with the profile web, paired") {
		t.Errorf("the report does not say so: %v", err)
	}
}
