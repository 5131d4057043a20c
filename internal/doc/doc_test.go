package doc

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/internal/doc/chart"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample has a block of each kind, with texts that want to be more than text.
func sample() Document {
	var d Document
	long := strings.Repeat("words that take more than one line, ", 4) + "and end"
	d.Add(Answer, "a <b> -> b: FAIL, 2 *regressions*")
	for i := range maxWarnings + 2 {
		d.Add(Warning, "warning %d: %s", i, "`x` | y")
	}
	d.Add(Footnote, "%s", long)
	var items []string
	for i := range maxItems + 3 {
		items = append(items, fmt.Sprint("item ", i))
	}
	d.AddList("a list", items)
	d.AddList("a short list", []string{"one\ttab", "two"})
	d.AddList("nothing", nil)
	d.Add(Heading, "a heading")
	d.Add(Subheading, "a subheading")
	d.Add(Paragraph, "%s", long)
	d.AddSome(Item, "first", "", "second")
	d.AddLines(Literal, "a command --with \"words\"   that stay\nanother")
	d.AddLines(Code, "key = <value>\n  indented")
	d.AddTable(Grid{Header: []string{"name", "now", "why"}, Right: []bool{false, true}, Most: 3, Rows: [][]string{
		{"short", "1 ns", "-"}, {"a name that is longer than a narrow terminal leaves it", "100 ns", "1.33x [1.29, 1.37]"}, {"failed", "the worker died: " + long}, {"fourth", "2", "3"}}})
	axis := chart.Axis{Label: "x", Tick: func(v float64) string { return fmt.Sprint(v) }}
	d.AddChart(&chart.Chart{Title: "a chart", Description: "one point", Body: &chart.Lines{X: axis, Y: axis, Series: []chart.Curve{{Name: "s", Points: []chart.Point{{X: 1, Y: chart.Interval{Low: 1, Center: 2, High: 3}}}}}}})
	var folded Document
	folded.Add(Paragraph, "inside")
	d.AddFold("a fold", folded)
	d.Add(Paragraph, "the end \x1b[31m")
	return d
}

func TestGolden(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{
		"sample.text":     func(w io.Writer) error { return WriteText(w, sample(), 0) },
		"narrow.text":     func(w io.Writer) error { return WriteText(w, sample(), 60) },
		"sample.markdown": func(w io.Writer) error { return WriteMarkdown(w, sample()) },
		"sample.html":     func(w io.Writer) error { return documentPage.ExecuteTemplate(w, "blocks", sample()) },
	} {
		var got bytes.Buffer
		must(t, write(&got))
		golden := filepath.Join("testdata", name)
		if *update {
			must(t, os.WriteFile(golden, got.Bytes(), 0o644))
		}
		want, err := os.ReadFile(golden)
		must(t, err)
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs (go test ./internal/doc -update writes it anew):\n%s", golden, got.String())
		}
	}
}

// A page is whole, and a chart that cannot be drawn is an error.
func TestWriteHTML(t *testing.T) {
	var page strings.Builder
	must(t, WriteHTML(&page, "<title>", "sub", sample()))
	for _, want := range []string{"<h1>&lt;title&gt;</h1>", "Content-Security-Policy", `<figure tabindex="0" aria-label="a chart">`, "</html>"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("got a page without %s", want)
		}
	}
	var broken Document
	broken.AddChart(&chart.Chart{Title: "empty", Body: &chart.Rows{}})
	if err := WriteHTML(io.Discard, "", "", broken); err == nil || !strings.Contains(err.Error(), `draw "empty"`) {
		t.Errorf("got %v, want that the chart cannot be drawn", err)
	}
}

// On a terminal the last column of a table is broken between words, beside the others
// or below them; in a pipe nothing is.
func TestTableFitsTheTerminal(t *testing.T) {
	prose := "the C library, by cgo, with an API of its own that needs some words"
	list := Listing(Grid{Header: []string{"DRIVER", "VERSION", "RELEASED", "ABOUT"}, Prose: true,
		Rows: [][]string{{"one", "v1.2.3-with-a-long-name-of-its-own", "2026-10-31", prose}, {"two", "-", "-", ""}}})
	for columns, want := range map[int]string{
		0: "DRIVER  VERSION                             RELEASED    ABOUT\n" +
			"one     v1.2.3-with-a-long-name-of-its-own  2026-10-31  " + prose + "\n" +
			"two     -                                   -\n",
		60: "DRIVER  VERSION                             RELEASED\n    ABOUT\n" +
			"one     v1.2.3-with-a-long-name-of-its-own  2026-10-31\n" +
			"    the C library, by cgo, with an API of its own that needs\n    some words\n" +
			"two     -                                   -\n",
	} {
		var out strings.Builder
		if err := WriteList(&out, list, columns); err != nil || out.String() != want {
			t.Errorf("%d columns, %v:\n%s\nwant\n%s", columns, err, out.String(), want)
		}
	}
	for _, columns := range []int{80, 100} {
		var out strings.Builder
		must(t, WriteList(&out, list, columns))
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

// A table without names of columns stands apart from the next one.
func TestTableWithoutNames(t *testing.T) {
	var out strings.Builder
	facts := Listing(Grid{Header: []string{"", ""}, Prose: true, Rows: [][]string{{"driver", "one"}, {"each connection", "a b"}}})
	must(t, WriteList(&out, append(facts, Listing(Grid{Header: []string{"A", "B"}})...), 0))
	if want := "driver           one\neach connection  a b\n\nA  B\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
