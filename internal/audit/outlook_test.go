package audit_test

import (
	"math"
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

// A claim that states no size needs as many launches as its mirror image: what excludes that a is
// slower than b excludes that b is faster.
func TestOutlookOfDirections(t *testing.T) {
	launches := func(expect published.Expectation, gain float64) string {
		c := claim(expect, 0)
		c.Where, c.Compare[0].A, c.Compare[0].B = map[string]string{}, map[string]string{"profile": "p"}, map[string]string{"profile": "q"}
		var trials []assay.Trial
		for profile, mean := range map[string]float64{"p": -gain / 2, "q": gain / 2} {
			trials = append(trials, cellTrials("a", 6, 1000, func(t *assay.Trial) {
				t.Cell.Profile, t.Took = profile, time.Second
				t.Figures[assay.NsPerOp] = 1000 * math.Exp(mean+0.03*math.Copysign(1, mean)*float64(t.Launch%3-1))
			})...)
		}
		run := assay.Run{ID: "r1", Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Options: assay.Options{Margin: 0.02}}
		text := printed(t, judge(t, published.Source{}, c, listed(t, run, trials)))
		_, after, _ := strings.Cut(text, "likely takes ")
		takes, _, found := strings.Cut(after, " of each cell")
		if !found {
			t.Fatalf("%s with a gain of %g: nothing of launches in\n%s", expect, gain, text)
		}
		return takes
	}
	for _, gain := range []float64{-0.01, 0.004, 0.012} {
		for expect, mirror := range map[published.Expectation]published.Expectation{published.Faster: published.Slower, published.NotFaster: published.NotSlower} {
			if got, want := launches(expect, gain), launches(mirror, -gain); got != want {
				t.Errorf("%s with a gain of %g takes %s; %s with the opposite %s", expect, gain, got, mirror, want)
			}
		}
	}
}
