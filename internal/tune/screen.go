package tune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// spareRuns are the pairs of a design beyond its factors, from which the noise is
	// estimated.
	spareRuns = 4
	// pairsPerBlock bounds the pairs that are measured beside each other.
	pairsPerBlock = 5
	// maxKept bounds the factors that the race combines.
	maxKept = 5
	// maxCandidates bounds the race.
	maxCandidates = 32
)

// generators are the first rows of Plackett and Burman's designs (1946), by the
// number of runs. Every factor but the last has the row, rotated.
var generators = map[int]string{
	4:  "++-",
	8:  "+++-+--",
	12: "++-+++---+-",
	16: "++++-+-++--+---",
	20: "++--++++-+-+----++-",
	24: "+++++-+-++--++--+-+----",
}

// design is a Plackett-Burman design of so many runs more than factors, at least, as
// signs by run and factor. With its mirror image (the fold-over), the main effects
// are free of the interactions of any two factors.
func design(factors, spare int) [][]float64 {
	for _, runs := range []int{4, 8, 12, 16, 20, 24} {
		if runs < factors+spare {
			continue
		}
		generator := generators[runs]
		rows := make([][]float64, runs)
		for i := range rows {
			rows[i] = make([]float64, factors)
			for j := range rows[i] {
				rows[i][j] = -1
				if i < runs-1 && generator[(j+runs-1-i)%(runs-1)] == '+' {
					rows[i][j] = 1
				}
			}
		}
		return rows
	}
	panic("tune: more factors than MaxFactors")
}

// MaxFactors is how many factors a space may have that leave a choice.
const MaxFactors = 20

// Effect is what the screening found of a factor: by how much its second level is
// better than its first, as a natural logarithm, over all combinations of the
// others. It is what search believes, and no confirmed figure.
type Effect struct {
	Gain, Low, High float64
	Kept            bool // in the race
	// Nothing says that the whole interval lies within the margin: the setting does
	// nothing here.
	Nothing bool

	deviation float64 // the standard error of Gain
}

// screen measures the design and returns the candidates of the race. Where the
// budget does not pay for it, the race begins with single changes and recipes.
func (t *tuning) screen(ctx context.Context) ([]Point, error) {
	factors := t.config.Space.active()
	rows := design(len(factors), spareRuns)
	t.random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	var all []Point
	for _, row := range rows {
		all = append(all, t.atSigns(factors, row, 1), t.atSigns(factors, row, -1))
	}
	differences := make([]float64, 0, len(rows))
	for at, n := 0, 0; at < len(rows); {
		pairs := distinctPairs(all[2*at:], min(pairsPerBlock, len(rows)-at))
		if n == 0 { // tells what a launch costs
			pairs = 1
		}
		n++
		points := all[2*at : 2*(at+pairs)]
		if n == 2 && t.affordable(screeningShare, len(all)-2) < 1 {
			return t.unscreened(), nil
		}
		members, err := t.block(ctx, Block{Stage: Screening, Number: n, Points: points, All: distinct(all)})
		if err != nil {
			return nil, err
		}
		for i := 0; i < len(members); i += 2 {
			differences = append(differences, (members[i].gain()-members[i+1].gain())/2)
		}
		at += pairs
	}
	found := effects(rows, differences, t.config.Margin)
	if found == nil {
		return t.unscreened(), nil
	}
	t.outcome.Effects = make([]Effect, len(t.config.Space.Factors))
	for i, j := range factors {
		t.outcome.Effects[j] = found[i]
	}
	return t.combinations(), nil
}

// distinctPairs is how many of the first pairs of points, at most so many, have no
// point twice: few factors have few combinations, and a block has each point once.
func distinctPairs(points []Point, most int) int {
	for n := range most {
		if first := points[:2*n+2]; len(distinct(first)) < len(first) {
			return n
		}
	}
	return most
}

func distinct(points []Point) []Point {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		known := seen[p.Key()]
		seen[p.Key()] = true
		return known
	})
}

// atSigns is a run of the design, or its mirror image.
func (t *tuning) atSigns(factors []int, row []float64, sign float64) Point {
	p := t.config.Space.start()
	for i, s := range row {
		if s*sign > 0 {
			p[factors[i]] = 1
		}
	}
	return p
}

// effects are least-squares estimates from the differences of each run and its
// mirror image, which are measured in one launch: nothing that a launch does to all
// its members, and no interaction of two factors, is in them. nil where too few
// pairs are complete.
func effects(rows [][]float64, differences []float64, margin float64) []Effect {
	factors := len(rows[0])
	var signs, values []float64
	for i, d := range differences {
		if !math.IsNaN(d) {
			signs, values = append(signs, rows[i]...), append(values, d)
		}
	}
	freedom := float64(len(values) - factors)
	if freedom < 2 {
		return nil
	}
	x, y := mat.NewDense(len(values), factors, signs), mat.NewVecDense(len(values), values)
	var information, inverse mat.Dense
	information.Mul(x.T(), x)
	if inverse.Inverse(&information) != nil {
		return nil
	}
	var moments, b, fitted mat.VecDense
	moments.MulVec(x.T(), y)
	b.MulVec(&inverse, &moments)
	fitted.MulVec(x, &b)
	squares := 0.0
	for i, v := range values {
		squares += (v - fitted.AtVec(i)) * (v - fitted.AtVec(i))
	}
	t := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(0.975)
	all := make([]Effect, factors)
	for j := range all {
		e := Effect{Gain: 2 * b.AtVec(j), deviation: 2 * math.Sqrt(squares/freedom*inverse.At(j, j))}
		e.Low, e.High = e.Gain-t*e.deviation, e.Gain+t*e.deviation
		e.Nothing = math.Max(-e.Low, e.High) < math.Log1p(margin)
		all[j] = e
	}
	keep(all, margin)
	return all
}

// keep marks the factors of the race: the largest gains that are at most their
// standard error below 0 and may be worth half of the margin. The largest of all is kept in
// any case: that nothing beats the current settings is to be confirmed, too.
func keep(all []Effect, margin float64) {
	order := make([]int, len(all))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(all[b].Gain, all[a].Gain) })
	for i, j := range order[:min(maxKept, len(order))] {
		e := all[j]
		all[j].Kept = i == 0 || e.Gain > -e.deviation && e.Gain+e.deviation > margin/2
	}
}

// sure is by how many standard errors the gain of a factor must exceed the margin
// for the race to have it always.
const sure = 3

// combinations are the candidates of the race: all combinations of the kept
// factors' levels, those first that the screening says to be best, beside the
// recipes and what the search starts from.
func (t *tuning) combinations() []Point {
	space := t.config.Space
	points := []Point{space.start()}
	for j, e := range t.outcome.Effects {
		if !e.Kept {
			continue
		}
		first := 0
		if e.Gain-sure*e.deviation > t.config.Margin {
			first = 1
		}
		var more []Point
		for _, p := range points {
			for level := first; level < space.Factors[j].candidates(); level++ {
				more = append(more, p.with(j, level))
			}
		}
		points = more
	}
	slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(t.predicted(b), t.predicted(a)) })
	return t.limited(append(t.recipes(), points...))
}

// unscreened are the candidates where nothing is known of the factors.
func (t *tuning) unscreened() []Point {
	space := t.config.Space
	all := space.start()
	for _, j := range space.active() {
		all[j] = 1
	}
	points := append(t.recipes(), all)
	for _, j := range space.active() {
		points = append(points, space.start().with(j, 1))
	}
	return t.limited(points)
}

// recipes are the known combinations, and what the search starts from.
func (t *tuning) recipes() []Point {
	points := []Point{t.config.Space.start()}
	for _, r := range t.config.Space.Recipes {
		points = append(points, r.Point)
	}
	return points
}

func (t *tuning) limited(points []Point) []Point {
	points = t.config.Space.unique(points)
	points = slices.DeleteFunc(points, func(p Point) bool { return t.refused[p.Key()] != "" })
	return points[:min(maxCandidates-1, len(points))] // the current settings are one more
}

// predicted is the gain of a point if its factors only add up.
func (t *tuning) predicted(p Point) float64 {
	total := 0.0
	for j, level := range p {
		if level != 0 {
			total += t.outcome.Effects[j].Gain
		}
	}
	return total
}
