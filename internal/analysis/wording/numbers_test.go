package wording_test

import (
	"math"
	"testing"
	"time"

	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

func same(t *testing.T, of any, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%v: got %q, want %q", of, got, want)
	}
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 17: "17ns", 6684: "6.68µs", 999_996: "1ms", 340_400_000: "340ms", 1_249_000_000: "1.2s",
		9_960_000_000: "10s", 12_400 * time.Millisecond: "12s", 100_200 * time.Millisecond: "1m40s",
	} {
		same(t, int64(d), wording.Brief(d), want)
	}
}

func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.00", 1: "1.00", 9.996: "10.0", 1234.5: "1234", 0.012345: "0.0123", 1e-12: "0.000000000", math.Inf(1): "?", math.NaN(): "?",
	} {
		same(t, v, wording.Digits(v), want)
	}
}

// The digits tell on which side of 1 an end is, up to five.
func TestRatio(t *testing.T) {
	for i, want := range map[stat.Interval]string{
		{Center: 1.5, Low: 1.21, High: 1.804}:      "1.50 [1.21, 1.80]",
		{Center: 1.1, Low: 1.0004, High: 1.2}:      "1.1000 [1.0004, 1.2000]",
		{Center: 0.9, Low: 0.8, High: 0.9996}:      "0.9000 [0.8000, 0.9996]",
		{Center: 1.1, Low: 1.000_000_1, High: 1.2}: "1.1000 [1.0000, 1.2000]",
		{Center: 1, Low: 1, High: 1}:               "1.00 [1.00, 1.00]",
	} {
		same(t, i, wording.Ratio(i, "%s [%s, %s]"), want)
	}
}

func TestPlural(t *testing.T) {
	same(t, 0, wording.Plural(0, "table"), "0 tables")
	same(t, 1, wording.Plural(1, "launch"), "1 launch")
	same(t, 2, wording.Plural(2, "launch"), "2 launches")
}
