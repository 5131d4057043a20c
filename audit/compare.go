package audit

import (
	"fmt"

	"assay"
	"assay/published"
	"assay/report"
	"assay/stat"
)

// about is the factor within which a stated size counts as reached: sources
// print "about 3x", from other machines.
const about = 1.5

// compare compares two rows, by launches that both have where there are
// enough of them.
func compare(rule stat.Rule, a, b *report.Row, metric assay.Metric) (c stat.Comparison, paired bool, err error) {
	x, y := pair(a, b, metric.Name)
	if len(x) >= stat.MinLaunches {
		c, err = rule.Compare(x, y, metric.HigherBetter)
		return c, true, err
	}
	c, err = rule.CompareUnpaired(figures(a, metric.Name), figures(b, metric.Name), metric.HigherBetter)
	return c, false, err
}

// launch is what trials of the same launch have in common.
type launch struct {
	group  string
	number int
}

// pair returns the figures of the launches that both rows have.
func pair(a, b *report.Row, metric string) (x, y []float64) {
	theirs := map[launch]float64{}
	for _, t := range b.Counted() {
		if v, ok := figure(t, metric); ok {
			theirs[launch{t.Group, t.Launch}] = v
		}
	}
	for _, t := range a.Counted() {
		v, ok := figure(t, metric)
		if partner, both := theirs[launch{t.Group, t.Launch}]; ok && both {
			x, y = append(x, v), append(y, partner)
		}
	}
	return x, y
}

func figures(row *report.Row, metric string) []float64 {
	var all []float64
	for _, t := range row.Counted() {
		if v, ok := figure(t, metric); ok {
			all = append(all, v)
		}
	}
	return all
}

// figure is a trial's figure unless the trial did not end well.
func figure(t *assay.Trial, metric string) (float64, bool) {
	v, ok := t.Figures[metric]
	return v, ok && t.Outcome == assay.OK
}

// expect holds a comparison against what the claim expects of it.
func expect(p published.Comparison, here stat.Comparison, higherBetter bool) (Verdict, string) {
	if here.Verdict == stat.Undecided {
		return Unknown, "undecided: " + here.Reason
	}
	is := here.Verdict
	holds := map[published.Expectation]bool{
		published.Faster:    is == stat.Faster,
		published.Slower:    is == stat.Slower,
		published.Alike:     is == stat.Equivalent,
		published.NotFaster: is != stat.Faster,
	}[p.Expect]
	if !holds {
		return Fails, fmt.Sprintf("it is %s", is)
	}
	if p.Size == 0 || reaches(here.Ratio, p, higherBetter) {
		return Holds, ""
	}
	return Fails, fmt.Sprintf("it is %s, but not by about %.3gx", is, p.Size)
}

// reaches tells whether the interval and the stated size, give or take the
// factor about, overlap.
func reaches(ratio stat.Interval, p published.Comparison, higherBetter bool) bool {
	low, high := ratio.Low, ratio.High
	if (p.Expect == published.Faster) != higherBetter {
		low, high = 1/high, 1/low
	}
	return high >= p.Size/about && low <= p.Size*about
}
