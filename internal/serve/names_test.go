package serve

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
)

// No page has raw control characters of names that a user, a plan or a worker chose, and
// what a form sends back selects the runs of that name.
func TestNamesInPages(t *testing.T) {
	const name = "left\x1b[31m\u202eright"
	s := sampleStore(t, 2)
	run := analysistest.PlainRun
	run.ID, run.Plan, run.PlanText, run.Started, run.Status = "names", name, "name: x\n", analysistest.SampleStart.Add(time.Hour), assay.Finished
	run.Host, run.Targets = map[string]string{"cpu": name}, []assay.Target{{Driver: name, DriverVersion: name, Engine: "sqlite", Build: name}}
	put(t, s, run, nil)
	web := start(t, Options{Store: s})
	choices := regexp.MustCompile(`value="([^"]*left[^"]*)"`)
	for _, path := range []string{"/", "/history", "/machines", "/claims", "/proofs", "/runs/names", "/compare?a=names&b=" + firstID, "/compare?run=names&b=x&a=" + url.QueryEscape(name),
		"/history?cell=" + url.QueryEscape(name), "/machines?plan=" + url.QueryEscape(name)} {
		_, text := web.ask(t, "GET", path, nil, nil)
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s shows control characters: %q", path, text)
		}
		if choice := choices.FindStringSubmatch(text); choice != nil && path == "/" {
			_, text := web.ask(t, "GET", "/?plan="+url.QueryEscape(html.UnescapeString(choice[1])), nil, nil)
			if !strings.Contains(text, "/runs/names") || strings.Contains(text, "/runs/"+firstID) || !strings.Contains(text, choice[0]+" selected") {
				t.Errorf("the choice %s: got %s, want that run alone", choice[1], text)
			}
		} else if path == "/" {
			t.Errorf("got %s, want a choice of the name", text)
		}
	}
}
