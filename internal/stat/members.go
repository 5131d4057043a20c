package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// members holds what the tables of a run say about which of their members vary more than
// others: the variance of a pair is that of its table, times the mean of the factors of
// its two members.
type members struct {
	places  map[string]int
	tables  []map[string][]share // by kind
	factors []float64            // that all tables together suggest
	all     sums
}

// share is the variance of a pair of two members.
type share struct {
	a, b              int
	variance, freedom float64
}

// sums are, of each two members, sums over tables: of the variance as a share of the table's,
// weighted by the degrees of freedom, and of these.
type sums struct {
	members          int
	squares, freedom []float64
}

// factor is the factor of a pair, and the variance of its logarithm.
type factor struct{ times, uncertain float64 }

const (
	// factorSteps are enough for factors of a thousand.
	factorSteps = 40
	// leastFreedom is from how many degrees of freedom on a factor can be told.
	leastFreedom = 5
	// falseOutlier is how often members that vary alike are taken to differ.
	falseOutlier = 0.01
)

// newMembers estimates the factors as those that make the variances likely, as scaled
// chi-squares.
func newMembers(tables []Table) *members {
	m := &members{places: map[string]int{}}
	for _, t := range tables {
		kinds := map[string][]share{}
		for _, row := range t.Pairs {
			for _, p := range row {
				if p.N >= 2 && p.SD > 0 && p.Members[0] != "" {
					kinds[p.Kind] = append(kinds[p.Kind], share{m.place(p.Members[0]), m.place(p.Members[1]), p.variance(), p.freedom()})
				}
			}
		}
		m.tables = append(m.tables, kinds)
	}
	m.factors = slices.Repeat([]float64{1}, len(m.places))
	for range factorSteps {
		m.total().step(m.factors)
	}
	m.all = m.total()
	return m
}

func (m *members) place(name string) int {
	if _, known := m.places[name]; !known {
		m.places[name] = len(m.places)
	}
	return m.places[name]
}

// total are the sums over all tables.
func (m *members) total() sums {
	n := len(m.places)
	s := sums{n, make([]float64, n*n), make([]float64, n*n)}
	for i := range m.tables {
		m.add(s, i, 1)
	}
	return s
}

// add adds the pairs of a table, as shares of the variance that it has without what its
// members make of it; with a sign of -1 it takes them away.
func (m *members) add(s sums, table int, sign float64) {
	for _, pairs := range m.tables[table] {
		squares, freedom := 0.0, 0.0
		for _, p := range pairs {
			squares += p.freedom * p.variance / (m.factors[p.a] + m.factors[p.b])
			freedom += p.freedom
		}
		for _, p := range pairs {
			at := p.a*s.members + p.b
			s.squares[at] += sign * p.freedom * p.variance * freedom / squares
			s.freedom[at] += sign * p.freedom
		}
	}
}

// step makes the factors more likely: a multiplicative step as those of nonnegative matrix
// factorization.
func (s sums) step(factors []float64) {
	up, down := make([]float64, s.members), make([]float64, s.members)
	for a := range s.members {
		for b := range s.members {
			at, expected := a*s.members+b, factors[a]+factors[b]
			for _, i := range []int{a, b} {
				up[i] += max(0, s.squares[at]) / (expected * expected)
				down[i] += s.freedom[at] / expected
			}
		}
	}
	for i := range factors {
		if down[i] > 0 {
			factors[i] = max(1e-9, factors[i]*math.Sqrt(up[i]/down[i]))
		}
	}
}

// freedoms are, of each member, the degrees of freedom of its factor: its pairs are of the
// same launches, and the sum of two variances says less than one.
func (s sums) freedoms() []float64 {
	all := make([]float64, s.members)
	for i := range all {
		partners := 0.0
		for j := range all {
			if f := s.freedom[i*s.members+j] + s.freedom[j*s.members+i]; i != j && f > 0.5 {
				all[i] += f
				partners++
			}
		}
		all[i] *= max(0, partners-1) / max(1, partners*partners)
	}
	return all
}

// of returns the factors of a table's pairs as the other tables show them: what a table's
// own launches say is in its comparisons already. They are 1 unless members are shown to
// differ, and those below the mean are drawn towards it by as much as chance makes equals
// differ.
func (m *members) of(table int) func(Pairs) factor {
	others := sums{m.all.members, slices.Clone(m.all.squares), slices.Clone(m.all.freedom)}
	m.add(others, table, -1)
	factors := slices.Clone(m.factors)
	for range factorSteps {
		others.step(factors)
	}
	var known []int
	var logs, noise []float64
	for i, freedom := range others.freedoms() {
		if freedom >= leastFreedom {
			known, logs, noise = append(known, i), append(logs, math.Log(factors[i])), append(noise, trigamma(freedom/2))
		}
	}
	s, chance := summarize(logs), summarize(noise).mean
	if s.n < 3 || s.squares()/chance < (distuv.ChiSquared{K: float64(s.n - 1)}).Quantile(1-falseOutlier) {
		return func(Pairs) factor { return factor{times: 1} }
	}
	between := s.sd*s.sd - chance
	shown := func(name string) (times, uncertain float64) {
		place, measured := m.places[name]
		i := slices.Index(known, place)
		if !measured || i < 0 {
			return 1, between
		}
		kept, beyond := between/(between+noise[i]), logs[i]-s.mean
		return math.Exp(max(kept*beyond, beyond)), kept * noise[i]
	}
	return func(p Pairs) factor {
		if p.Members[0] == "" {
			return factor{times: 1}
		}
		a, uncertainA := shown(p.Members[0])
		b, uncertainB := shown(p.Members[1])
		return factor{(a + b) / 2, (a*a*uncertainA + b*b*uncertainB) / ((a + b) * (a + b))}
	}
}
