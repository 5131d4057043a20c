package wire

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestBucketVectors are the bounds that other languages must have too.
func TestBucketVectors(t *testing.T) {
	for value, want := range map[int64]int64{
		math.MinInt64: 0, -1: 0, 0: 0, 1: 1, 127: 127, 128: 128, 255: 255,
		256: 257, 257: 257, 258: 259, 511: 511, 512: 515, 515: 515, 516: 519,
		1000: 1003, 5000: 5023, 1_000_000: 1_003_519, 1_000_000_000: 1_002_438_655,
		1<<40 - 1: 1<<40 - 1, 1 << 40: 1<<40 + 1<<33 - 1,
		1<<41 - 1: 1<<41 - 1, 1 << 41: 1<<41 - 1, math.MaxInt64: 1<<41 - 1,
	} {
		if got := Bucket(value); got != want {
			t.Errorf("Bucket(%d) = %d, want %d", value, got, want)
		}
	}
}

// TestEveryBucket walks through all buckets by their bounds: each begins where
// the one before ended, and is at most 1/128 of its least value wide.
func TestEveryBucket(t *testing.T) {
	least := int64(0)
	for i := range bucketsAll {
		most := upper(i)
		if most < least || index(least) != i || index(most) != i {
			t.Fatalf("bucket %d: from %d (in %d) to %d (in %d)", i, least, index(least), most, index(most))
		}
		if (most-least)*128 > least {
			t.Errorf("bucket %d: %d to %d is wider than 1/128", i, least, most)
		}
		least = most + 1
	}
	if least != maxValue+1 {
		t.Errorf("the last bucket ends before %d, want %d", least, int64(maxValue+1))
	}
}

func TestRecord(t *testing.T) {
	h := new(Histogram)
	if got := h.Buckets(); got != nil {
		t.Errorf("empty: %v", got)
	}
	for _, nanos := range []int64{1000, 5, 1003, math.MaxInt64, -7, 1004, 1000} {
		h.Record(nanos)
	}
	want := [][2]int64{{0, 1}, {5, 1}, {1003, 3}, {1007, 1}, {1<<41 - 1, 1}}
	if got := h.Buckets(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestMerge: two merged halves are the whole.
func TestMerge(t *testing.T) {
	var whole, left, right Histogram
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		nanos := int64(math.Exp(random.Float64() * 30))
		whole.Record(nanos)
		if random.IntN(2) == 0 {
			left.Record(nanos)
		} else {
			right.Record(nanos)
		}
	}
	left.Merge(&right)
	if left != whole {
		t.Error("the merged halves differ from the whole")
	}
	left.Merge(new(Histogram))
	if left != whole {
		t.Error("merging an empty one changed something")
	}
}
