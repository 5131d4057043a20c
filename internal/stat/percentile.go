package stat

import "math"

// minBeyond is the least number of samples beyond a percentile: with fewer,
// it is the work of a few outliers.
const minBeyond = 100

// Percentile returns the upper bound of the histogram's bucket that holds the
// sample of rank ceil(p * samples): the share p of all samples is at most
// this value. Bucket i holds counts[i] samples of at most uppers[i] and above
// uppers[i-1]. The second result is false, and the value 0, where fewer than
// 100 samples lie beyond the percentile, where p is not within (0, 1), and
// where this is no histogram: lengths that differ, bounds that do not ascend,
// a negative count.
func Percentile(uppers, counts []int64, p float64) (value float64, ok bool) {
	total, ok := samples(uppers, counts)
	if !ok || !(p > 0 && p < 1) {
		return 0, false
	}
	// The factor keeps 0.07 * 200, which is 14.000000000000002, at rank 14.
	rank := int64(math.Ceil(p * float64(total) * (1 - 1e-12)))
	if total-rank < minBeyond {
		return 0, false
	}
	seen := int64(0)
	for i, count := range counts {
		if seen += count; seen >= rank {
			return float64(uppers[i]), true
		}
	}
	return 0, false
}

// samples returns the number of samples of a histogram; false where it is none.
func samples(uppers, counts []int64) (total int64, ok bool) {
	if len(uppers) != len(counts) {
		return 0, false
	}
	for i, count := range counts {
		if count < 0 || count > math.MaxInt64-total || i > 0 && uppers[i] <= uppers[i-1] {
			return 0, false
		}
		total += count
	}
	return total, true
}

// PercentileOf is Percentile of a histogram of [upper bound, count].
func PercentileOf(histogram [][2]int64, p float64) (value float64, ok bool) {
	uppers, counts := make([]int64, len(histogram)), make([]int64, len(histogram))
	for i, b := range histogram {
		uppers[i], counts[i] = b[0], b[1]
	}
	return Percentile(uppers, counts, p)
}
