package audit_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/audit"
	"assay/published"
)

func TestClaimsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../results/claims.md")
	must(t, err)
	text = regexp.MustCompile(`\\([_*\[\]])`).ReplaceAll(text, []byte("$1")) // as Markdown is read
	sources, err := published.Claims()
	must(t, err)
	for _, source := range sources {
		for _, c := range source.Claims {
			const verdicts = `(?:\*\*)?(holds here|does not hold here|not reproduced|cannot be told|condition had no effect|its operations fail here|not tested)(?:\*\*)?[^|\n]*`
			row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| %s \| %s \| %s\|`, regexp.QuoteMeta(c.Says), source.Name, verdicts)).FindStringSubmatch(string(text))
			section := regexp.MustCompile(fmt.Sprintf(`(?m)^### %s\n\n%s`, regexp.QuoteMeta(c.Says), verdicts)).FindStringSubmatch(string(text))
			if row == nil || section == nil || row[1] != section[1] {
				t.Errorf("results/claims.md says of %q of %s: %q in its table, %q below", c.Says, source.Name, row, section)
			}
		}
	}
}

func TestDoubts(t *testing.T) {
	a, b := trial(1000, "g"), trial(2000, "g")
	a.Durability, b.Durability = assay.Process, assay.Power
	b.Warnings = []assay.Warning{{Code: "reopens", Evidence: "9 of 10"}}
	f := judge(t, published.Source{}, claim(published.Faster, 0), reports(t, map[string]assay.Trial{"a": a, "b": b}))
	got := printed(t, f)
	for _, want := range []string{"| holds here | reopens, unequal-durability |", "- unequal-durability: b power, a process", "- driver=b: reopens: 9 of 10 (in 6 of 6 launches)"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A kind of doubt is said once for a claim, with the figures that have it.
func TestKindsOfDoubts(t *testing.T) {
	warns := func(from int, warnings ...assay.Warning) func(*assay.Trial) {
		return func(t *assay.Trial) {
			if t.Launch >= from {
				t.Warnings = warnings
			}
		}
	}
	shared := assay.Warning{Code: "shared-cpus", Evidence: "on the same processors"}
	reopens := assay.Warning{Code: "reopens", Evidence: "9 of 10", Advice: "keep them open"}
	busy := assay.Warning{Code: "reopens", Evidence: "now and then", Advice: "wait"}
	c := claim(published.Faster, 0)
	c.Compare = append(c.Compare, published.Comparison{A: map[string]string{"driver": "a"}, B: map[string]string{"driver": "c"}, Expect: published.Faster})
	run := assay.Run{ID: "r1", Plan: "p", Baseline: assay.ParseBaseline("a@v1"), Options: assay.Options{Margin: 0.02}}
	for name, test := range map[string]struct {
		a, b, c func(*assay.Trial)
		want    []string
	}{
		"one":        {nil, warns(1, reopens), nil, []string{"driver=b: reopens: 9 of 10 (in 6 of 6 launches); advice: keep them open"}},
		"all, alike": {warns(1, shared), warns(1, shared), warns(1, shared), []string{"all figures: shared-cpus: on the same processors (in 6 of 6 launches)"}},
		"two": {nil, warns(4, reopens), warns(2, reopens),
			[]string{"driver=c: reopens: 9 of 10 (in 5 of 6 launches); advice: keep them open; likewise: driver=b"}},
		"all, one worse": {warns(4, reopens), warns(2, reopens), warns(3, reopens),
			[]string{"all figures, such as driver=b: reopens: 9 of 10 (in 5 of 6 launches); advice: keep them open"}},
		"in two comparisons": {warns(4, reopens), warns(2, reopens), nil,
			[]string{"driver=b: reopens: 9 of 10 (in 5 of 6 launches); advice: keep them open; likewise: driver=a"}},
		"about others": {nil, warns(1, assay.Warning{Code: "scan", Evidence: "P7 does not"}), warns(1, assay.Warning{Code: "scan", Evidence: "P8 does not"}),
			[]string{"driver=b: scan: P7 does not (in 6 of 6 launches)", "driver=c: scan: P8 does not (in 6 of 6 launches)"}},
		"another advice": {nil, warns(1, reopens), warns(1, busy),
			[]string{"driver=b: reopens: 9 of 10 (in 6 of 6 launches); advice: keep them open", "driver=c: reopens: now and then (in 6 of 6 launches); advice: wait"}},
	} {
		trials := slices.Concat(cellTrials("a", 6, 1000, test.a), cellTrials("b", 6, 2000, test.b), cellTrials("c", 6, 3000, test.c))
		for i := range trials {
			trials[i].Layout = trials[i].Launch
		}
		_, list, _ := strings.Cut(printed(t, judge(t, published.Source{}, c, listed(t, run, trials))), "\nDoubts:\n\n")
		list, _, _ = strings.Cut(list, "\n\n")
		got := slices.DeleteFunc(strings.Split(strings.TrimPrefix(strings.TrimSpace(list), "- "), "\n- "), func(line string) bool {
			return strings.Contains(line, "unknown-noise") // the run has no A/A test
		})
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got\n%q\nwant\n%q", name, got, test.want)
		}
	}
}

// What two figures promise is said of each two, though they differ only in digits.
func TestDoubtsAboutTwo(t *testing.T) {
	f := audit.Finding{Claim: claim(published.Faster, 0)}
	for _, name := range []string{"P7", "P8", "P7"} {
		unlike := analysis.UnlikePromises{Names: [2]string{name, "P1"}, Classes: [2]assay.Durability{assay.Power, assay.Process}}
		f.Evidence = append(f.Evidence, audit.Evidence{Comparison: f.Claim.Compare[0], Doubts: []audit.Doubt{{Warning: unlike.Warning()}}})
	}
	const want = "\nDoubts:\n\n- unequal-durability: P7 power, P1 process\n- unequal-durability: P8 power, P1 process\n"
	if got := printed(t, f); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}

func printed(t *testing.T, findings ...audit.Finding) string {
	t.Helper()
	var out bytes.Buffer
	must(t, audit.Formats.Write(&out, "markdown", findings))
	return strings.ReplaceAll(out.String(), `\`, "")
}

func TestMoreMeasuringDoesNotHelp(t *testing.T) {
	unsupported, failed := trial(2000, "g"), trial(2000, "g")
	unsupported.Outcome, unsupported.Reason = assay.Unsupported, "it has none"
	failed.Outcome, failed.Reason = assay.Failed, "it died"
	of := func(size float64, a, b assay.Trial) audit.Finding {
		return judge(t, published.Source{}, claim(published.Faster, size), reports(t, map[string]assay.Trial{"a": a, "b": b}))
	}
	open := of(3, trial(1, "g"), trial(4, "g"))
	all := []audit.Finding{of(0, trial(1000, "g"), failed), of(0, trial(1000, "g"), unsupported), open, of(0, trial(1000, "g"), trial(2000, "g"))}
	want := "Of 4 claims, holds here: 1; its operations fail here: 1; cannot be told: 2. For 1 of those that cannot be told, more measuring does not help: their reasons say why.\n"
	if got := printed(t, all...); !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if got := printed(t, open); strings.Contains(got, "more measuring does not help") {
		t.Errorf("more measuring tells it, and is said not to in\n%s", got)
	}
}

func TestManyRuns(t *testing.T) {
	for earlier, want := range map[int]string{2: "Runs: r1 r2 r3.", 3: "Runs: the 4 of p that are listed at the end."} {
		f := judge(t, published.Source{}, claim(published.Faster, 0), reports(t, map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(2000, "g")}))
		for n := range earlier {
			f.Evidence[0].Report.Earlier = append(f.Evidence[0].Report.Earlier, assay.Run{ID: fmt.Sprint("r", n+2), Plan: "p"})
		}
		got := printed(t, f)
		if !strings.Contains(got, want) || !strings.Contains(got, fmt.Sprintf("| r%d | p |", earlier+1)) {
			t.Errorf("with %d earlier runs: no %q, or not each of them in the table, in\n%s", earlier, want, got)
		}
	}
}

// Launches of another group are made in turn by audit alone.
func TestAdviceOfTurns(t *testing.T) {
	for group, want := range map[string]bool{"g": false, "h": true} {
		f := judge(t, published.Source{}, claim(published.Faster, 3), reports(t, map[string]assay.Trial{"a": trial(1, "g"), "b": trial(4, group)}))
		if got := printed(t, f); !strings.Contains(got, "\n    assay run p ") || strings.Contains(got, "measures both in turn") != want {
			t.Errorf("launches of groups g and %s: got advice of turns %t, want %t, beside the command, in\n%s", group, !want, want, got)
		}
	}
}
