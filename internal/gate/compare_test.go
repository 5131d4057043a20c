package gate

import (
	"errors"
	"math"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/stat"
)

// one is a comparison by itself of eight launches: the ratio with a standard deviation.
func one(ratio, sd float64, higherBetter bool) stat.Comparison {
	return stat.Rule{Margin: 0.02}.JudgeOne(stat.Pairs{N: 8, Mean: math.Log(ratio), SD: sd}, stat.Prior{}, higherBetter)
}

// oneOfMany is the same among twenty others, which are alike and spread as much.
func oneOfMany(ratio, sd float64) stat.Comparison {
	table := stat.Table{Pairs: [][]stat.Pairs{nil}}
	for i := 1; i <= 21; i++ {
		pairs := make([]stat.Pairs, i)
		for j := range pairs {
			pairs[j] = stat.Pairs{N: 8, SD: sd}
			if i == 1 || j == 1 {
				pairs[j].Mean = math.Log(ratio)
			}
		}
		table.Pairs = append(table.Pairs, pairs)
		table.Tests = append(table.Tests, stat.Test{A: i, Baseline: true})
	}
	return stat.Rule{Margin: 0.02}.Judge([]stat.Table{table})[0].Comparisons[0]
}

// line is what is judged of a comparison of launches.
func line(c stat.Comparison, metric assay.Metric, basis analysis.Basis) analysis.VersusLine {
	return analysis.VersusLine{Metric: metric, Comparison: analysis.Comparison{Comparison: c}, Basis: basis}
}

// What a comparison says of the head: throughput is turned round, only launches that both
// share count, and what is one of many comparisons is suspected, and not decided.
func TestCompare(t *testing.T) {
	time, throughput := assay.Metric{Name: assay.NsPerOp}, assay.Metric{Name: "op/s", HigherBetter: true}
	many, fast := oneOfMany(1.06, 0.05), oneOfMany(1/1.06, 0.05)
	if many.Reason != stat.TooMany || fast.Reason != stat.TooMany {
		t.Fatalf("got the reasons %q and %q of one of many, want %q", many.Reason, fast.Reason, stat.TooMany)
	}
	for _, c := range []struct {
		name                       string
		line                       analysis.VersusLine
		state                      State
		suspected, decided, costly bool
	}{
		{"slower", line(one(1.1, 0.01, false), time, analysis.Joint), "", true, true, true},
		{"slower, of many", line(many, time, analysis.Joint), "", true, false, true},
		{"faster, of many", line(fast, time, analysis.Joint), Tolerated, false, false, false},
		{"lower throughput", line(one(0.9, 0.01, true), throughput, analysis.Joint), "", true, true, true},
		{"higher throughput", line(one(1.1, 0.01, true), throughput, analysis.Joint), Faster, false, false, false},
		{"of other launches", line(one(1.1, 0.01, false), time, analysis.InTurn), Undecided, false, false, false},
	} {
		var got Cell
		got.compare(c.line, rule)
		if got.State != c.state || (len(got.Suspicions) == 1) != c.suspected || got.decided != c.decided || (got.Cost.Center > 1) != c.costly {
			t.Errorf("%s: got %+v, want the state %q, suspected %t, decided %t, a cost above 1 %t", c.name, got, c.state, c.suspected, c.decided, c.costly)
		}
	}
	if suspicious(analysis.Comparison{Comparison: fast}, fast.Ratio) {
		t.Errorf("got that %+v, which is faster, is suspicious", fast.Ratio)
	}
}

// A second run that finds the head slower, but not among all of its comparisons, confirms
// nothing.
func TestManyComparisonsConfirmNothing(t *testing.T) {
	measured := func(c stat.Comparison) *Measurement {
		cell := Cell{State: Regressed, key: "read"}
		cell.compare(line(c, assay.Metric{Name: assay.NsPerOp}, analysis.Joint), rule)
		return &Measurement{Cells: []Cell{cell}}
	}
	for name, c := range map[string]struct {
		second stat.Comparison
		want   State
		reason string
	}{
		"slower":          {one(1.06, 0.01, false), Regressed, ""},
		"slower, of many": {oneOfMany(1.06, 0.05), Undecided, "in the second run"},
	} {
		u := &Upgrade{First: measured(oneOfMany(1.06, 0.05)), Second: measured(c.second)}
		got := u.Cells()[0]
		if got.State != c.want || !strings.HasSuffix(got.Reason, c.reason) || len(u.Findings(rule)) > 0 != (c.want == Regressed) {
			t.Errorf("%s: got %+v and the findings %+v, want it %s", name, got, u.Findings(rule), c.want)
		}
	}
}

// The noise is that of the loudest table, wherever it stands.
func TestNoise(t *testing.T) {
	for _, loud := range []string{"a", "b", "c"} {
		var all [][]assay.Trial
		for _, operation := range []string{"a", "b", "c"} {
			base := cell(operation, "v1.0.0", "web")
			ns := 10010.0
			if operation == loud {
				ns = 10500
			}
			all = append(all, side(base, 10000, 1, nil), twin(base, ns), side(cell(operation, "v1.1.0", "web"), 10000, 3, nil))
		}
		if got := judged(t, "first", all...).Noise; math.Abs(got-0.05) > 0.005 {
			t.Errorf("%s is loud: got the noise %.4f, want about 0.05", loud, got)
		}
	}
}

// What is shown to be slower, by an interval that reaches beyond what is allowed, is undecided.
func TestSlowerWithinTheCentre(t *testing.T) {
	comparison := one(1.018, 0.012, false)
	var got Cell
	got.compare(line(comparison, assay.Metric{Name: assay.NsPerOp}, analysis.Joint), rule)
	if comparison.Verdict != stat.Slower || got.State != Undecided || len(got.Suspicions) > 0 {
		t.Errorf("%+v: got %+v, want it slower, and undecided whether by more than is allowed", comparison, got)
	}
}

// A suspicion whose base ends otherwise in the second run is undecided, and a version with an
// undecided cell is on neither side of a bisection.
func TestSuspicionsStay(t *testing.T) {
	first := Cell{key: "k", Operation: "read", State: Regressed, Suspicions: []Finding{{Slower, "read", "1.3x slower"}}}
	u := Upgrade{First: &Measurement{Cells: []Cell{first}}, Second: &Measurement{Cells: []Cell{{key: "k", Operation: "read", State: NotCompared, Reason: "v1 is timed-out"}}}}
	if got := u.Cells()[0]; got.State != Undecided || !strings.Contains(got.Reason, "1.3x slower") {
		t.Errorf("got %+v, want it undecided, with what was suspected", got)
	}
	u.First.Cells = append(u.First.Cells, Cell{Cost: stat.Interval{N: 3, Low: 1, Center: 1, High: 1}})
	if _, err := u.worse(rule); !errors.As(err, new(undecidedError)) {
		t.Errorf("a version with an undecided cell: got %v, want that it is undecided", err)
	}
	u.First.Cells = u.First.Cells[1:]
	if worse, err := u.worse(rule); worse != "" || err != nil {
		t.Errorf("nothing is undecided: got %q, %v", worse, err)
	}
}
