package tune

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"assay/internal/stat"
)

// observation holds what a launch of the search measured of a point.
type observation struct {
	point Point
	gain  float64 // the mean over the operations, against the current settings
}

// model holds what all launches of the search say together: each setting has an effect, and so
// have pairs of settings beyond that, of which less is expected. What a launch does to all its
// members is in no effect.
type model struct {
	columns  map[effect]int
	order    []effect // by their number
	pairs    float64  // variance that is expected of them
	mean     mat.VecDense
	variance mat.SymDense // of the effects, as a multiple of scale
	factors  mat.Cholesky // of the inverse of variance
	scale    float64      // the variance of the noise
	freedom  float64
}

// effect is the effect of one setting, or of two together.
type effect struct{ a, b setting }

// setting is a level of a factor, not the first; the zero value is none.
type setting struct{ factor, level int }

// isMain reports whether the effect is of one setting.
func (c effect) isMain() bool { return c.b == setting{} }

// effectsOf are the effects that a point has.
func effectsOf(p Point) []effect {
	var all []effect
	changed := p.changed()
	for i, j := range changed {
		all = append(all, effect{a: setting{j, p[j]}})
		for _, k := range changed[:i] {
			all = append(all, effect{a: setting{k, p[k]}, b: setting{j, p[j]}})
		}
	}
	return all
}

// flat is the variance of the effect of one setting before anything is measured, as a multiple
// of that of the noise: it may have any size.
const flat = 1e6

// pairVariances holds the variances of the effects of pairs; the likeliest is taken.
var pairVariances = []float64{1e-6, 1. / 16, 1. / 4, 1, 4, 16}

// prior is the variance of an effect before anything is measured.
func (m *model) prior(c effect) float64 {
	if c.isMain() {
		return flat
	}
	return m.pairs
}

// newModel is the model of launches; nil: they are too few.
func newModel(launches [][]observation) *model {
	m := &model{}
	rows, settings := m.index(launches)
	if m.freedom = float64(rows - settings); m.freedom < 2 || settings == 0 {
		return nil
	}
	s := m.sums(launches)
	likeliest, pairs := math.Inf(-1), 0.0
	for _, m.pairs = range pairVariances {
		if likelihood := m.fit(s); likelihood > likeliest {
			likeliest, pairs = likelihood, m.pairs
		}
	}
	if math.IsInf(likeliest, -1) {
		return nil
	}
	m.pairs = pairs
	if m.fit(s); m.factors.InverseTo(&m.variance) != nil {
		return nil
	}
	return m
}

// index numbers the effects: of the settings, and of those pairs that were
// measured twice. rows are the differences within launches.
func (m *model) index(launches [][]observation) (rows, settings int) {
	counts := map[effect]int{}
	m.columns = map[effect]int{}
	for _, launch := range launches {
		rows += max(0, len(launch)-1)
		for _, o := range launch {
			for _, c := range effectsOf(o.point) {
				counts[c]++
				if c.isMain() && counts[c] == 1 {
					settings++
				}
				if c.isMain() && counts[c] == 1 || !c.isMain() && counts[c] == 2 {
					m.columns[c] = len(m.order)
					m.order = append(m.order, c)
				}
			}
		}
	}
	return rows, settings
}

// sums holds the sums of products of the effects and the gains, within launches.
type sums struct {
	products *mat.SymDense
	moments  *mat.VecDense
	squares  float64
}

func (m *model) sums(launches [][]observation) sums {
	n := len(m.columns)
	s := sums{mat.NewSymDense(n, nil), mat.NewVecDense(n, nil), 0}
	for _, launch := range launches {
		center, gain := mat.NewVecDense(n, nil), 0.0 // their means
		for _, o := range launch {
			center.AddScaledVec(center, 1/float64(len(launch)), m.vector(o.point))
			gain += o.gain / float64(len(launch))
		}
		for _, o := range launch {
			x, y := m.vector(o.point), o.gain-gain
			x.AddScaledVec(x, -1, center)
			s.products.SymRankOne(s.products, 1, x)
			s.moments.AddScaledVec(s.moments, y, x)
			s.squares += y * y
		}
	}
	return s
}

func (m *model) vector(p Point) *mat.VecDense {
	x := mat.NewVecDense(len(m.columns), nil)
	for _, c := range effectsOf(p) {
		if i, ok := m.columns[c]; ok {
			x.SetVec(i, 1)
		}
	}
	return x
}

// fit estimates the effects, and returns the logarithm of how likely it makes
// the launches: a linear model with a conjugate prior, in which the variance of the noise is
// unknown.
func (m *model) fit(s sums) float64 {
	precision := mat.NewSymDense(len(m.order), nil)
	precision.CopySym(s.products)
	likelihood := 0.0
	for i, c := range m.order {
		precision.SetSym(i, i, precision.At(i, i)+1/m.prior(c))
		likelihood -= math.Log(m.prior(c)) / 2
	}
	if !m.factors.Factorize(precision) || m.factors.SolveVecTo(&m.mean, s.moments) != nil {
		return math.Inf(-1)
	}
	left := s.squares - mat.Dot(&m.mean, s.moments)
	if left <= 0 {
		return math.Inf(-1)
	}
	m.scale = left / m.freedom
	return likelihood - m.factors.LogDet()/2 - m.freedom/2*math.Log(left)
}

// difference is by how much one point is better than another.
type difference struct {
	mean, error float64
	freedom     float64
	family      int // of how many settings it may be the one that looks best
}

// compare says by how much a is better than b.
func (m *model) compare(a, b Point) difference {
	var x mat.VecDense
	x.SubVec(m.vector(a), m.vector(b))
	return difference{mat.Dot(&x, &m.mean), math.Sqrt(m.scale * (mat.Inner(&x, &m.variance, &x) + m.unseen(a, b))), m.freedom, 1}
}

// unseen is the variance of the effects that one point has and the other one not, and of
// which nothing was measured.
func (m *model) unseen(a, b Point) float64 {
	of := [2][]effect{effectsOf(a), effectsOf(b)}
	total := 0.0
	for i, columns := range of {
		for _, c := range columns {
			if _, measured := m.columns[c]; !measured && !slices.Contains(of[1-i], c) {
				total += m.prior(c)
			}
		}
	}
	return total
}

// knows reports whether the effect of a setting was measured; that of no setting always is.
func (m *model) knows(s setting) bool {
	_, known := m.columns[effect{a: s}]
	return known || s.level == 0
}

// interval is the 95 % interval of the difference, as a ratio.
func (d difference) interval() stat.Interval {
	half := d.error * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: d.freedom}.Quantile(0.975)
	return stat.Interval{Low: math.Exp(d.mean - half), Center: math.Exp(d.mean), High: math.Exp(d.mean + half), N: int(d.freedom)}
}

// p returns the one-sided p-value of the difference being 0 or less.
func (d difference) p() float64 {
	if d.error == 0 {
		return 1
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: d.freedom}.Survival(d.mean / d.error)
}
