package gate

import (
	"math"
	"slices"
	"testing"

	"assay/internal/stat"
)

// Plans of one query, of which a version makes an index for the subquery and another reads
// the whole table for each row.
const (
	perRow = "SCAN a USING INDEX a_x\nCORRELATED SCALAR SUBQUERY 1\nSCAN b\nUSE TEMP B-TREE FOR ORDER BY"
	once   = "SCAN a USING INDEX a_x\nCORRELATED SCALAR SUBQUERY 1\nSEARCH b USING AUTOMATIC COVERING INDEX (x=?)\nUSE TEMP B-TREE FOR ORDER BY"
)

func interval(center float64) stat.Interval {
	return stat.Interval{N: 6, Center: center, Low: center * 0.9, High: center * 1.1}
}

// A plan is worse where it reads more, unless the figures show the opposite: a scan for each
// row is more than one index. Only what differs is told, beside the ratio.
func TestQueryPlan(t *testing.T) {
	unknown, single := stat.Interval{}, stat.Interval{N: 1, Center: 0.002, Low: math.NaN(), High: math.NaN()}
	for name, c := range map[string]struct {
		base, head string
		cost       stat.Interval
		worse      bool
		want       string
	}{
		"an automatic index appears":       {perRow, once, unknown, false, "the query plan changed: SCAN b -> SEARCH b USING AUTOMATIC COVERING INDEX (x=?)"},
		"it appears and is faster":         {perRow, once, interval(0.0022), false, "the query plan changed: SCAN b -> SEARCH b USING AUTOMATIC COVERING INDEX (x=?); time of the head / time of the base: 0.00220x [0.00198, 0.00242]"},
		"it disappears":                    {once, perRow, unknown, true, "the query plan is worse: SEARCH b USING AUTOMATIC COVERING INDEX (x=?) -> SCAN b"},
		"it disappears and is slower":      {once, perRow, interval(450), true, "the query plan is worse: SEARCH b USING AUTOMATIC COVERING INDEX (x=?) -> SCAN b; time of the head / time of the base: 450x [405, 495]"},
		"it takes the place of an index":   {"SCAN a\nSEARCH b USING INDEX b_x (x=?)", "SCAN a\nSEARCH b USING AUTOMATIC COVERING INDEX (x=?)", unknown, true, "the query plan lost b_x: SEARCH b USING INDEX b_x (x=?) -> SEARCH b USING AUTOMATIC COVERING INDEX (x=?)"},
		"the same, but faster":             {"SCAN a\nSEARCH b USING INDEX b_x (x=?)", "SCAN a\nSEARCH b USING AUTOMATIC COVERING INDEX (x=?)", interval(0.5), false, "the query plan changed: SEARCH b USING INDEX b_x (x=?) -> SEARCH b USING AUTOMATIC COVERING INDEX (x=?); time of the head / time of the base: 0.500x [0.450, 0.550]"},
		"the same, in one launch":          {"SEARCH b USING INDEX b_x (x=?)", "SCAN b", single, false, "the query plan changed: SEARCH b USING INDEX b_x (x=?) -> SCAN b; time of the head / time of the base: 0.00200x [?, ?]"},
		"an index takes its place":         {"SCAN a\nSEARCH b USING AUTOMATIC COVERING INDEX (x=?)", "SCAN a\nSEARCH b USING INDEX b_x (x=?)", unknown, false, "the query plan changed: SEARCH b USING AUTOMATIC COVERING INDEX (x=?) -> SEARCH b USING INDEX b_x (x=?)"},
		"a scan moves into a subquery":     {"SCAN a\nSCALAR SUBQUERY 1\nSCAN b", "SCAN a\nCORRELATED SCALAR SUBQUERY 1\nSCAN b", unknown, true, "the query plan is worse: SCALAR SUBQUERY 1 -> CORRELATED SCALAR SUBQUERY 1"},
		"tables are read in another order": {"SCAN z\nSCAN a\nSCAN b", "SCAN z\nSCAN b\nSCAN a", unknown, false, "the query plan changed: SCAN a; SCAN b -> SCAN b; SCAN a"},
		"drawings":                         {"│ SEQ_SCAN │", "│ SEQ_SCAN ││ HASH_JOIN │", unknown, false, "the query plan changed: assay report --format json has both"},
		"a line less":                      {"SCAN a\nUSE TEMP B-TREE FOR ORDER BY", "SCAN a", unknown, false, "the query plan changed: USE TEMP B-TREE FOR ORDER BY -> nothing"},
	} {
		cell := Cell{Cost: c.cost}
		cell.queryPlan(c.base, c.head)
		got := slices.Clone(cell.Notes)
		for _, f := range cell.Suspicions {
			got = append(got, f.Message)
		}
		if !slices.Equal(got, []string{c.want}) || (len(cell.Suspicions) == 1) != c.worse {
			t.Errorf("%s: got %q and %d suspicions, want %q and worse %t", name, got, len(cell.Suspicions), c.want, c.worse)
		}
	}
}

// An upgrade that is faster passes, whatever its plan is; the other direction fails.
func TestQueryPlanBesideTheRatio(t *testing.T) {
	planned := func(base, head string, times float64) State {
		trials := both("read", times, nil)
		for i := range trials {
			trials[i].QueryPlan = head
			if trials[i].Cell.DriverVersion == "v1.0.0" {
				trials[i].QueryPlan = base
			}
		}
		m := judged(t, "first", trials)
		cell := (&Upgrade{First: m, Second: m}).Cells()[0]
		if len(cell.Notes)+len(cell.Suspicions) == 0 {
			t.Errorf("got nothing about the plan of %+v", cell)
		}
		return cell.State
	}
	if got := planned("SEARCH b USING INDEX b_x (x=?)", "SCAN b", 1.0/450); got != Faster {
		t.Errorf("450 times as fast: got %s, want %s", got, Faster)
	}
	if got := planned(once, perRow, 450); got != Regressed {
		t.Errorf("450 times as slow: got %s, want %s", got, Regressed)
	}
}
