package audit_test

import (
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/audit"
	"assay/published"
)

// took is a trial whose launch takes so long.
func took(ns float64, long time.Duration) assay.Trial {
	t := trial(ns, "g")
	t.Took = long
	return t
}

// What is open says what likely tells it: the comparison that refutes the claim soonest, or
// else all of them, to intervals as narrow as they need. What no launches tell says so.
func TestOutlook(t *testing.T) {
	// a is 1.76 [1.48, 2.1] times as fast as b, 2.01 [1.65, 2.45] as c and 1.51 [1.31, 1.75] as d.
	cells := map[string]assay.Trial{"a": took(1, time.Second), "b": took(4, 2*time.Second), "c": took(5, 30*time.Second), "d": took(3, time.Second)}
	sized := func(expect published.Expectation, size float64, others ...string) published.Claim {
		c := asked("c", "p", append([]string{"a"}, others...)...)
		for i := range c.Compare {
			c.Compare[i].Expect, c.Compare[i].Size = expect, size
		}
		return c
	}
	for name, test := range map[string]struct {
		claim published.Claim
		want  string
	}{
		"one comparison":                 {sized(published.Faster, 3, "b"), "about 4m0s, 48 launches of each cell; this measures what it needs: assay run p --only driver=a,b --only operation=scan --precision 0.057"},
		"the one that refutes it":        {sized(published.Faster, 3.2, "b", "c"), "launches of each cell; this measures what it needs: assay run p --only driver=a,b "},
		"though others hold":             {sized(published.Faster, 2.4, "c", "d"), "launches of each cell; this measures what it needs: assay run p --only driver=a,d "},
		"all where all may hold":         {sized(published.Faster, 2.35, "b", "c"), "launches of each cell; this measures what it needs: assay run p --only driver=a,b,c "},
		"a bound that the ratio lies at": {sized(published.Alike, 1.5, "d"), "more than 1000 launches of each cell; this measures what it needs: assay run p --only driver=a,d --only operation=scan"},
	} {
		f := judge(t, published.Source{}, test.claim, reports(t, cells))
		if got := strings.Join(strings.Fields(printed(t, f)), " "); !strings.Contains(got, test.want) || !strings.Contains(got, "Deciding it likely takes ") {
			t.Errorf("%s: no %q in\n%s", name, test.want, got)
		}
	}
	f := judge(t, published.Source{Name: "s"}, sized(published.Faster, 3, "b"), reports(t, cells))
	var screen strings.Builder
	if err := audit.WriteScreen(&screen, []audit.Finding{f}, 100, "m", "e"); err != nil || !strings.Contains(screen.String(), "(s): takes about 4m0s, 48 launches of each cell\n") {
		t.Errorf("%v, screen:\n%s", err, screen.String())
	}
	f = judge(t, published.Source{Name: "s"}, sized(published.Faster, 3, "b", "z"), reports(t, cells))
	if got := printed(t, f); strings.Contains(got, "likely takes") || !strings.Contains(got, "assay plan check with its selection") {
		t.Errorf("of a cell that was not measured it says how long that takes:\n%s", got)
	}
}
