package gate

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/stat"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample has one of everything.
func sample() *Report {
	cell := func(operation string, center float64, state State, reason string, suspicions ...Finding) Cell {
		c := Cell{Operation: operation, Profile: "web", Launches: 8, State: state, Reason: reason, Suspicions: suspicions, key: operation, decided: true}
		if center > 0 {
			c.Cost = stat.Interval{N: 6, Center: center, Low: center * 0.97, High: center * 1.03}
		}
		return c
	}
	scan := cell("full-scan, 1 client", 1.12, Regressed, "", Finding{Slower, "full-scan, 1 client (web)", "1.12x [1.09, 1.15] slower"})
	feed := cell("feed, 1 client", 1, Regressed, "", Finding{QueryPlan, "feed, 1 client (web)", "the query plan lost idx_user: SEARCH post USING INDEX idx_user (user=?) -> SCAN post"})
	open := cell("insert|`x` <b>, 1 client", 1.01, Undecided, "1.01x [0.95, 1.07]: the 95 % CI includes 1")
	first := &Measurement{Run: "20261122-100000-aaaa", Margin: 0.02, Noise: 0.018, Cells: []Cell{
		cell("point-read, 1 client", 1.001, Equivalent, ""), cell("range, 1 client", 0.9, Faster, ""), scan, feed, open,
		cell("app, 8 clients", 0, NotCompared, "modernc@v1.60.0 is failed: no"), cell("late, 1 client", 1.015, Tolerated, "")}}
	first.Cells[1].Notes = []string{"the query plan changed: SCAN a -> SCAN b"}
	second := &Measurement{Run: "20261122-100500-bbbb", Margin: 0.02, Noise: 0.01, Cells: []Cell{scan, feed}}
	return &Report{Rules: rule, Upgrades: []*Upgrade{
		{Driver: "modernc", Base: "v1.60.0", Head: "v1.61.1", Plan: "quick", File: "go.mod", Line: 7, First: first, Second: second,
			Effects: Effects{Lost: []Finding{{Parameter, "", "file:?_journal_mode in a DSN is ignored; modernc@v1.60.0 applies it"}}, Notes: []string{"default of busy_timeout: 0, was 5000"}, Open: []string{"_txlock in a DSN is ignored, which a second experiment did not confirm"}}},
		{Base: "mattn", Head: "mattn:DQS=0", Plan: "quick", First: &Measurement{Run: "20261122-101000-cccc", Margin: 0.02, Cells: []Cell{cell("point-read, 1 client", 1, Equivalent, "")}}},
		{Driver: "glebarez", Base: "v1.22.0", Head: "v1.23.0-checkout.d0123456789ab", Plan: "quick", NotBuilt: "worker glebarez: it does not compile: undefined: x"},
		{Driver: "bbolt", Base: "v1.4.2", Head: "v1.4.3", Plan: "quick", File: "go.mod", Line: 9, NotMeasured: "plan quick cannot run it"},
	}}
}

func TestGoldenFormats(t *testing.T) {
	strict := sample()
	strict.Rules.FailUndecided = true
	for _, f := range Formats("v1.0.0")[2:] { // text and Markdown are written by package doc
		for name, r := range map[string]*Report{"fail": sample(), "strict": strict, "empty": {Rules: rule}} {
			var got bytes.Buffer
			must(t, f.Write(&got, r))
			golden := filepath.Join("testdata", name+"."+f.Name+".golden")
			if *update {
				must(t, os.WriteFile(golden, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s differs (go test ./internal/gate -update writes it anew):\n%s", golden, got.String())
			}
		}
	}
}

// The first line counts what the line of counts does: a cell with two findings is one regression.
func TestRegressionsAreCountedOnce(t *testing.T) {
	m := judged(t, "first", both("read", 1.1, nil))
	u := &Upgrade{Driver: "modernc", Base: "v1", Head: "v2", Plan: "quick", First: m, Second: m, Effects: Effects{Lost: []Finding{{Parameter, "", "_x in a DSN is ignored"}}}}
	u.First.Cells[0].Suspicions = append(u.First.Cells[0].Suspicions, Finding{Setting, u.First.Cells[0].Name(), "cache_size=1 has no effect"})
	r := &Report{Rules: rule, Upgrades: []*Upgrade{u}}
	if n := len(u.Findings(rule)); n != 3 {
		t.Fatalf("got %d findings, want 3", n)
	}
	if word, counts := r.word(u), u.counts(rule); word != "FAIL, 2 regressions" || counts != "2 regressed (confirmed)" {
		t.Errorf("got %q and %q, want 2 regressions in both", word, counts)
	}
}

// What a DSN's experiments found is told, though the run that followed them failed.
func TestFoundBeforeAnError(t *testing.T) {
	u := &Upgrade{Driver: "modernc", Base: "v1", Head: "v2", Plan: "quick", NotMeasured: "the disk is full", Effects: Effects{Lost: []Finding{{Parameter, "", "_x in a DSN is ignored"}}}}
	r := &Report{Rules: rule, Upgrades: []*Upgrade{u}}
	var text strings.Builder
	must(t, Formats("").Write(&text, "text", r))
	got := text.String()
	for _, want := range []string{"! _x in a DSN is ignored", "not measured: the disk is full"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
	if !r.Measured() {
		t.Error("got that nothing was found out")
	}
}

func TestParametersThatStopWorking(t *testing.T) {
	older, newer := olderAndNewer(t)
	want := Finding{Parameter, "", "_journal_mode in a DSN is ignored; modernc@v1.55.0 applies it"}
	back := Compare(newer, older)
	if !slices.Contains(back.Lost, want) {
		t.Errorf("from v1.55.0 to v1.54.0: got %s, want %s", back.Lost, want.Message)
	}
	forth := Compare(older, newer)
	if len(forth.Lost) > 0 || !strings.Contains(fmt.Sprint(forth.Notes), "of a DSN that modernc@v1.54.0 does not") {
		t.Errorf("from v1.54.0 to v1.55.0: got %+v, want nothing lost and a note of what is new", forth)
	}
	if same := Compare(newer, newer); len(same.Lost)+len(same.Notes) > 0 {
		t.Errorf("of equal things: got %+v", same)
	}
	if got := back.Confirmed(Effects{}); len(got.Lost) > 0 {
		t.Errorf("not confirmed: got %+v, want nothing lost", got)
	}
}
