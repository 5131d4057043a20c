package dataset

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"assay"
	"assay/internal/dataset/seeded"
)

// TestSplitmix64 holds mix against the published outputs of splitmix64
// started at 1234567.
func TestSplitmix64(t *testing.T) {
	w := seeded.Words(1234567)
	got := []uint64{w.At(0), w.At(1), w.At(2), w.At(3), w.At(4)}
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

func TestZetaSumOfLongTails(t *testing.T) {
	const n = 1<<20 + 300_000
	for _, theta := range []float64{0.1, 0.5, 0.99} {
		exact := 0.0
		for i := 1; i <= n; i++ {
			exact += math.Pow(float64(i), -theta)
		}
		if got := zetaSum(n, theta); math.Abs(got/exact-1) > 1e-11 {
			t.Errorf("theta %g: %v, want %v", theta, got, exact)
		}
	}
}

// published is YCSB's ScrambledZipfianGenerator as its source describes it,
// written down apart from the code: the rank by Gray et al. over 10^10 + 1 items
// with the constant 26.46902820178302, then FNV-1a over the eight bytes of the
// rank, lowest first, its absolute value, modulo the number of records.
func published(u float64, records uint64) uint64 {
	const items, theta, zeta = 10_000_000_001.0, 0.99, 26.46902820178302
	zeta2 := 1 + math.Pow(0.5, theta)
	eta := (1 - math.Pow(2/items, 1-theta)) / (1 - zeta2/zeta)
	var rank uint64
	switch uz := u * zeta; {
	case uz < 1:
	case uz < zeta2:
		rank = 1
	default:
		rank = uint64(items * math.Pow(eta*u-eta+1, 1/(1-theta)))
	}
	hash := uint64(0xCBF29CE484222325)
	for range 8 {
		hash = (hash ^ rank&0xff) * 1099511628211
		rank >>= 8
	}
	if int64(hash) < 0 {
		hash = -hash
	}
	return hash % records
}

// The keys of YCSB's plans are drawn as YCSB draws them: the same key for the
// same random number, and the most frequent of 10^5 gets 3.8 %.
func TestScrambledZipfIsTheReferences(t *testing.T) {
	const records, draws = 100_000, 1_000_000
	d := drawn{Values: assay.Values{Kind: assay.Key, Draw: assay.Scrambled, To: records - 1, Theta: 0.99}, key: seeded.Key(1, "t", 0), zipf: scrambled}
	counts, want := make([]int, records), make([]int, records)
	for row := range draws {
		w := seeded.WordsOf(d.key, row)
		counts[d.index(w, row)]++
		want[published(seeded.Fraction(w.At(1)), records)]++
	}
	differ := 0
	for key := range counts {
		if counts[key] != want[key] {
			differ++
		}
	}
	// The last bit of a power may make a rank another one.
	if differ > 20 {
		t.Errorf("got %d keys with another count than the published algorithm gives, want 20 at most", differ)
	}
	if share := float64(slices.Max(counts)) / draws; math.Abs(share-1/scrambledZeta) > 0.001 {
		t.Errorf("the most frequent key has %.4f of the draws, want %.4f", share, 1/scrambledZeta)
	}
}
