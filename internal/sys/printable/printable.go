// Package printable makes text of others safe to show on a terminal.
package printable

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Writer writes text, in which control characters and bytes that are no UTF-8
// are written as escapes, such as \x1b. It is safe for concurrent use.
type Writer struct {
	out  io.Writer
	mu   sync.Mutex
	rest []byte // the beginning of a character whose end is not written yet
	err  error  // the first that writing ended with
}

// Err returns the error of the first text that could not be written.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Write writes text. What is no whole character yet waits for its end.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := text
	if len(w.rest) > 0 {
		all = append(w.rest, text...)
	}
	whole := len(all) - partial(all)
	w.rest = append([]byte(nil), all[whole:]...)
	if _, err := io.WriteString(w.out, String(string(all[:whole]))); err != nil {
		if w.err == nil {
			w.err = err
		}
		return 0, err
	}
	return len(text), nil
}

// Flush writes what still waits for its end.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := io.WriteString(w.out, String(string(w.rest)))
	w.rest = nil
	return err
}

// partial returns how many bytes at the end begin a character that they do not end.
func partial(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// String returns a text whose control characters are escapes. New lines and
// tabs stay.
func String(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var safe strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&safe, `\x%02x`, text[i])
		case hidden(r) && r < 0x20:
			fmt.Fprintf(&safe, `\x%02x`, r)
		case hidden(r): // as JSON, which writes those above as they are
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&safe, `\u%04x`, unit)
			}
		default:
			safe.WriteRune(r)
		}
	}
	return safe.String()
}

// hidden reports whether a reader does not see a character, but what it does: controls, what
// changes the direction of writing, what ends a line, and what has no width. Those that join
// characters stay: words of Persian and emoji need them.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
