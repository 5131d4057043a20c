package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// On a terminal the last column of a table is broken between words, beside the others
// or below them; in a pipe nothing is.
func TestTableFitsTheTerminal(t *testing.T) {
	prose := "the C library, by cgo, with an API of its own that needs some words"
	rows := [][]string{{"DRIVER", "VERSION", "RELEASED", "ABOUT"}, {"one", "v1.2.3-with-a-long-name-of-its-own", "2026-10-31", prose}, {"two", "-", "-", ""}}
	for columns, want := range map[int]string{
		0: "DRIVER  VERSION                             RELEASED    ABOUT\n" +
			"one     v1.2.3-with-a-long-name-of-its-own  2026-10-31  " + prose + "\n" +
			"two     -                                   -           \n",
		60: "DRIVER  VERSION                             RELEASED\n    ABOUT\n" +
			"one     v1.2.3-with-a-long-name-of-its-own  2026-10-31\n" +
			"    the C library, by cgo, with an API of its own that needs\n    some words\n" +
			"two     -                                   -\n",
	} {
		var out strings.Builder
		if err := writeTable(&out, columns, rows); err != nil || out.String() != want {
			t.Errorf("%d columns, %v:\n%s\nwant\n%s", columns, err, out.String(), want)
		}
	}
	for _, columns := range []int{80, 100} {
		var out strings.Builder
		if err := writeTable(&out, columns, rows); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if utf8.RuneCountInString(line) > columns+1 {
				t.Errorf("wider than %d columns: %s", columns, line)
			}
		}
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), prose) {
			t.Errorf("%d columns: words are missing:\n%s", columns, out.String())
		}
	}
}

func TestFold(t *testing.T) {
	text := "a worker ended; last lines of stderr:\n  install version 24 of the program or a newer one, and say where\n\n  it is"
	want := "a worker ended; last lines of stderr:\n  install version 24 of the program or a newer one, and say\n  where\n\n  it is"
	if got := fold(60, text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := fold(0, text); got != text {
		t.Errorf("without a terminal:\n%s", got)
	}
}

// No file of a report has a character that a reader obeys and does not see, and what is JSON stays
// JSON with the same texts.
func TestReportFilesArePrintable(t *testing.T) {
	const name = "a\x1b[31m\a\x7f\u009b\u202e\u2066\u200f\u061c\ufeff\u2028\U000e0041\r<b>\"é👩\u200d🔧"
	path := filepath.Join(t.TempDir(), "report")
	for format, text := range map[string]string{"text": name, "json": func() string { data, _ := json.Marshal(name); return string(data) }()} {
		if err := writeReport(path, func(out io.Writer) error { _, err := io.WriteString(out, text); return err }); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || strings.ContainsAny(string(data), "\x1b\a\x7f\u009b\u202e\u2066\u200f\u061c\ufeff\u2028\U000e0041\r") || !strings.Contains(string(data), "é👩\u200d🔧") {
			t.Errorf("%s: got %q, %v", format, data, err)
		}
		if format != "json" {
			continue
		}
		var got string
		if err := json.Unmarshal(data, &got); err != nil || got != name {
			t.Errorf("got %q, %v, want %q", got, err, name)
		}
	}
}
