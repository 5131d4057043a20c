package gate

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
	"assay/internal/stat"

	"github.com/google/go-cmp/cmp"
)

var rule = Rules{MaxSlowdown: 0.02}

// cell is one of the base v1.0.0 or the head v1.1.0.
func cell(operation, version, profile string) assay.Cell {
	c := analysistest.Cell(operation, "modernc", profile)
	c.DriverVersion, c.Build = version, "b-"+version
	return c
}

// side makes launches of a base or a head.
func side(c assay.Cell, ns float64, own int, change func(*assay.Trial)) []assay.Trial {
	trials := analysistest.Launches(c, 8, ns, own)
	if change != nil {
		trials = analysistest.Change(trials, change)
	}
	return trials
}

// twin makes the A/A test of the base.
func twin(c assay.Cell, ns float64) []assay.Trial {
	return side(c, ns, 2, func(t *assay.Trial) { t.Twin = true })
}

// judged judges a run of trials.
func judged(t *testing.T, id string, trials ...[]assay.Trial) *Measurement {
	t.Helper()
	run := assay.Run{ID: id, Plan: "quick", Baseline: assay.ParseBaseline("modernc@v1.0.0"), Options: assay.Options{Margin: 0.02, Launches: 3}}
	for _, version := range []string{"v1.0.0", "v1.1.0"} {
		run.Targets = append(run.Targets, assay.Target{Driver: "modernc", DriverVersion: version, Engine: "sqlite", Build: "b-" + version})
	}
	var all []assay.Trial
	for _, list := range trials {
		all = append(all, list...)
	}
	r, err := analysis.New(run, analysistest.Each(all))
	must(t, err)
	m, err := Judge(r, "modernc@v1.0.0", "modernc@v1.1.0", rule)
	must(t, err)
	return m
}

// both makes an operation of base and head; the head takes so many times as long.
func both(operation string, times float64, change func(*assay.Trial)) []assay.Trial {
	base := cell(operation, "v1.0.0", "web")
	all := append(side(base, 10000, 1, nil), twin(base, 10010)...)
	return append(all, side(cell(operation, "v1.1.0", "web"), 10000*times, 3, change)...)
}

func find(t *testing.T, m *Measurement, operation string) Cell {
	t.Helper()
	for _, c := range m.Cells {
		if strings.HasPrefix(c.Operation, operation) {
			return c
		}
	}
	t.Fatalf("there is no cell of %s in %+v", operation, m.Cells)
	return Cell{}
}

func TestStates(t *testing.T) {
	m := judged(t, "first", both("alike", 1.0005, nil), both("faster", 0.8, nil), both("slower", 1.1, nil),
		both("open", 1, func(t *assay.Trial) { t.Figures["ns/op"] *= math.Pow(1.3, float64(1-2*(t.Launch%2))) }))
	for operation, want := range map[string]State{"alike": Equivalent, "faster": Faster, "slower": Regressed, "open": Undecided} {
		if c := find(t, m, operation); c.State != want || (c.State == Regressed) != (len(c.Suspicions) == 1) || (c.State == Undecided) != (c.Reason != "") {
			t.Errorf("%s: got %+v, want it %s", operation, c, want)
		}
	}
	if m.Noise == 0 {
		t.Error("the noise of the A/A test is unknown")
	}
}

// An interval that includes 1 and reaches beyond the margin says so by itself; one that
// only the noise keeps from being equivalent does not.
func TestReasonOfUndecided(t *testing.T) {
	base, head := cell("noise", "v1.0.0", "web"), cell("noise", "v1.1.0", "web")
	m := judged(t, "first", both("wide", 1, func(t *assay.Trial) { t.Figures["ns/op"] *= math.Pow(1.3, float64(1-2*(t.Launch%2))) }),
		side(base, 10000, 1, nil), twin(base, 10500), side(head, 10000, 1, nil))
	for operation, want := range map[string]string{"wide": "1.00x [0.785, 1.27]",
		"noise": "1.0000x [0.99974, 1.0003]: the ratio could be 0.99974 or 1.0003 (95 % CI), and the baseline differs from itself by 4.95 % in this table"} {
		if got := find(t, m, operation).Reason; got != want {
			t.Errorf("%s: got %q, want %q", operation, got, want)
		}
	}
}

// Code whose link layout is the same in all launches can be faster or slower by that alone.
func TestLayout(t *testing.T) {
	const advice = "a difference of a few percent, up to ten, can be the layout alone"
	fixed := func(t *assay.Trial) { t.Warnings = []assay.Warning{{Code: "layout", Advice: advice}} }
	for _, c := range []struct {
		times  float64
		change func(*assay.Trial)
		want   bool
	}{{1.1, fixed, true}, {0.9, fixed, true}, {1, fixed, false}, {1.1, nil, false}} {
		m := judged(t, "first", both("read", c.times, c.change))
		u := &Upgrade{Driver: "mattn", First: m, Second: m}
		if got := strings.HasSuffix(u.evidence(""), "; the functions lie in one order in all launches: "+advice); got != c.want {
			t.Errorf("%g times as long: got %q, want the layout in it: %v", c.times, u.evidence(""), c.want)
		}
		for _, f := range Formats("v1.0.0") {
			var text bytes.Buffer
			must(t, f.Write(&text, &Report{Rules: rule, Upgrades: []*Upgrade{u}}))
			want := c.want && (c.times > 1 || f.Name != "sarif" && f.Name != "junit") // these have findings only
			if got := strings.Contains(strings.Join(strings.Fields(text.String()), " "), advice); got != want {
				t.Errorf("%g times as long, %s: got %s, want the layout in it: %v", c.times, f.Name, text.String(), want)
			}
		}
	}
}

// A slowdown counts only where it is larger than what is allowed, and there even if it lies
// within the plan's margin of 2 %.
func TestMaxSlowdown(t *testing.T) {
	before := rule
	defer func() { rule = before }()
	for _, c := range []struct {
		allowed, times, margin float64
		want                   State
	}{
		{0.2, 1.1, 0.02, Tolerated},
		{0.02, 1.012, 0.02, Equivalent},
		{0.005, 1.012, 0.005, Regressed},
		{0.005, 1.0005, 0.005, Equivalent},
		{0.005, 0.988, 0.005, Faster},
	} {
		rule = Rules{MaxSlowdown: c.allowed}
		m := judged(t, "first", both("read", c.times, nil))
		if got := find(t, m, "read"); got.State != c.want || (got.State == Regressed) != (len(got.Suspicions) == 1) || got.State == Regressed && !got.decided || m.Margin != c.margin {
			t.Errorf("%g times as long, %g allowed: got %+v and the margin %g, want %s and %g", c.times, c.allowed, got, m.Margin, c.want, c.margin)
		}
	}
}

// What the head lost is found whatever its figures are.
func TestLosses(t *testing.T) {
	const search = "SEARCH item USING INDEX idx_user (user=?)"
	setting := func(applied bool, effective string) func(*assay.Trial) {
		return func(t *assay.Trial) {
			t.Settings = []assay.Setting{{Name: "cache_size", Connection: "reader-1", Requested: "-4096", Effective: effective, Applied: applied}}
			if !applied {
				t.Outcome, t.Reason = assay.NotApplied, "cache_size requested -4096, effective -2000"
			}
		}
	}
	changed := func(trials []assay.Trial, base, head func(*assay.Trial)) []assay.Trial {
		for i := range trials {
			if trials[i].Cell.DriverVersion == "v1.0.0" {
				base(&trials[i])
			} else {
				head(&trials[i])
			}
		}
		return trials
	}
	planned := func(text string) func(*assay.Trial) { return func(t *assay.Trial) { t.QueryPlan = text } }
	durable := func(d assay.Durability) func(*assay.Trial) {
		return func(t *assay.Trial) { t.Durability = d }
	}
	m := judged(t, "first",
		changed(both("plan", 1, nil), planned(search+"\n"), planned("SCAN item\n")),
		changed(both("renamed", 1, nil), planned(search+"\n"), planned("SEARCH item USING INDEX idx_other (user=?)\n")),
		changed(both("setting", 1, nil), setting(true, "-4096"), setting(false, "-2000")),
		changed(both("weaker", 1, nil), durable(assay.Power), durable(assay.Consistent)),
		changed(both("stronger", 1, nil), durable(assay.Consistent), durable(assay.Power)),
		changed(both("broken", 1, nil), func(*assay.Trial) {}, func(t *assay.Trial) { t.Outcome, t.Reason, t.Figures = assay.WrongAnswer, "row 3 differs", nil }),
		changed(both("both", 1, nil), func(t *assay.Trial) { t.Outcome, t.Reason, t.Figures = assay.Failed, "no", nil }, func(t *assay.Trial) { t.Outcome, t.Reason, t.Figures = assay.Failed, "no", nil }))
	for operation, want := range map[string]string{
		"plan":     "query-plan: the query plan lost idx_user: " + search + " -> SCAN item; time of the head / time of the base: 1.000x [0.9989, 1.001]",
		"renamed":  "",
		"setting":  `setting: cache_size=-4096 has no effect: it is "-2000"; modernc@v1.0.0 applies it`,
		"weaker":   `durability: durability is "consistent", and "power" with modernc@v1.0.0`,
		"stronger": "",
		"broken":   "outcome: wrong-answer: row 3 differs",
		"both":     "",
	} {
		c := find(t, m, operation)
		got := ""
		for _, f := range c.Suspicions {
			got += string(f.Kind) + ": " + f.Message
		}
		if got != want || (want != "") != (c.State == Regressed) {
			t.Errorf("%s: got %q and %s, want %q", operation, got, c.State, want)
		}
	}
	if c := find(t, m, "renamed"); len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "idx_other") {
		t.Errorf("another index: got the notes %q, want one", c.Notes)
	}
	if c := find(t, m, "both"); c.State != NotCompared {
		t.Errorf("where the base fails, too: got %s, want %s", c.State, NotCompared)
	}
}

// Only the second run decides on what the first one suspected.
func TestConfirmation(t *testing.T) {
	first := judged(t, "first", both("read", 1.1, nil), both("scan", 1.2, nil), both("alike", 1, nil))
	for name, c := range map[string]struct {
		second *Measurement
		want   map[string]State
	}{
		"confirmed": {judged(t, "second", both("read", 1.1, nil), both("scan", 1.15, nil)), map[string]State{"read": Regressed, "scan": Regressed, "alike": Equivalent}},
		"withdrawn": {judged(t, "second", both("read", 1, nil), both("scan", 1.15, nil)), map[string]State{"read": Equivalent, "scan": Regressed, "alike": Equivalent}},
		"not suspected in the first": {judged(t, "second", both("read", 1.1, nil), both("scan", 1.15, nil), both("alike", 1.2, nil)),
			map[string]State{"read": Regressed, "scan": Regressed, "alike": Equivalent}},
		"without time": {nil, map[string]State{"read": Undecided, "scan": Undecided, "alike": Equivalent}},
	} {
		u := &Upgrade{Driver: "modernc", Base: "v1.0.0", Head: "v1.1.0", First: first, Second: c.second}
		regressed := 0
		for _, cell := range u.Cells() {
			operation, _, _ := strings.Cut(cell.Operation, ",")
			if cell.State != c.want[operation] {
				t.Errorf("%s: got %s %s, want %s", name, operation, cell.State, c.want[operation])
			}
			if cell.State == Regressed {
				regressed++
			}
		}
		if got := u.Findings(rule); len(got) != regressed {
			t.Errorf("%s: got findings %+v, want %d", name, got, regressed)
		}
		for _, f := range u.Findings(rule) {
			if f.Cell == "scan, 1k rows, 1 client (web)" && !strings.HasPrefix(f.Message, "1.15") {
				t.Errorf("%s: got %q, want the figures of the second run", name, f.Message)
			}
		}
	}
	// Undecided cells fail where that is asked for, or where there is nothing else.
	u := &Upgrade{First: judged(t, "first", both("broken", 1, func(t *assay.Trial) { t.Outcome, t.Reason, t.Figures = assay.NotRun, "no time", nil }))}
	if got := u.Findings(rule); len(got) != 1 || got[0].Kind != Open {
		t.Errorf("nothing compared: got %+v, want that it fails", got)
	}
	u.First.Cells[0].Cost = stat.Interval{N: 1, Center: 0.9, Low: math.NaN(), High: math.NaN()} // one launch compares nothing either
	u.First.Cells = append([]Cell{{State: NotCompared, Reason: "refused"}}, u.First.Cells...)
	if got := u.Findings(rule); len(got) != 1 || got[0].Kind != Open || !strings.Contains(got[0].Message, "raise --budget") || strings.Contains(got[0].Message, "refused") {
		t.Errorf("one launch: got %+v, want that it fails, with what to do", got)
	}
	late := judged(t, "second", both("read", 1, func(t *assay.Trial) { t.Outcome, t.Reason, t.Figures = assay.NotRun, "no time", nil }))
	u = &Upgrade{First: judged(t, "first", both("read", 1.1, nil)), Second: late}
	u.First.Cells[0].Cost = stat.Interval{}
	if got := u.Findings(rule); len(got) != 1 || !strings.Contains(got[0].Message, "not confirmed") {
		t.Errorf("a suspicion of which no time was left: got %+v, want that it fails and why", got)
	}
	u = &Upgrade{First: first}
	if got := u.Findings(Rules{MaxSlowdown: 0.02, FailUndecided: true}); len(got) != 2 || got[0].Kind != Open {
		t.Errorf("got %+v, want two undecided", got)
	}
}

// Suspects select by those coordinates only that leave something out.
func TestSuspects(t *testing.T) {
	large := func(trials []assay.Trial) []assay.Trial {
		return analysistest.Change(trials, func(t *assay.Trial) {
			t.Cell.Params = maps.Clone(t.Cell.Params)
			t.Cell.Params["rows"] = "9000"
		})
	}
	m := judged(t, "first", both("read", 1.1, nil), large(both("read", 1, nil)), both("scan", 1, nil))
	if got, want := fmt.Sprint(m.Suspects()), fmt.Sprint(map[string][]string{"operation": {"read"}, "rows": {"1000"}}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	m = judged(t, "first", both("read", 1.1, nil))
	m.only = map[string][]string{"operation": {"read"}} // of the plan's
	if diff := cmp.Diff(m.only, m.Suspects()); diff != "" {
		t.Errorf("of a part of the plan (-want +got)\n%s", diff)
	}
	if got := judged(t, "first", both("read", 1, nil)).Suspects(); got != nil {
		t.Errorf("got %v of equal things, want none", got)
	}
}

func TestAccess(t *testing.T) {
	for plan, want := range map[string]string{
		"SCAN TABLE item\n": "[] 1 1 0",
		"SCAN item USING COVERING INDEX i\nUSE TEMP B-TREE FOR ORDER BY\n":                             "[i] 1 0 0",
		"SEARCH a USING INTEGER PRIMARY KEY (rowid=?)\nSEARCH b USING INDEX i (x=?)":                   "[the primary key of a i] 0 0 0",
		"SEARCH t USING AUTOMATIC PARTIAL COVERING INDEX (a=?)":                                        "[] 0 0 1",
		"read: SEARCH t USING COVERING INDEX j (a=?)\n\nwrite: \n":                                     "[j] 0 0 0",
		"MULTI-INDEX OR\nINDEX 1\nSEARCH t USING INDEX i (a=?)\nINDEX 2\nSEARCH t USING INDEX k (b=?)": "[i k] 0 0 0",
		"SCAN 3 CONSTANT ROWS\nSCAN CONSTANT ROW":                                                      "[] 0 0 0",
	} {
		a := accessOf(plan)
		if got := fmt.Sprint(a.indexes, a.scans, a.tables, a.automatic); got != want {
			t.Errorf("%q: got %s, want %s", plan, got, want)
		}
	}
}

// A plan is worse by how it reaches the rows, not by the number of its indexes.
func TestQueryPlans(t *testing.T) {
	const search, or = "SEARCH t USING INDEX i (a=?)", "MULTI-INDEX OR\nINDEX 1\nSEARCH t USING INDEX i (a=?)\nINDEX 2\nSEARCH t USING INDEX k (b=?)"
	for name, c := range map[string]struct{ base, head, want string }{
		"a scan of the same index":      {search, "SCAN t USING INDEX i", "the query plan is worse"},
		"a scan of a table":             {search, "SCAN t", "the query plan lost i"},
		"an index no longer covers":     {"SCAN t USING COVERING INDEX i", "SCAN t", "the query plan lost i"},
		"an automatic index":            {search, "SEARCH t USING AUTOMATIC COVERING INDEX (a=?)", "the query plan lost i"},
		"one more table":                {"SCAN t", "SCAN t\nSCAN u", "the query plan is worse"},
		"an OR becomes an IN":           {or, search, ""},
		"an OR with one index for both": {or, "SEARCH t USING INDEX both (a=? AND b=?)", ""},
		"an OR becomes a scan":          {or, "SCAN t", "the query plan lost i, k"},
		"an OR scans an index":          {or, "SCAN t USING INDEX i", "the query plan lost k"},
		"another order of the join":     {"SCAN a\nSEARCH b USING INDEX ib (x=?)", "SCAN b\nSEARCH a USING INTEGER PRIMARY KEY (rowid=?)", ""},
		"a join that is not needed":     {"SCAN a\nSEARCH b USING INDEX ib (x=?)", "SCAN a", ""},
		"words of another version":      {"SCAN TABLE t", "SCAN t", ""},
	} {
		var cell Cell
		cell.queryPlan(c.base, c.head)
		got := ""
		for _, f := range cell.Suspicions {
			got += f.Message
		}
		if !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") || (got == "") != (len(cell.Notes) == 1) {
			t.Errorf("%s: got %q and the notes %q, want %q", name, got, cell.Notes, c.want)
		}
	}
}

// What a pass could have seen is the slowdown of the median cell, and of the widest.
func TestWhatAPassCouldSee(t *testing.T) {
	cells := []Cell{{State: Undecided}}
	for _, low := range []float64{0.8, 0.99, 0.9} {
		cells = append(cells, Cell{State: Equivalent, Cost: stat.Interval{N: 6, Low: low, Center: 1, High: 1 / low}})
	}
	u := &Upgrade{First: &Measurement{Cells: cells}}
	if got, want := u.couldSee(Rules{MaxSlowdown: 0.02}), ", 1 of 4 undecided: this budget sees slowdowns of 11.1 % in half of the compared cells, of 25 % in all"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What nobody measured is no pass, and what is undecided no regression.
func TestVerdicts(t *testing.T) {
	open := &Upgrade{First: judged(t, "first", both("open", 1, func(t *assay.Trial) { t.Figures["ns/op"] *= math.Pow(1.3, float64(1-2*(t.Launch%2))) }),
		both("alike", 1.0005, nil))}
	lost := &Upgrade{First: open.First, Effects: Effects{Lost: []Finding{{Parameter, "", "_x is ignored"}}, Open: []string{"_y is ignored, which a second experiment did not confirm"}}}
	left := &Upgrade{NotMeasured: "it is a fork"}
	none := &Upgrade{First: judged(t, "first", both("late", 1, func(t *assay.Trial) { t.Outcome, t.Reason, t.Figures = assay.NotRun, "no time", nil }),
		both("later", 1, func(t *assay.Trial) { t.Outcome, t.Reason, t.Figures = assay.NotRun, "no time", nil }))}
	for _, c := range []struct {
		upgrade    *Upgrade
		pass, fail string
	}{
		{open, "PASS, 1 of 2 undecided: this budget sees slowdowns of 2 % in half of the compared cells, of 27.3 % in all", "FAIL, 1 undecided"},
		{&Upgrade{First: judged(t, "first", both("alike", 1.0005, nil))}, "PASS", "PASS"},
		{lost, "FAIL, 1 regression", "FAIL, 1 regression, 2 undecided"},
		{none, "FAIL, nothing compared", "FAIL, 2 undecided"},
		{left, "NOT MEASURED", "FAIL, not measured"},
		{&Upgrade{NotBuilt: "undefined: x"}, "FAIL, 1 regression", "FAIL, 1 regression"},
	} {
		for _, fails := range []bool{false, true} {
			r := &Report{Rules: Rules{MaxSlowdown: 0.02, FailUndecided: fails}, Upgrades: []*Upgrade{c.upgrade}}
			want := c.pass
			if fails {
				want = c.fail
			}
			if got := r.word(c.upgrade); got != want || r.Passed() == strings.HasPrefix(want, "FAIL") {
				t.Errorf("--undecided fail %t: got %q and passed %t, want %q", fails, got, r.Passed(), want)
			}
		}
	}
}
