package report

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
	"assay/internal/analysis/wording"

	"github.com/google/go-cmp/cmp"
)

// sentences returns all recommendations of a report.
func sentences(r *Report) []string {
	var all []string
	for _, t := range r.Tables {
		for _, k := range t.Rankings {
			all = append(all, Sentence(k))
		}
	}
	return all
}

// rough spreads a cell's launches so far that little can be decided.
func rough(trials []assay.Trial) []assay.Trial {
	return analysistest.Change(trials, func(t *assay.Trial) { t.Figures["ns/op"] *= 1 + 0.1*float64(t.Launch%2) })
}

func TestRecommendations(t *testing.T) {
	get := func(driver, profile string, n int, ns float64) []assay.Trial {
		return analysistest.Launches(analysistest.Cell("get", driver, profile), n, ns, 0)
	}
	const begin = "get, 1k rows, 1 client, warm cache: "
	tests := []struct {
		name   string
		trials [][]assay.Trial
		want   string
	}{
		{"winner", [][]assay.Trial{get("modernc", "a", 6, 1380), get("mattn", "a", 6, 1000), get("mattn", "b", 6, 1100), get("modernc", "b", 6, 2000)},
			"use mattn with profile a: 1.10x [1.10, 1.10] faster than mattn (b), 1.38x [1.38, 1.38] faster than modernc (a) and faster than 1 more"},
		{"equivalent", [][]assay.Trial{get("modernc", "a", 6, 1001), get("mattn", "a", 6, 1000)},
			"mattn (a) and modernc (a) are equivalent: take any of them"},
		{"tie with a loser", [][]assay.Trial{get("modernc", "a", 6, 1001), get("mattn", "a", 6, 1000), get("glebarez", "a", 6, 2000)},
			"mattn (a) and modernc (a) are equivalent: take any of them; mattn (a) is 2.00x [2.00, 2.00] faster than glebarez (a)"},
		{"undecided for longer than anyone waits", [][]assay.Trial{get("modernc", "a", 6, 1000), rough(get("mattn", "a", 6, 980))},
			"modernc (a) and mattn (a) are undecided: the ratio could be 0.921 or 1.03 (95 % CI), and the margin is 2.00 %"},
		{"few launches", [][]assay.Trial{get("modernc", "a", 1, 1000), get("mattn", "a", 1, 500)},
			"mattn (a) and modernc (a) are undecided: 1 launch of at least 2"},
		{"one", [][]assay.Trial{get("modernc", "a", 6, 1000)},
			"only modernc (a) can be ranked; there is nothing to compare it with"},
	}
	for _, test := range tests {
		var trials []assay.Trial
		for _, part := range test.trials {
			trials = append(trials, part...)
		}
		got := sentences(mustReport(t, analysistest.PlainRun, trials))
		if diff := cmp.Diff([]string{begin + test.want}, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}

// Where a beats b, b beats c and c beats a, nobody is first.
func TestCircle(t *testing.T) {
	var trials []assay.Trial
	for i, driver := range []string{"modernc", "mattn", "glebarez"} {
		// Of three groups of six launches, each driver has two, and each two
		// drivers share one.
		c := analysistest.Cell("get", driver, "a")
		for launch := 1; launch <= 18; launch++ {
			group := (launch - 1) / 6
			if group == i {
				continue
			}
			ns := 1000.0
			if group == (i+1)%3 {
				ns = 2000
			}
			trials = append(trials, assay.Trial{Cell: c, Launch: launch, Outcome: assay.OK, Figures: map[string]float64{"ns/op": ns}})
		}
	}
	got := sentences(mustReport(t, analysistest.PlainRun, trials))
	// Their figures are equal but for rounding: the order of names is open.
	if len(got) != 1 || !strings.HasSuffix(got[0], " are undecided: the results contradict each other: A beats B, B beats C, C beats A") || strings.Count(got[0], "(a)") != 3 {
		t.Errorf("got %q", got)
	}
}

// Two that tie with the first and are open against each other do not contradict anything.
func TestOpenBehindATie(t *testing.T) {
	var trials []assay.Trial
	for profile, sign := range map[string]float64{"a": 0, "b": 1, "c": -1} {
		for launch := 1; launch <= 6; launch++ {
			wobble := sign * 0.01 * float64(launch%2*2-1)
			trials = append(trials, assay.Trial{Cell: analysistest.Cell("get", "mattn", profile), Launch: launch, Outcome: assay.OK, Figures: map[string]float64{"ns/op": (998 + 2*sign*sign) * (1 + wobble)}})
		}
	}
	got := sentences(mustReport(t, analysistest.PlainRun, trials))
	if len(got) != 1 || !strings.Contains(got[0], "are equivalent, and undecided against") || strings.Contains(got[0], "contradict") {
		t.Errorf("got %q", got)
	}
}

func TestSuggestions(t *testing.T) {
	var trials []assay.Trial
	for i, operation := range []string{"get", "scan"} {
		trials = append(trials, analysistest.Launches(analysistest.Cell(operation, "modernc", "web"), 6, 2000, 0)...)
		trials = append(trials, analysistest.Launches(analysistest.Cell(operation, "mattn", "web"), 6, 1000*float64(1+2*i), 0)...)
		trials = append(trials, analysistest.Launches(analysistest.Cell(operation, "mattn", "fast"), 6, 900+2000*float64(i), 0)...)
	}
	put := func(driver, profile string, d assay.Durability, ns float64) {
		trials = append(trials, analysistest.Durable(analysistest.Launches(analysistest.Cell("put", driver, profile), 6, ns, 0), d, "x")...)
	}
	put("modernc", "web", assay.Power, 9000)
	put("mattn", "web", assay.Power, 8000)
	put("mattn", "fast", assay.None, 100)
	var got []string
	for _, s := range mustReport(t, analysistest.PlainRun, trials).Suggestions {
		got = append(got, suggestionSentence(s, false))
	}
	want := []string{
		"Use mattn with profile web if every acknowledged commit must survive a power cut: fastest or tied in 2 of 3 comparisons of one process, elsewhere at most 1.50x slower (95 % bound), at durability power (claimed); not ranked with 1 other of none.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestConnection(t *testing.T) {
	row := &analysis.Row{Driver: "mattn", Measured: analysis.Measured{DSN: "file:{{path}}?mode=rw", Each: []string{"PRAGMA a=1"}, Settings: []assay.Setting{
		{Name: "sync", Connection: "writer-1", Requested: "full", Effective: "2"},
		{Name: "cache", Connection: "writer-1", Effective: "10"},
		{Name: "sync", Connection: "reader-1", Requested: "full", Effective: "1"},
	}}}
	want := analysis.Connection{Name: "mattn", DSN: "file:app.db?mode=rw", Each: []string{"PRAGMA a=1"}, Settings: []assay.Setting{
		{Name: "cache", Effective: "10"}, {Name: "sync", Requested: "full", Effective: "1/2"},
	}}
	if diff := cmp.Diff(want, analysis.NewConnection(row), unexported); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRepeat(t *testing.T) {
	run := assay.Run{Plan: "my plan's", Options: assay.Options{Only: map[string][]string{"b": {"1", "2"}, "a": {"x y"}}, Budget: time.Hour}}
	want := `assay run 'my plan'\''s' --only 'a=x y' --only b=1,2 --budget 1h0m0s`
	if got := repeat(run, ""); got != want {
		t.Errorf("got %s", got)
	}
}

// A run that has not ended says how it goes on.
func TestHowToResume(t *testing.T) {
	for _, test := range []struct {
		name      string
		run       assay.Run
		want, not string
	}{
		{"interrupted", assay.Run{Plan: "quick", Status: assay.Interrupted}, "assay run quick --resume", "Only the machine"},
		{"imported", assay.Run{Plan: "quick", Status: assay.Interrupted, Imported: true}, "Only the machine that this run was started on can resume it.", "--resume"},
		{"finished", assay.Run{Plan: "quick", Status: assay.Finished}, "assay run quick\n", "--resume"},
	} {
		var out strings.Builder
		must(t, mustReport(t, test.run, nil).Write(&out, "markdown"))
		if got := out.String(); !strings.Contains(got, test.want) || strings.Contains(got, test.not) {
			t.Errorf("%s: want %q and not %q in:\n%s", test.name, test.want, test.not, got)
		}
	}
}

func TestUnits(t *testing.T) {
	tests := map[string]string{
		wording.Human(0.5213, "ns"):  "0.521 ns",
		wording.Human(999.6, "ns"):   "1.00 µs",
		wording.Human(12345, "ns"):   "12.3 µs",
		wording.Human(2.5e10, "ns"):  "25.0 s",
		wording.Human(123456, "1/s"): "123 k/s",
		wording.Human(0.04, "1/op"):  "0.0400",
		wording.Human(0, "ns"):       "0.00 ns",
	}
	for got, want := range tests {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// unexported has cmp compare fields that are not exported, too.
var unexported = cmp.Exporter(func(reflect.Type) bool { return true })

// What was measured with one process only says so: once where that is so of all, and
// otherwise beside each pick of which it is.
func TestPicksOfOneProcess(t *testing.T) {
	of := func(driver, profile string, processes int, ns float64) []assay.Trial {
		c := cellOf("insert", driver, profile, "")
		c.Engine, c.Processes = "sqlite", processes
		promised := map[string]assay.Durability{"web": assay.Consistent, "safe": assay.Power}
		return analysistest.Durable(analysistest.Launches(c, 8, ns, len(driver)), promised[profile], "")
	}
	var alone []assay.Trial
	for _, driver := range []string{"mattn", "modernc"} {
		for _, profile := range []string{"web", "safe"} {
			alone = append(alone, of(driver, profile, 1, map[string]float64{"mattn": 1000, "modernc": 2000}[driver])...)
		}
	}
	both := slices.Concat(alone, of("mattn", "web", 4, 2000), of("modernc", "web", 4, 4000))
	for name, c := range map[string]struct {
		trials  []assay.Trial
		extent  bool
		profile string // whose pick says so
	}{
		"one process":                 {alone, true, ""},
		"several of profile web only": {both, false, "safe"},
	} {
		r := mustReport(t, plainRun("mattn", "modernc"), c.trials)
		a := r.Answer()
		if got := strings.Contains(r.extent(a), ", one process,"); got != c.extent {
			t.Errorf("%s: got %q, says so: want %t", name, r.extent(a), c.extent)
		}
		var all []string
		for _, one := range r.advice(a) {
			text := one.text
			if len(one.uses) == 0 {
				continue
			}
			all = append(all, text)
			if got, want := strings.Contains(text, " of one process"), c.profile != "" && strings.Contains(text, "profile "+c.profile); got != want {
				t.Errorf("%s: got %q, says so: want %t", name, text, want)
			}
		}
		if len(all) != 2 {
			t.Errorf("%s: got %q, want a pick of each class", name, all)
		}
	}
}
