package stat

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// detectLevel is the share of undisturbed series, at most, in which a detector
// finds something. It is small: a table has many rows, and four detectors each.
const detectLevel = 0.01

// minToDetect is the number of launches below which no test at 1 % can find
// anything.
const minToDetect = 6

// Drift looks for a trend over launches, in the order in which they ran: by the
// Mann-Kendall test at 1 %, which asks only how many pairs of launches ascend.
// Total is the last figure over the first along the trend (the median of the
// slopes between any two, on logarithms): 1.05 is a rise of 5 %. P is the chance
// of such an order without a trend. Nothing is found in fewer than six figures,
// or where one is not a finite number above zero.
func Drift(figures []float64) (total, p float64, found bool) {
	logs, ok := detectable(figures, minToDetect)
	if !ok {
		return 1, 1, false
	}
	score := 0
	slopes := make([]float64, 0, len(logs)*(len(logs)-1)/2)
	for i, x := range logs {
		for j := i + 1; j < len(logs); j++ {
			score += cmp.Compare(logs[j], x)
			slopes = append(slopes, (logs[j]-x)/float64(j-i))
		}
	}
	p = kendall(len(logs), score)
	return math.Exp(median(slopes) * float64(len(logs)-1)), p, p < detectLevel
}

// maxExact is up to which n the distribution of Kendall's score is counted
// out; beyond, the normal one finds a little less.
const maxExact = 50

// kendall is the two-sided p-value of Kendall's score (ascending pairs less
// descending ones) in a random order of n different values.
func kendall(n, score int) float64 {
	pairs := n * (n - 1) / 2
	beyond := (pairs - max(score, -score)) / 2 // at most so many pairs the other way round
	if n > maxExact {
		sd := math.Sqrt(float64(n*(n-1)*(2*n+5)) / 18)
		return min(1, 2*distuv.UnitNormal.Survival(float64(max(score, -score)-1)/sd))
	}
	// atMost[k] is the share of orders of m values with at most k descending
	// pairs: the largest of them stands before 0 to m-1 others.
	atMost := slices.Repeat([]float64{1}, beyond+1)
	for m := 2; m <= n; m++ {
		next, sum := make([]float64, beyond+1), 0.0
		for k := range next {
			sum += atMost[k]
			if k >= m {
				sum -= atMost[k-m]
			}
			next[k] = sum / float64(m)
		}
		atMost = next
	}
	return min(1, 2*atMost[beyond])
}

// minForOrder is the lowest number of launches for Autocorrelation: its
// distribution is known from there on.
const minForOrder = 10

// Autocorrelation looks for launches that resemble the ones before them, by the
// rank version of von Neumann's ratio (Bartels 1982) at 1 %, one-sided. R is the
// correlation of each launch's rank with the next one's. Nothing is found in
// fewer than ten figures, or where one is not a finite number above zero. A
// drift is found as well: ask for that first.
func Autocorrelation(figures []float64) (r float64, found bool) {
	logs, ok := detectable(figures, minForOrder)
	if !ok {
		return 0, false
	}
	ranks := ranks(logs)
	n := float64(len(ranks))
	mean := (n + 1) / 2
	var steps, squares, products float64
	for i, x := range ranks {
		squares += (x - mean) * (x - mean)
		if i > 0 {
			steps += (x - ranks[i-1]) * (x - ranks[i-1])
			products += (x - mean) * (ranks[i-1] - mean)
		}
	}
	if squares == 0 {
		return 0, false
	}
	// Steps / squares lies in [0, 4] like a symmetric beta variable.
	shape := 5*n*(n+1)*(n-1)*(n-1)/(2*(n-2)*(5*n*n-2*n-9)) - 0.5
	p := distuv.Beta{Alpha: shape, Beta: shape}.CDF(min(1, steps/squares/4))
	return products / squares, p < detectLevel
}

// ranks returns each value's rank from 1; equal values share their mean rank.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	ranks := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			ranks[k] = float64(i+j+1) / 2
		}
		i = j
	}
	return ranks
}

// minForSkew is the lowest number of launches for Skewed: its approximation
// holds from there on.
const minForSkew = 8

// Skewed looks for a few launches far out on one side, such as those with a
// stall: by D'Agostino's test of skewness (1970) at 1 % on logarithms. Tails on
// both sides alike do not harm a t interval, those on one side do. Skewness is
// the third standardized moment, above zero where the far ones are high. Nothing
// is found in fewer than eight figures, or where one is not a finite number above
// zero.
func Skewed(figures []float64) (skewness float64, found bool) {
	logs, ok := detectable(figures, minForSkew)
	all := summarize(logs)
	if !ok || !(all.sd > 0) {
		return 0, false
	}
	n, cubes := float64(all.n), 0.0
	for _, x := range logs {
		cubes += math.Pow(x-all.mean, 3)
	}
	skewness = cubes / n / math.Pow(all.squares()/n, 1.5)
	return skewness, skewP(n, skewness) < detectLevel
}

// skewP is the two-sided p-value of the skewness of n normal values.
func skewP(n, skewness float64) float64 {
	y := skewness * math.Sqrt((n+1)*(n+3)/(6*(n-2)))
	kurtosis := 3 * (n*n + 27*n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9))
	square := math.Sqrt(2*(kurtosis-1)) - 1
	z := math.Asinh(y/math.Sqrt(2/(square-1))) / math.Sqrt(0.5*math.Log(square))
	return 2 * distuv.UnitNormal.Survival(math.Abs(z))
}

// detectable returns the logarithms of figures; false where there are too few
// or one is not a finite number above zero.
func detectable(figures []float64, least int) (logs []float64, ok bool) {
	if len(figures) < least || slices.ContainsFunc(figures, notPositive) {
		return nil, false
	}
	for _, f := range figures {
		logs = append(logs, math.Log(f))
	}
	return logs, true
}

// median returns the middle of the values, which it does not change; NaN where
// there are none.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	values = slices.Sorted(slices.Values(values))
	return (values[(n-1)/2] + values[n/2]) / 2
}
