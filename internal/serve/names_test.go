package serve

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
)

// Names that a user, a plan or a worker chose are shown without their control characters,
// also where they are to be chosen; the form sends them as they are.
func TestNamesInLists(t *testing.T) {
	const name = "left\x1b[31m\u202eright"
	s := sampleStore(t, 1)
	run := analysistest.PlainRun
	run.ID, run.Plan, run.PlanText, run.Started, run.Status = "names", name, "name: x\n", analysistest.SampleStart.Add(time.Hour), assay.Finished
	run.Host, run.Targets = map[string]string{"cpu": name}, []assay.Target{{Driver: name, DriverVersion: "v1", Engine: "sqlite", Build: "b"}}
	put(t, s, run, nil)
	web := start(t, Options{Store: s})
	values := regexp.MustCompile(`value="[^"]*"`)
	for _, path := range []string{"/", "/history", "/machines"} {
		_, text := web.ask(t, "GET", path, nil, nil)
		if !strings.Contains(text, `>left [31m right`) || !strings.Contains(text, `value="`+name) {
			t.Errorf("%s: got %s, want an option of the name", path, text)
		}
		if shown := values.ReplaceAllString(text, ""); strings.ContainsAny(shown, "\x1b\u202e") {
			t.Errorf("%s shows control characters: %q", path, shown)
		}
	}
}
