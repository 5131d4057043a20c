package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFold(t *testing.T) {
	text := "a worker ended; last lines of stderr:\n  install version 24 of the program or a newer one, and say where\n\n  it  is"
	want := "a worker ended; last lines of stderr:\n  install version 24 of the program or a newer one, and say\n  where\n\n  it  is"
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
		must(t, writeReport(path, func(out io.Writer) error { _, err := io.WriteString(out, text); return err }))
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
