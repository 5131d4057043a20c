package stat

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// Prior is a variance of log ratios that other comparisons of the same run
// suggest, and the degrees of freedom that this is worth. The zero value
// suggests nothing.
type Prior struct{ Variance, Freedom float64 }

// The variances of comparisons differ at least this much, as variances of their
// logarithms, whatever a run seems to say: a few comparisons cannot show that
// they are all alike. The bounds are given as the degrees of freedom that can be
// borrowed at most, from the same table and from the others; make calibrate shows
// that intervals then hold.
const (
	maxFromTable = 16.0
	maxFromRun   = 4.0
)

// borrowing holds what the tables of a run that were measured in the same mode say
// about each other's variances: an empirical Bayes estimate in two levels (Smyth
// 2004). The variances of a table's comparisons scatter about the table's, and
// the tables' about that of the run, like scaled inverse chi-squares. A table counts as
// one for each kind of its pairs.
type borrowing struct {
	run    Prior    // the variance of a table, from all tables
	within float64  // variance of the log variances of one table's comparisons
	shrunk sync.Map // what shrink computed
}

// borrow estimates how variances scatter, from all comparisons of the tables.
func borrow(tables []spread) *borrowing {
	var within, weight float64
	var logs, noise []float64
	for _, t := range tables {
		if t.freedom <= 0 || !(t.variance > 0) {
			continue
		}
		logs = append(logs, unbiasedLog(t.variance, t.freedom))
		noise = append(noise, trigamma(t.freedom/2))
		within += t.weight * t.scatter
		weight += t.weight
	}
	b := &borrowing{within: trigamma(maxFromTable / 2)}
	if weight > 0 {
		b.within = max(b.within, within/weight)
	}
	if len(logs) < 2 {
		return b
	}
	s := summarize(logs)
	between := max(trigamma(maxFromRun/2), s.sd*s.sd-summarize(noise).mean)
	b.run.Freedom = 2 * inverseTrigamma(between*(1+1/float64(s.n))) // the mean of so few is uncertain, too
	b.run.Variance = math.Exp(s.mean - unbiasedLog(1, b.run.Freedom))
	return b
}

// prior returns what a comparison of a table borrows: from the other comparisons of
// its kind in its table, and from other tables. What the comparison says of itself is not in
// it, but for its small part in the variance of the run.
func (b *borrowing) prior(table spread, own Pairs, uncertain float64) Prior {
	p := b.run
	freedom := table.freedom
	if own.SD > 0 { // as newSpread
		freedom -= own.freedom()
	}
	if freedom > 0 {
		// What is orthogonal to the comparison in the table's blocks.
		rest := max(0, table.freedom*table.variance-own.freedom()*own.variance()) / freedom
		p.Variance = (p.Freedom*p.Variance + freedom*rest) / (p.Freedom + freedom)
		p.Freedom += freedom
	}
	if !(p.Freedom > 0) || !(p.Variance > 0) {
		return Prior{}
	}
	p.Freedom = b.shrink(p.Freedom, uncertain)
	return p
}

// shrink takes from degrees of freedom what the comparisons of one table differ by, and
// how uncertain the factor of the members is. The comparisons of a table ask for the same
// few again and again.
func (b *borrowing) shrink(freedom, uncertain float64) float64 {
	key := [2]float64{freedom, uncertain}
	if known, is := b.shrunk.Load(key); is {
		return known.(float64)
	}
	left := 2 * inverseTrigamma(b.within+uncertain+trigamma(freedom/2))
	b.shrunk.Store(key, left)
	return left
}

// spread holds what the pairs of one kind of a table say about the variance between
// launches. Of members that all have the same launches, the mean variance over
// all pairs is twice the residual variance of an analysis of variance by members
// and blocks, which has (members - 1) (launches - 1) degrees of freedom.
type spread struct {
	variance, freedom float64
	// scatter is the variance of the log variances of its comparisons beyond what
	// few launches make them differ by, and weight what that counts.
	scatter, weight float64
}

func newSpread(t Table, kind string) spread {
	var squares, freedom, noise float64
	var logs []float64
	for _, row := range t.Pairs {
		for _, p := range row {
			if p.N < 2 || !(p.SD > 0) || p.Kind != kind { // of figures that do not vary nothing is to be learnt
				continue
			}
			squares += p.freedom() * p.variance()
			freedom += p.freedom()
			logs = append(logs, unbiasedLog(p.variance(), p.freedom()))
			noise += trigamma(p.freedom() / 2)
		}
	}
	if len(logs) == 0 {
		return spread{}
	}
	pairs, contrasts := float64(len(logs)), float64(t.contrasts(kind))
	s := spread{variance: squares / freedom, freedom: freedom / pairs * contrasts}
	if len(logs) > 1 {
		// Of the others, so many share a member with a pair and are correlated.
		const correlation = 0.25
		sharing := min(1, 2*(contrasts-1)/(pairs-1))
		deviation := summarize(logs).sd
		s.scatter, s.weight = deviation*deviation-noise/pairs*(1-correlation*sharing), contrasts
	}
	return s
}

// contrasts is the number of independent comparisons: one less than the members
// of each set that is connected by comparisons.
func (t Table) contrasts(kind string) int {
	root := make([]int, len(t.Pairs))
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	contrasts := 0
	for i, row := range t.Pairs {
		for j, p := range row {
			if a, b := find(i), find(j); p.N > 1 && p.SD > 0 && p.Kind == kind && a != b {
				root[a] = b
				contrasts++
			}
		}
	}
	return contrasts
}

// unbiasedLog is the logarithm of a variance, without the bias that it has from
// few degrees of freedom.
func unbiasedLog(variance, freedom float64) float64 {
	return math.Log(variance) - mathext.Digamma(freedom/2) + math.Log(freedom/2)
}

func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// inverseTrigamma solves trigamma(y) = x by Newton's method (Smyth 2004,
// appendix).
func inverseTrigamma(x float64) float64 {
	y := 0.5 + 1/x
	for range 50 {
		value := trigamma(y)
		step := value * (1 - value/x) / (-2 * mathext.Zeta(3, y))
		y += step
		if math.Abs(step) < 1e-10*y {
			break
		}
	}
	return y
}
