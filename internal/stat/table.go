package stat

import (
	"math"
	"slices"

	"assay/internal/sys/guard"
)

// Table holds what members that are compared with each other have measured, in
// launches that they share.
type Table struct {
	// Pairs[i][j], of each j < i, are the ratios of member i to member j; N is 0
	// where they share no launch. A/A tests are members, too.
	Pairs [][]Pairs
	Tests []Test
	// Controls are the A/A tests: pairs of members that are alike.
	Controls []Test
}

// Test asks for the comparison of member A with member B.
type Test struct {
	A, B int
	// Baseline says that B is A's baseline. Half of the error that is allowed for
	// a table belongs to these comparisons, half to the others.
	Baseline bool
	// NoFamily says that the comparison claims nothing: it is judged by itself, and
	// belongs to no family.
	NoFamily     bool
	HigherBetter bool
}

// Judged holds what a table says.
type Judged struct {
	Comparisons []Comparison // of each of the table's tests
	// Noise is the largest difference of an A/A test, as a fraction, and NoiseKnown
	// reports whether there was one. Systematic is what of it chance does not
	// explain, 0 where it does.
	Noise, Systematic float64
	NoiseKnown        bool

	prior func(Pairs) Prior
}

// Prior returns what another comparison of the table's members borrows.
func (j Judged) Prior(p Pairs) Prior {
	if j.prior == nil {
		return Prior{}
	}
	return j.prior(p)
}

// NewTable pairs members by the log figures of each launch: logs[i][k] is that of
// member i in launch k; NaN: it was not measured there.
func NewTable(logs [][]float64) Table {
	t := Table{Pairs: make([][]Pairs, len(logs))}
	for i := range logs {
		for j := range i {
			differences := make([]float64, 0, len(logs[i]))
			for k := range logs[i] {
				if d := logs[i][k] - logs[j][k]; !math.IsNaN(d) {
					differences = append(differences, d)
				}
			}
			s := summarize(differences)
			t.Pairs[i] = append(t.Pairs[i], Pairs{N: s.n, Mean: s.mean, SD: s.sd})
		}
	}
	return t
}

// kinds returns the kinds of the table's pairs.
func (t Table) kinds() []string {
	var kinds []string
	for _, row := range t.Pairs {
		for _, p := range row {
			if !slices.Contains(kinds, p.Kind) {
				kinds = append(kinds, p.Kind)
			}
		}
	}
	return kinds
}

// Pair is the comparison of a with b.
func (t Table) Pair(a, b int) Pairs {
	if a < b {
		return t.Pairs[b][a].Swapped()
	}
	return t.Pairs[a][b]
}

// Judge judges the tables of a run that were measured in the same mode: each is a
// family of its own, and they borrow from each other about their variance. The
// rule's noise is found from the tables' A/A tests.
func (r Rule) Judge(tables []Table) []Judged {
	all, borrowed := make([]Judged, len(tables)), priors(tables)
	guard.Each(len(tables), func(i int) { all[i] = r.judgeTable(tables[i], borrowed[i]) })
	return all
}

// priors says, for each table, what its comparisons borrow.
func priors(tables []Table) []func(Pairs) Prior {
	spreads := make([]map[string]spread, len(tables)) // by kind
	factors := make([]func(Pairs) factor, len(tables))
	members := newMembers(tables)
	var kinds []spread
	for i, t := range tables {
		factors[i] = members.of(i)
		t = t.scaled(factors[i])
		spreads[i] = map[string]spread{}
		for _, kind := range t.kinds() {
			s := newSpread(t, kind)
			spreads[i][kind] = s
			// The kinds of a lone table share all launches: they say nothing of each other.
			if len(tables) > 1 || len(t.kinds()) == 1 {
				kinds = append(kinds, s)
			}
		}
	}
	b := borrow(kinds)
	all := make([]func(Pairs) Prior, len(tables))
	for i := range tables {
		all[i] = func(p Pairs) Prior {
			f := factors[i](p)
			prior := b.prior(spreads[i][p.Kind], p.scaled(f), f.uncertain)
			prior.Variance *= f.times
			return prior
		}
	}
	return all
}

// scaled is the table without what its members make the variances of its pairs differ by.
func (t Table) scaled(factors func(Pairs) factor) Table {
	pairs := make([][]Pairs, len(t.Pairs))
	for i, row := range t.Pairs {
		for _, p := range row {
			pairs[i] = append(pairs[i], p.scaled(factors(p)))
		}
	}
	t.Pairs = pairs
	return t
}

func (r Rule) judgeTable(t Table, prior func(Pairs) Prior) Judged {
	j := Judged{prior: prior}
	for _, c := range t.Controls {
		p := t.Pair(c.A, c.B)
		j.NoiseKnown = j.NoiseKnown || p.N >= MinPairs
		j.Noise = max(j.Noise, Noise(p))
		j.Systematic = max(j.Systematic, r.systematicNoise(p, prior(p)))
	}
	r.Noise = j.Systematic
	family, weights := make([]member, len(t.Tests)), t.weights()
	for i, test := range t.Tests {
		p := t.Pair(test.A, test.B)
		family[i] = member{p, prior(p), test.HigherBetter, weights[i]}
	}
	j.Comparisons = r.settle(family)
	return j
}

// weights gives the comparisons with baselines as much as all others together.
func (t Table) weights() []float64 {
	counts := map[bool]float64{}
	testable := func(test Test) bool { return !test.NoFamily && t.Pair(test.A, test.B).N >= MinPairs }
	for _, test := range t.Tests {
		if testable(test) {
			counts[test.Baseline]++
		}
	}
	weights := make([]float64, len(t.Tests))
	for i, test := range t.Tests {
		if testable(test) {
			weights[i] = 1 / counts[test.Baseline]
		}
	}
	return weights
}
