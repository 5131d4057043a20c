package wire

import "math/bits"

// Histograms have fixed bounds, so that any worker's can be merged: values
// below 128 ns have a bucket each; above, every power of two is divided in
// 128 buckets, so that a bucket's upper bound is at most 1/128 over a value in
// it. Values of 2^41 ns (37 minutes) and more share the last bucket.
const (
	subBuckets = 128
	maxValue   = 1<<41 - 1
	bucketsAll = (41-7)*subBuckets + subBuckets
)

// Histogram counts latencies in nanoseconds. The zero value is ready.
type Histogram struct{ counts [bucketsAll]uint32 }

// Record counts one value; negative ones count as zero.
func (h *Histogram) Record(nanos int64) { h.counts[index(nanos)]++ }

func index(v int64) int {
	if v < subBuckets {
		return int(max(v, 0))
	}
	v = min(v, maxValue)
	shift := bits.Len64(uint64(v)) - 8
	return shift*subBuckets + int(v>>shift)
}

func upper(i int) int64 {
	if i < 2*subBuckets {
		return int64(i)
	}
	shift := i/subBuckets - 1
	return (int64(i-shift*subBuckets)+1)<<shift - 1
}

// Merge adds another histogram's counts.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
}

// Buckets returns the buckets that are not empty, as [upper bound, count].
func (h *Histogram) Buckets() [][2]int64 {
	var out [][2]int64
	for i, n := range h.counts {
		if n > 0 {
			out = append(out, [2]int64{upper(i), int64(n)})
		}
	}
	return out
}

// Bucket returns the upper bound of the bucket that a value falls into.
func Bucket(nanos int64) int64 { return upper(index(nanos)) }
