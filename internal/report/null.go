package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"assay/internal/stat"
)

// Null is what comparisons of equal things say about a machine.
type Null struct{ Kinds []NullKind }

// NullKind is what they say for one kind of operation.
type NullKind struct {
	Operation string
	Pairs     int           // comparisons of a thing with itself that have enough launches for a verdict
	Alarms    int           // of these, how many claim a difference
	Rate      stat.Interval // of alarms, with the interval of Clopper and Pearson
	Spread    float64       // standard deviation of log ratios between launches, over all pairs
	Launch    time.Duration // that one launch of a pair takes
}

// NewNull compares the rows of each table two by two, in the order of their
// profiles' names: NAMEa with NAMEb, which are alike.
func NewNull(r *Report) Null {
	kinds := map[string]*NullKind{}
	var order []string
	squares, freedom := map[string]float64{}, map[string]float64{}
	for _, t := range r.Tables {
		name := t.cell().Operation
		if kinds[name] == nil {
			kinds[name] = &NullKind{Operation: name}
			order = append(order, name)
		}
		kind := kinds[name]
		rows := slices.Clone(t.Rows)
		slices.SortFunc(rows, func(a, b *Row) int { return strings.Compare(a.Cell.Profile, b.Cell.Profile) })
		kind.Launch = t.Launch / time.Duration(max(1, len(rows)+len(t.Twins))) * 2
		for i := 0; i+1 < len(rows); i += 2 {
			kind.compare(t, rows[i], rows[i+1], func(s float64, n int) {
				squares[name] += s
				freedom[name] += float64(n)
			})
		}
	}
	var all Null
	for _, name := range order {
		k := kinds[name]
		k.Rate = stat.Share(k.Alarms, k.Pairs)
		k.Spread = math.Sqrt(squares[name] / freedom[name])
		all.Kinds = append(all.Kinds, *k)
	}
	return all
}

// compare adds one pair; spread gets its squared deviations and their degrees
// of freedom.
func (k *NullKind) compare(t *Table, a, b *Row, spread func(squares float64, freedom int)) {
	if !a.comparable() || !b.comparable() {
		return
	}
	x, y := pair(a, b, t.Primary.Name)
	rule := stat.Rule{Margin: t.Margin, Least: t.least}
	c, err := rule.Compare(x, y, t.Primary.HigherBetter)
	if err != nil || len(x) < stat.MinLaunches {
		return
	}
	k.Pairs++
	if c.Ratio.Low > 1 || c.Ratio.High < 1 {
		k.Alarms++
	}
	ratios := make([]float64, len(x))
	for i := range x {
		ratios[i] = x[i] / y[i]
	}
	if sd := stat.Spread(ratios); finite(sd) {
		spread(sd*sd*float64(len(x)-1), len(x)-1)
	}
}

// Smallest is the smallest difference that a comparison of two shows within a
// time, in 80 % of runs; false where the time is too short for a verdict.
func (k NullKind) Smallest(within time.Duration) (difference float64, launches int, ok bool) {
	if k.Launch <= 0 {
		return 0, 0, false
	}
	launches = int(within / k.Launch)
	difference, ok = stat.SmallestDifference(k.Spread, launches)
	return difference, launches, ok
}

// Write prints it for people.
func (n Null) Write(w io.Writer) error {
	var d document
	d.add(heading, "This machine against itself")
	g := &grid{header: []string{"operation", "comparisons", "claimed a difference", "spread between launches", "shown in 1 minute", "shown in 10 minutes"},
		right: []bool{false, true, true, true, true, true}}
	pairs, alarms := 0, 0
	for _, k := range n.Kinds {
		pairs, alarms = pairs+k.Pairs, alarms+k.Alarms
		g.rows = append(g.rows, []string{clean(k.Operation), fmt.Sprint(k.Pairs), fmt.Sprint(k.Alarms), percent(k.Spread),
			k.shown(time.Minute), k.shown(10 * time.Minute)})
	}
	rate := stat.Share(alarms, pairs)
	d.add(paragraph, "%d comparisons of a thing with itself; %d claimed a difference: %s [%s, %s]. By intervals of 95 %% it should be about 5 %%.",
		pairs, alarms, percent(rate.Center), percent(rate.Low), percent(rate.High))
	d = append(d, block{kind: table, grid: g})
	d.add(footnote, "Shown: the smallest difference between two targets that is found in 80 %% of runs of that length, for each launch takes what it took here.")
	return writeText(w, d)
}

func (k NullKind) shown(within time.Duration) string {
	difference, launches, ok := k.Smallest(within)
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", percent(difference), plural(launches, "launch"))
}

func percent(share float64) string {
	if !finite(share) {
		return "-"
	}
	return fmt.Sprintf("%.2g %%", 100*share)
}
