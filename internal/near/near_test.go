package near

import "testing"

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"_sync", "_sync", 0},
		{"_sychronous", "_synchronous", 1},
		{"_snyc", "_sync", 1}, // neighbours are swapped
		{"_jurnal_mod", "_journal_mode", 2},
		{"", "abc", 3},
	} {
		if got := Distance(test.a, test.b); got != test.want {
			t.Errorf("%q and %q: got %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
