package printable

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestString(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"plain\n\ttext µs é💥":    "plain\n\ttext µs é💥",
		"\x1b[2J\x1b]0;title\a":  `\x1b[2J\x1b]0;title\x07`,
		"a\rb\x00\x7f":           `a\x0db\x00\u007f`,
		"\u009b31m":              `\u009b31m`, // a control of eight bits
		"\x9b31m":                `\x9b31m`,   // the same, not in UTF-8
		"a\u202eb\u2066c":        `a\u202eb\u2066c`,
		"\u200f\u061c\ufeff":     `\u200f\u061c\ufeff`,
		"a\u2028b\u2029\u00ad":   `a\u2028b\u2029\u00ad`,
		"\U000e0041":             `\udb40\udc41`, // a tag, which has no width
		"👩\u200d🔧 می\u200cخواهم": "👩\u200d🔧 می\u200cخواهم",
		"\ufffd":                 "\ufffd",
	} {
		if got := String(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// However a text is cut into pieces, the same is written.
func TestWriterInPieces(t *testing.T) {
	const text = "é\x1b💥\x9b\u202ex\xf0\x9f"
	want := String(text)
	for size := 1; size <= len(text); size++ {
		var out strings.Builder
		w := NewWriter(&out)
		for i := 0; i < len(text); i += size {
			piece := text[i:min(i+size, len(text))]
			if n, err := w.Write([]byte(piece)); err != nil || n != len(piece) {
				t.Fatalf("got %d, %v, want %d", n, err, len(piece))
			}
		}
		if err := w.Flush(); err != nil || out.String() != want {
			t.Errorf("pieces of %d bytes: got %q, %v, want %q", size, out.String(), err, want)
		}
	}
}

func FuzzString(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m")
	f.Fuzz(func(t *testing.T, text string) {
		got := String(text)
		if !utf8.ValidString(got) || strings.IndexFunc(got, hidden) >= 0 {
			t.Errorf("%q: got %q, which is not printable", text, got)
		}
	})
}

// A text that could not be written is remembered, for writers that nobody asked.
func TestWriterRemembersTheFirstError(t *testing.T) {
	first := errors.New("full")
	w := NewWriter(failing{first})
	if err := w.Err(); err != nil {
		t.Errorf("before it wrote: got %v, want none", err)
	}
	fmt.Fprint(w, "a")
	w.out = io.Discard
	fmt.Fprint(w, "b")
	if err := w.Err(); err != first {
		t.Errorf("got %v, want %v", err, first)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
