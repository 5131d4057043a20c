package tune

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/stat"
)

func fixture() *Report {
	space := Space{StartIsCurrent: true, Factors: []Factor{
		{Name: "cache_size", Levels: []Level{{}, {Settings: map[string]string{"cache_size": "-65536"}}}},
		{Name: "temp_store", Levels: []Level{{}, {Settings: map[string]string{"temp_store": "2"}}}},
		{Name: "mmap_size", Levels: []Level{{}, {Settings: map[string]string{"mmap_size": "1048576"}}}},
	}}
	gain := stat.Interval{N: 12, Center: 1.33, Low: 1.29, High: 1.37}
	chosen := Finalist{Point: Point{1, 0, 0}, Search: 1.41, Gain: gain, Operations: []stat.Interval{gain, {N: 12, Center: 0.9, Low: 0.88, High: 0.92}}}
	return &Report{Plan: "app", Driver: "mattn", Current: "default", Class: assay.Power, Memory: 256 * mib, Margin: 0.02, Space: space,
		Effective: map[string]string{"cache_size": "-2000", "temp_store": "0"}, Profile: assay.Profile{Settings: map[string]string{"cache_size": "-65536"}},
		Operations: []Operation{{Name: "read", Now: stat.Interval{Center: 14200}, Unit: "ns"}, {Name: "write", Now: stat.Interval{Center: 2.5e6}, Unit: "ns"}},
		Outcome: &Outcome{Launches: 12, Chosen: &chosen, Finalists: []Finalist{chosen}, Effects: []Effect{{Factor: 0, Level: 1, Gain: gain}, {Factor: 1, Level: 1, Nothing: true}, {Factor: 2, Level: 1, Gain: stat.Interval{N: 9, Center: 1.02, Low: 0.99, High: 1.05}}},
			Best: chosen, Explained: chosen.Point,
			Ablation: []Ablation{{Factor: 0, Gain: gain, Matters: true}},
			Prices:   []Price{{Class: "consistent", Gain: stat.Interval{Center: math.NaN()}}}, Refused: map[string]string{"a": "failed: gone", "b": "failed: gone"}},
		Unindexed: []string{"read reads all of t"}, Runs: []StageRun{{Confirmation, "run-1"}}, Show: "assay report RUN --store other.db", Ecosystem: "go-mattn"}
}

func text(t *testing.T, r *Report, name string) string {
	t.Helper()
	f, err := Formats().Named(name)
	must(t, err)
	var out bytes.Buffer
	if err := f.Write(&out, r); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out.String()
}

// A proposal that maps more than now says what that can cost.
func TestHazardOfMapping(t *testing.T) {
	for size, want := range map[string]bool{"": false, "0": false, "1048576": false, "2097152": true} {
		r := fixture()
		r.Engine, r.Effective["mmap_size"], r.Profile.Settings["mmap_size"] = SQLiteEngine, "1048576", size
		if got := strings.Contains(text(t, r, "text"), "SIGBUS"); got != want {
			t.Errorf("mmap_size %q: the hazard is told: %t, want %t", size, got, want)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, name := range []string{"text", "markdown"} {
		got := strings.Join(strings.Fields(text(t, fixture(), name)), " ")
		for _, want := range []string{
			"app, mattn (default): 1.33x [1.29, 1.37] faster with 1 setting", "the search had said 1.41x; confirmed in 12 launches on new data",
			"! write is slower than now: 0.900x [0.880, 0.920] of its speed", "14.2 µs", "2.50 ms", "cache_size -2000 -", "read reads all of t",
			"temp_store", "mmap_size=1048576 1.02x [0.990, 1.05]", "2 candidates refused: failed: gone", "assay report RUN --store other.db shows the measurements: confirmation run-1",
		} {
			if name == "markdown" {
				got, want = strings.NewReplacer(`\`, "", "**", "").Replace(got), strings.TrimSuffix(want, "-")
			}
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %s\nwant %q in it", name, got, want)
			}
		}
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(text(t, fixture(), "json")), &v); err != nil || v["better"] != true || v["search"] != 1.41 {
		t.Errorf("got %v, %v", v, err)
	}
}

// An operation is slower where its whole interval says so, and else it only may be.
func TestHarmed(t *testing.T) {
	for _, c := range []struct {
		gain stat.Interval
		want []string
	}{
		{stat.Interval{N: 7, Center: 0.9, Low: 0.88, High: 0.92}, []string{"write is slower than now: 0.900x [0.880, 0.920] of its speed"}},
		{stat.Interval{N: 7, Center: 0.818, Low: 0.527, High: 1.27}, []string{"write may be slower than now: 0.818x [0.527, 1.27] of its speed"}},
		{stat.Interval{N: 1, Center: 0.8, Low: math.NaN(), High: math.NaN()}, []string{"write may be slower than now: 0.800x of its speed"}},
		{stat.Interval{N: 7, Center: 0.97, Low: 0.95, High: 0.99}, nil},
	} {
		r := fixture()
		r.Outcome.Chosen.Operations[1] = c.gain
		if got := r.harmed(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.gain, got, c.want)
		}
	}
}

// What changes stands apart from what stays as it is.
func TestProposed(t *testing.T) {
	r := fixture()
	r.Profile.Settings = map[string]string{"cache_size": "-65536", "temp_store": "0"}
	if got, want := text(t, r, "text"), "\nchange: cache_size -2000 -> -65536\nas before: temp_store: DEFAULT\n"; !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %q in it", got, want)
	}
	r.Outcome.Chosen = nil
	if got := text(t, r, "text"); strings.Contains(got, "as before") {
		t.Errorf("got %s\nwant no settings, as none are proposed", got)
	}
}

// What helps before any setting stands in the first lines, with its statement, its
// price and what it does to each operation; what does not help is named apart.
func TestIndexReport(t *testing.T) {
	r := fixture()
	r.Space = r.Space.With([]Factor{
		{First: true, Levels: []Level{{}, {Prepare: []string{`CREATE INDEX "a|b" ON t (a)`}}}},
		{First: true, Levels: []Level{{}, {Prepare: []string{"ANALYZE"}}}},
	})
	r.Outcome.Chosen.Point = append(r.Outcome.Chosen.Point, 0, 0)
	fast, same := stat.Interval{N: 6, Center: 3, Low: 2.8, High: 3.2}, stat.Interval{N: 6, Center: 1, Low: 0.98, High: 1.02}
	r.Outcome.IndexLaunches = 6
	r.Outcome.Indexes = []Finalist{
		{Point: Point{0, 0, 0, 1, 0}, Gain: fast, Verdict: stat.Faster, Operations: []stat.Interval{{N: 6, Center: 12, Low: 11, High: 13}, {N: 6, Center: 0.8, Low: 0.7, High: 0.9}},
			Verdicts: []stat.Verdict{stat.Faster, stat.Slower}, rows: row{operations: make([][]float64, 2)}},
		{Point: Point{0, 0, 0, 0, 1}, Gain: same, Operations: []stat.Interval{same, same}},
		{Point: Point{0, 0, 0, 1, 1}, Gain: fast, Verdict: stat.Faster, Operations: []stat.Interval{fast, same}},
	}
	r.Grows = map[string]int64{r.Space.state(Point{0, 0, 0, 1, 0}): 3 << 20}
	got := text(t, r, "text")
	want := "Make these changes first (6 launches measured them). The settings below were measured without them,\nso tune again afterwards:\n\n" +
		"    CREATE INDEX \"a|b\" ON t (a);\n" +
		"3.00x [2.80, 3.20] over all operations; faster: read 12.0x [11.0, 13.0]; slower: write 0.800x\n" +
		"    [0.700, 0.900]; 3.00 MiB more in the file\n\napp, mattn (default): 1.33x"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %s\nwant it to begin with %s", got, want)
	}
	if want := "tried before any setting, not shown to help: ANALYZE 1.00x [0.980, 1.02]"; !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %q in it", got, want)
	}
	var v struct {
		Indexes []struct {
			Statements []string
			Helps      bool
			Bytes      *int64
			Ratio      float64
			Operations []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(text(t, r, "json")), &v); err != nil || len(v.Indexes) != 3 {
		t.Fatalf("got %+v, %v; want three states of the data", v, err)
	}
	if i := v.Indexes[0]; !i.Helps || i.Bytes == nil || *i.Bytes != 3<<20 || i.Ratio != 3 || i.Operations[1].Name != "write" || v.Indexes[1].Helps || v.Indexes[1].Bytes != nil {
		t.Errorf("got %+v", v.Indexes)
	}
}

// What the program may do otherwise is told as what to do, and takes no room in the file.
func TestUseReport(t *testing.T) {
	r := fixture()
	r.Space = r.Space.With([]Factor{
		{First: true, Levels: []Level{{}, {Use: assay.Use{Statement: "once"}}}},
		{First: true, Levels: []Level{{}, {Use: assay.Use{Pool: 8}}}},
		{First: true, Levels: []Level{{}, {Use: assay.Use{Transaction: 10}}, {Use: assay.Use{Transaction: 100}}}},
	})
	r.Outcome.Chosen.Point = append(r.Outcome.Chosen.Point, 0, 0, 0)
	r.Outcome.IndexLaunches = 6
	fast, same := stat.Interval{N: 6, Center: 3, Low: 2.8, High: 3.2}, stat.Interval{N: 6, Center: 1, Low: 0.98, High: 1.02}
	for _, p := range []Point{{0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 2}} {
		r.Outcome.Indexes = append(r.Outcome.Indexes, Finalist{Point: p, Gain: fast, Verdict: stat.Faster, Operations: []stat.Interval{fast, same}, Verdicts: []stat.Verdict{stat.Faster, stat.Undecided}, rows: row{operations: make([][]float64, 2)}})
	}
	r.Outcome.Indexes = append(r.Outcome.Indexes, Finalist{Point: Point{0, 0, 0, 0, 0, 1}, Gain: same, Operations: []stat.Interval{same, same}})
	got := text(t, r, "text")
	first, second, _ := strings.Cut(got, "\n")
	if !strings.HasPrefix(first, "app, mattn (default): 1.33x") || !strings.HasPrefix(second, "another durability") {
		t.Errorf("got %s\nwant the answer first, the price of durability second, and what most programs know last", got)
	}
	flat := strings.Join(strings.Fields(got), " ")
	last := strings.LastIndex(flat, "with your settings: in the program: prepare each statement once, and keep it: 3.00x")
	for _, want := range []string{"in the program: open at most 8 connections, and keep all of them open: 3.00x", "in the program: commit 100 changes together; what is not committed is lost together: 3.00x"} {
		if last < 0 || !strings.Contains(flat[last:], want) {
			t.Errorf("got %s\nwant %q at the end", got, want)
		}
	}
	if !strings.Contains(flat, "not shown to help: transaction: 10 1.00x [0.980, 1.02]") || strings.Index(flat, "note: ") > last {
		t.Errorf("got %s\nwant what does not help, and the notes before the advice", got)
	}
	if strings.Contains(got, "in the file") {
		t.Errorf("got %s\nwant nothing about the file", got)
	}
}

func TestTextIsOneScreen(t *testing.T) {
	r := fixture()
	for range 40 {
		r.Operations = append(r.Operations, r.Operations[0])
		r.Outcome.Chosen.Operations = append(r.Outcome.Chosen.Operations, r.Outcome.Chosen.Gain)
	}
	if lines := strings.Count(text(t, r, "text"), "\n"); lines > 45 {
		t.Errorf("got %d lines, want at most 45", lines)
	}
}

// What does nothing, and what may do something, is told of settings that are not proposed: all
// values of a setting do nothing, or each is told.
func TestNothing(t *testing.T) {
	r := fixture()
	r.Space.Factors[1].Levels = append(r.Space.Factors[1].Levels, Level{Settings: map[string]string{"temp_store": "1"}})
	for _, c := range []struct {
		chosen        int
		nothing       bool // of the other value, too
		want, mayHelp []string
	}{
		{0, true, []string{"temp_store"}, []string{"mmap_size=1048576 1.02x [0.990, 1.05]"}},
		{0, false, nil, []string{"temp_store=MEMORY 1.00x [0.990, 1.01]", "mmap_size=1048576 1.02x [0.990, 1.05]", "temp_store=FILE 1.10x [1.05, 1.15]"}},
		{1, true, nil, []string{"mmap_size=1048576 1.02x [0.990, 1.05]"}},
	} {
		r.Outcome.Chosen.Point = Point{1, c.chosen, 0}
		r.Outcome.Effects = append(r.Outcome.Effects[:3:3], Effect{1, 2, stat.Interval{N: 9, Center: 1.1, Low: 1.05, High: 1.15}, c.nothing})
		r.Outcome.Effects[1].Gain = stat.Interval{N: 9, Center: 1, Low: 0.99, High: 1.01}
		if nothing, open := r.nothing(); !slices.Equal(nothing, c.want) || !slices.Equal(open, c.mayHelp) {
			t.Errorf("%+v: got that %q does nothing and %q may, want %q and %q", c, nothing, open, c.want, c.mayHelp)
		}
	}
}

// Of several settings whose single effects were not measured, some may do nothing.
func TestNoteOfSettingsUntold(t *testing.T) {
	const note = "the budget left no launches to tell which of the settings matter: some may do nothing"
	for _, c := range []struct {
		point Point
		alone []Ablation
		want  bool
	}{{Point{1, 1, 0}, nil, true}, {Point{1, 0, 0}, nil, false}, {Point{1, 1, 0}, []Ablation{{Factor: 0}}, false}} {
		r := fixture()
		r.Outcome.Chosen.Point, r.Outcome.Ablation = c.point, c.alone
		if got := r.notes(); slices.Contains(got, note) != c.want {
			t.Errorf("%v, alone %v: got the notes %q, want that they say so: %t", c.point, c.alone, got, c.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	for want, change := range map[string]func(*Report){
		"nothing beats yours": func(r *Report) {
			r.Outcome.Chosen, r.Outcome.Finalists[0].Gain = nil, stat.Interval{N: 12, Center: 1, Low: 0.99, High: 1.01}
		},
		"nothing is shown to beat yours": func(r *Report) {
			r.Outcome.Chosen, r.Outcome.Finalists[0].Gain = nil, stat.Interval{N: 12, Center: 1.05, Low: 0.99, High: 1.12}
		},
		"nothing is shown to beat yours; a larger": func(r *Report) { // the first finalist alone does not decide it
			same := stat.Interval{N: 12, Center: 1, Low: 0.99, High: 1.01}
			r.Outcome.Chosen, r.Outcome.Finalists = nil, []Finalist{{Point: Point{1, 0, 0}, Gain: same}, {Point: Point{0, 1, 0}, Gain: stat.Interval{N: 12, Center: 1.02, Low: 0.99, High: 1.05}}}
		},
		"undecided: what the search left": func(r *Report) { r.Outcome = &Outcome{Unconfirmed: true} },
		"no candidate could be":           func(r *Report) { r.Outcome = &Outcome{} },
		"1.22x [0.780, 1.92] the current speed with 1 setting; they keep the constraints, and your current settings break them": func(r *Report) { // not shown to be faster
			r.Space.StartIsCurrent, r.Outcome.Chosen.Gain = false, stat.Interval{N: 6, Center: 1.22, Low: 0.78, High: 1.92}
		},
		"your current settings break them": func(r *Report) { r.Space.StartIsCurrent = false },
	} {
		r := fixture()
		change(r)
		if got := r.answer(); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
		if len(r.next()) == 0 {
			t.Errorf("%s: nothing is said of what to do next", want)
		}
		for _, name := range []string{"text", "markdown", "json"} {
			text(t, r, name)
		}
	}
}

// What the proposal does elsewhere is one line where all keep the limit. What loses, and
// what is open, stands there by its name with its bound.
func TestRobustnessReport(t *testing.T) {
	kept := stat.NonInferiority{N: 6, Measured: true, Center: 1.1, AtLeast: 0.972, AtMost: 1.2, Within: true}
	open := stat.NonInferiority{N: 6, Measured: true, Center: 0.98, AtLeast: 0.931, AtMost: 1.03}
	lost := stat.NonInferiority{N: 6, Measured: true, Center: 0.712, AtLeast: 0.65, AtMost: 0.801, Beyond: true}
	conditions := Conditions()
	r := fixture()
	r.Outcome.Robustness = []Robustness{
		{Condition: conditions[0], Launches: 6, Losses: []stat.NonInferiority{kept, kept}},
		{Condition: conditions[1], Launches: 6, Losses: []stat.NonInferiority{kept, {}}},
	}
	r.Unscaled = []string{"half the clients cannot be tried: the operations have one client"}
	got := strings.Join(strings.Fields(text(t, r, "text")), " ")
	for _, want := range []string{
		"other data and clients: four times the data: 2 of 2 operations shown to keep within 5 % of now (each at least 0.972x); twice the clients: 1 of 2 operations shown to keep within 5 % of now (each at least 0.972x), not compared: write; half the clients cannot be tried: the operations have one client",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %q in it", got, want)
		}
	}
	if strings.Contains(got, "! at ") {
		t.Errorf("got %s\nwant no warning of other data and clients", got)
	}
	none := fixture()
	none.Outcome.Chosen, none.Unscaled = nil, r.Unscaled
	if got := text(t, none, "text"); strings.Contains(got, "half the clients") {
		t.Errorf("got %s\nwant nothing of other clients where nothing is proposed", got)
	}
	r.Outcome.Robustness = []Robustness{
		{Condition: conditions[0], Launches: 6, Losses: []stat.NonInferiority{kept, lost}},
		{Condition: conditions[1], Launches: 6, Losses: []stat.NonInferiority{open, kept}, Refused: "read: its peak memory exceeds --memory 256M"},
		{Condition: conditions[2]},
		{Condition: conditions[3], Failed: "no space left on device"},
	}
	for name, wants := range map[string][]string{
		"text": {
			"! at four times the data write is slower than now: 0.712x of its speed",
			"! at twice the clients the proposal breaks a constraint or fails: read: its peak memory exceeds --memory 256M",
			"four times the data: 1 of 2 operations shown to keep within 5 % of now (each at least 0.972x); twice the clients: 1 of 2 operations shown to keep within 5 % of now (each at least 0.972x), open: read 0.980x, at least 0.931x; a quarter of the data: not measured, as the budget does not pay for it; half the clients: could not be measured: no space left on device",
		},
		"markdown": {"| four times the data | write | 0.712x | 0.650x | 0.801x | slower |", "| twice the clients | read | 0.980x | 0.931x | 1.03x | open |"},
		"html":     {"<h3>other data and clients</h3>", `<td>four times the data</td><td>write</td><td class="n">0.712x</td><td class="n">0.650x</td><td class="n">0.801x</td><td>slower</td>`},
		"json":     {`"condition": "four times the data", "launches": 6, "operations": [ { "name": "read", "ratio": 1.1, "atLeast": 0.972, "atMost": 1.2, "verdict": "within" }`, `"launches": 0, "operations": []`},
	} {
		got := strings.Join(strings.Fields(text(t, r, name)), " ")
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %s\nwant %q in it", name, got, want)
			}
		}
	}
}
