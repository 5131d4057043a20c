package near

import (
	"strings"
	"testing"
)

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

func TestWord(t *testing.T) {
	known := []string{"journal_mode", "name", "id", "power", "go-mattn", "go-modernc"}
	for word, want := range map[string]string{
		"jornal_mode": "journal_mode", "Journal-Mode": "journal_mode", "nmae": "name", "di": "id", "powr": "power",
		"x": "", "p": "", "": "", "rows": "", strings.Repeat("journal_mode", 30): "",
		"go-modernk": "go-modernc", "go": "go-mattn",
	} {
		if got := Word(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
