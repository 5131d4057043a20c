package audit

import (
	"assay"
	"assay/internal/analysis"
	"assay/internal/stat"
	"assay/published"
)

// cells are the two of a comparison in the runs of one age.
type cells struct {
	report *analysis.Result
	a, b   []*analysis.Row // one each, where the comparison is of two cells
	age    int
	// looks is how often runs of greater ages looked at the two.
	looks int
	// differs is what their condition has that the source's has not.
	differs []Difference
}

// choose takes the newest runs that have most of a comparison, of those whose condition differs
// least from the source's: what was measured anew of other cells does not undo what an earlier
// assay measured of these. report is nil where there are no runs.
func (f *Finding) choose(c published.Comparison, runs Runs) (cells, error) {
	var chosen cells
	for age := 0; ; age++ {
		r, err := runs(f.Claim.Plan, age)
		if err != nil || r == nil {
			return chosen, err
		}
		found := cells{report: r, age: age, a: f.find(r, c.A), b: f.find(r, c.B)}
		found.differs = f.differences(found)
		switch {
		case chosen.report == nil || found.better(chosen):
			chosen = found
		case found.worth() > 0 && len(found.differs) == len(chosen.differs) && len(found.a[0].Counted()) > 0 && len(found.b[0].Counted()) > 0:
			chosen.looks += found.a[0].Looks(found.b[0])
		}
	}
}

// better reports whether older runs are to be preferred to newer ones.
func (c cells) better(newer cells) bool {
	switch {
	case c.worth() == 0 || newer.worth() == 0:
		return c.worth() > newer.worth()
	case len(c.differs) != len(newer.differs):
		return len(c.differs) < len(newer.differs)
	}
	return c.worth() > newer.worth()
}

// worth returns how much runs have of a comparison: more where both cells have as many launches
// as are fixed beforehand, and most where these are of a common run; 0 where a cell is not there.
func (c cells) worth() int {
	switch {
	case len(c.a) != 1 || len(c.b) != 1:
		return 0
	case !enough(c.a[0]) || !enough(c.b[0]):
		return 1
	case outcome(c.a[0]) == assay.OK && outcome(c.b[0]) == assay.OK && !c.a[0].InRunOf(c.b[0]):
		return 2
	}
	return 3
}

// enough reports whether a row has as many launches as are fixed beforehand, or ended in a way
// that more launches do not change.
func enough(row *analysis.Row) bool {
	if outcome(row) == assay.OK {
		return len(row.Counted()) >= stat.MinLaunches
	}
	return row.Outcome != assay.NotRun
}
