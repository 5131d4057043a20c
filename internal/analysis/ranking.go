package analysis

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/stat"
)

// DefaultMargin is for runs that do not say theirs.
const DefaultMargin = 0.02

// Ranking is the order of a table's ok rows; where the operation changes
// data, of those within one class of durability.
type Ranking struct {
	Durability assay.Durability
	Rows       []*Row // best first
	Table      *Table
}

// repeated is the row of a cell; nil where there is none.
func repeated(rows []*Row, cell assay.Cell) *Row {
	return first(rows, func(r *Row) bool { return r.Cell.Key() == cell.Key() })
}

// first is the first of some that is so; nil where none is.
func first[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// conclude takes over what the comparisons of rows and of factors say: ratios and
// verdicts, then the doubts about them, and the ranks and the order of rows.
func (t *Table) conclude(judged verdicts) {
	t.contest.judged, t.factors.judged = judged.rows, judged.factors
	t.Noise, t.Systematic = judged.rows.Noise, judged.rows.Systematic
	for _, row := range slices.Concat(t.Rows, t.Twins) {
		t.compareWithReference(row, t.contest)
	}
	for _, row := range t.Factors {
		t.compareWithReference(row, t.factors)
	}
	t.compareWithFloor()
	t.warn()
	for _, ranking := range t.Rankings {
		ranking.order()
	}
	t.sortRows()
}

// primary returns what the rows of a table are compared by. A row that failed in some launch
// has no figures and no say.
func primary(rows []*Row, alike assay.Cell) assay.Metric {
	var cells [][]*Trial
	for _, row := range rows {
		if len(row.Figures) > 0 {
			cells = append(cells, row.Counted())
		}
	}
	metric, _ := assay.MetricByName(assay.Primary(alike, cells))
	return metric
}

// mode returns how the row's first measured trial was measured.
func (r *Row) mode() assay.Mode {
	for _, t := range r.Trials {
		if t.Mode != "" {
			return t.Mode
		}
	}
	return ""
}

// Comparable reports whether a row's figures may be set against others.
func (r *Row) Comparable() bool { return r.Outcome == assay.OK && !r.BusyByDefault }

// compared reports whether the row has another one to be compared with, and both have
// figures that may be.
func (r *Row) compared() bool {
	return r.Reference != nil && r.Reference != r && r.Comparable() && r.Reference.Comparable()
}

// reciprocals are the metrics that are one figure said in two ways.
var reciprocals = map[string]string{assay.NsPerOp: assay.OpPerS, assay.OpPerS: assay.NsPerOp}

// compareWithReference gives each figure of a row its ratio: that of the primary figure is
// judged with the table, and its reciprocal has the same one.
func (t *Table) compareWithReference(row *Row, c *contest) {
	if !row.compared() {
		return
	}
	ref := row.Reference
	comparison, judged := c.compare(row, ref)
	judged = judged && comparison.Ratio.N > 0
	for i, f := range row.Figures {
		switch {
		case f.Metric.Name == t.Primary.Name && judged:
			row.Figures[i].Comparison, row.Figures[i].Ratio = &comparison, &comparison.Ratio
		case f.Metric.Name == t.Primary.Name:
		case f.Metric.Name == reciprocals[t.Primary.Name] && judged:
			row.Figures[i].Ratio = new(comparison.Ratio.Inverse())
		default:
			if p := row.pairs(ref, f.Metric.Name); p.N > 0 {
				row.Figures[i].Ratio = new(stat.Rule{Planned: t.Planned}.Ratio(p))
			}
		}
	}
}

func (r *Row) promise() assay.Promise {
	return assay.Promise{Durability: r.Durability, Settings: r.Settings}
}

// Unequal returns how the promises of two rows about durability differ, the other's first; nil
// where they do not, or where one of them only reads: it promises nothing.
func (r *Row) Unequal(other *Row) *UnlikePromises {
	if !r.Table.Changes || !other.Table.Changes || !r.promise().Unequal(other.promise()) {
		return nil
	}
	unlike := &UnlikePromises{Names: r.names(other), Classes: [2]assay.Durability{other.Durability, r.Durability}}
	if r.Durability == other.Durability {
		unlike.Syncs = [2]bool{other.syncs(), r.syncs()}
	}
	return unlike
}

// unsynced puts the rows that do not sync behind those of their class that do.
func unsynced(r *Row) int {
	if r.Table.Changes && !r.syncs() {
		return 1
	}
	return 0
}

func (r *Row) syncs() bool { return r.promise().Syncs() }

// Synced is by which setting two rows of one class sync otherwise, the other's first; nil
// where they do not.
func (r *Row) Synced(other *Row) *UnlikeSyncs {
	setting, have := other.promise().Synced(r.promise())
	if setting == "" || !r.Table.Changes || !other.Table.Changes {
		return nil
	}
	unlike := &UnlikeSyncs{Setting: setting, Names: r.names(other), Values: have}
	own, known := r.Figure(assay.SyncsPerOp)
	if f, also := other.Figure(assay.SyncsPerOp); known && also {
		unlike.PerOperation = [2]float64{f.Interval.Center, own.Interval.Center}
	}
	return unlike
}

// UnlikeSyncs returns how those sync otherwise that a target with its profile is ranked with, each
// once.
func (r *Result) UnlikeSyncs(use *Row) (all []UnlikeSyncs) {
	seen := map[string]bool{}
	for _, t := range r.Tables {
		for _, k := range t.Rankings {
			i := slices.IndexFunc(k.Rows, func(row *Row) bool { return row.Name() == use.Name() })
			for _, other := range k.Rows {
				if i < 0 || seen[other.Name()] {
					continue
				}
				if unlike := k.Rows[i].Synced(other); unlike != nil {
					seen[other.Name()], all = true, append(all, *unlike)
				}
			}
		}
	}
	return all
}

// names tell two rows apart, the other first.
func (r *Row) names(other *Row) [2]string {
	if r.Driver == other.Driver {
		return [2]string{other.Name(), r.Name()}
	}
	return [2]string{other.Driver, r.Driver}
}

// rankings are the rows that may be ranked, by what they promise.
func (t *Table) rankings() []*Ranking {
	var all []*Ranking
	for _, d := range slices.Backward(assay.Durabilities) {
		known := !t.Changes || d != assay.DurabilityUnknown
		var rows []*Row
		for _, row := range t.Rows {
			if f, ok := row.Figure(t.Primary.Name); ok && f.Interval.N > 0 && row.Comparable() && !row.IsFloor && row.Durability == d && known {
				rows = append(rows, row)
			}
		}
		slices.SortStableFunc(rows, func(a, b *Row) int { return unsynced(a) - unsynced(b) })
		for len(rows) > 0 {
			unlike := func(row *Row) bool { return rows[0].Unequal(row) != nil }
			ranking := &Ranking{Durability: d, Table: t, Rows: slices.DeleteFunc(slices.Clone(rows), unlike)}
			all = append(all, ranking)
			rows = slices.DeleteFunc(slices.Clone(rows), func(row *Row) bool { return !unlike(row) })
		}
	}
	return all
}

// Promise names what the rows promise, where the table has several classes, or several
// rankings of one; empty elsewhere.
func (k *Ranking) Promise() string {
	switch alike := slices.ContainsFunc(k.Table.Rankings, func(other *Ranking) bool { return other != k && other.Durability == k.Durability }); {
	case alike && k.Rows[0].syncs():
		return string(k.Durability) + " with syncs"
	case alike:
		return string(k.Durability) + " without syncs"
	case len(k.Table.Rankings) > 1:
		return string(k.Durability)
	}
	return ""
}

// order ranks the rows by direct comparison of each two.
func (k *Ranking) order() {
	ranks := stat.Rank(len(k.Rows), func(i, j int) bool { return k.Compare(k.Rows[i], k.Rows[j]).Verdict == stat.Faster })
	for i, row := range k.Rows {
		row.Rank = ranks[i]
	}
	slices.SortFunc(k.Rows, func(a, b *Row) int { return byRank(a, b, k.Table.Primary) })
}

// Compare compares two rows of the ranking.
func (k *Ranking) Compare(a, b *Row) Comparison {
	c, _ := k.Table.contest.compare(a, b)
	return c
}

// sortRows puts ranked rows first, in the order of their rankings.
func (t *Table) sortRows() {
	slices.SortFunc(t.Rows, func(a, b *Row) int {
		return cmp.Or(
			cmp.Compare(min(1, b.Rank), min(1, a.Rank)),
			slices.Index(assay.Durabilities, b.Durability)-slices.Index(assay.Durabilities, a.Durability),
			unsynced(a)-unsynced(b),
			byRank(a, b, t.Primary))
	})
}

// byRank orders rows by rank, then by their figures, then by name.
func byRank(a, b *Row, primary assay.Metric) int {
	return cmp.Or(a.Rank-b.Rank, byFigure(a, b, primary))
}

// byFigure orders rows by their figures, the best first, then by name.
func byFigure(a, b *Row, primary assay.Metric) int {
	x, _ := a.Figure(primary.Name)
	y, _ := b.Figure(primary.Name)
	order := cmp.Compare(x.Interval.Center, y.Interval.Center)
	if primary.HigherBetter {
		order = -order
	}
	return cmp.Or(order, strings.Compare(a.Name(), b.Name()), strings.Compare(a.Cell.Key(), b.Cell.Key()))
}

// pair returns the figures of launches that both rows have, paired by index.
// Launches of one link layout share what it does to them: of those, the
// geometric means are one pair, and the pairs are joined.
func pair(row, other *Row, metric string) (figures, partners []float64, joined bool) {
	theirs := Paired(other, metric)
	places := map[layout]int{}
	var sizes []float64
	for place, t := range Paired(row, metric) {
		partner := ofLaunch(theirs, t.launch(), place)
		if partner == nil {
			continue
		}
		key := layout{t.Run, t.Group, max(t.Layout, partner.Layout)}
		i, seen := places[key]
		if joined = joined || seen && key.number > 0; !seen || key.number == 0 {
			i = len(figures)
			places[key] = i
			figures, partners, sizes = append(figures, 1), append(partners, 1), append(sizes, 0)
		}
		sizes[i]++
		figures[i] = joinMean(figures[i], t.Figures.Value(metric), sizes[i])
		partners[i] = joinMean(partners[i], partner.Figures.Value(metric), sizes[i])
	}
	return figures, partners, joined
}

// ofLaunch is the trial of a launch; nil where there is none. All trials are in the order of
// launches, so that it mostly is at the place of the one that it is sought for.
func ofLaunch(trials []*Trial, l launch, place int) *Trial {
	if place < len(trials) && trials[place].launch() == l {
		return trials[place]
	}
	return first(trials, func(t *Trial) bool { return t.launch() == l })
}

// joinMean is the geometric mean of n values, given that of all but the last.
// The first is kept as it is, whatever it is.
func joinMean(mean, value, n float64) float64 {
	if n == 1 {
		return value
	}
	return math.Pow(mean, (n-1)/n) * math.Pow(value, 1/n)
}

// layout identifies the launches whose programs are linked alike.
type layout struct {
	run    string
	group  string
	number int // 0: there is one only, and each launch stands for itself
}

// launch identifies the trials that are paired.
type launch struct {
	run    string
	group  string
	number int
}

func (t *Trial) launch() launch { return launch{t.Run, t.Group, t.Launch} }

// Paired returns the trials that can have a partner.
func Paired(row *Row, metric string) []*Trial {
	return slices.DeleteFunc(row.Counted(), func(t *Trial) bool {
		v, has := t.Figures.Of(metric)
		return t.Outcome != assay.OK || !has || !Finite(v)
	})
}

// Finite reports whether v is a number that can be printed and counted.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Leaders returns the rows that share the best rank. Where results go in a
// circle nobody has rank 1, and the whole circle shares another.
func (k *Ranking) Leaders() []*Row {
	n := 0
	for n < len(k.Rows) && k.Rows[n].Rank == k.Rows[0].Rank {
		n++
	}
	return k.Rows[:n]
}

// Equivalent splits rows into the first with those of which each two are
// equivalent, and the others.
func (k *Ranking) Equivalent(rows []*Row) (equal, open []*Row) {
	for _, row := range rows {
		differs := func(other *Row) bool { return k.Compare(row, other).Verdict != stat.Equivalent }
		if slices.ContainsFunc(equal, differs) {
			open = append(open, row)
		} else {
			equal = append(equal, row)
		}
	}
	return equal, open
}
