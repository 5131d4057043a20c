package crash

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/sys/format"
)

// Formats holds the formats of a report.
var Formats = append(doc.Formats((*Report).document, func(r *Report) int { return r.Width }),
	format.Format[*Report]{Name: "html", Write: func(w io.Writer, r *Report) error {
		return doc.WriteHTML(w, r.Title+": what faults do to databases", r.Command, r.document())
	}})

// legend explains the words of the cells.
var legend = []string{
	"held: all that was acknowledged is there. lost: the newest commits are gone, the rest is whole; lost-last: only the last one. unmade: it does not open, cut off while it was created.",
	"inconsistent: parts of transactions. corrupt: the engine's own check fails. unopened: it does not open. unwritable, unstable: it cannot be written to, or changes when opened again.",
	"unknown: the file system itself did not mount, or no worker started, so that nothing is known of the database; these are not counted as states.",
	"!: refutes what the settings claim. Counts are of states of the disk, or of attempts: no probability, and nothing about a disk that lies about flushes.",
}

// controlWords says what became of the controls; empty where none were tried.
func (r *Report) controlWords() string {
	caught, tried := 0, 0
	var names []string
	for _, result := range r.Results {
		for _, c := range result.Controls {
			tried++
			names = addNew(names, c.Name)
			if c.Caught {
				caught++
			}
		}
	}
	if tried == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d controls that must fail did: %s.", caught, tried, strings.Join(names, ", "))
}

// document says what each fault does to each target.
func (r *Report) document() doc.Document {
	var d doc.Document
	grid := doc.Grid{Header: append([]string{"target", "profile", "claims"}, wording.Texts(r.Faults())...)}
	for _, t := range r.Targets() {
		grid.Rows = append(grid.Rows, append([]string{t.Name(), t.Profile, t.Claims()}, t.Cells()...))
	}
	d.AddTable(grid)
	for _, t := range r.Targets() {
		t.addTo(&d)
	}
	for i, result := range r.Findings() {
		if i == 0 {
			d.Add(doc.Heading, "Smallest counterexamples")
		}
		words, again := r.Example(result)
		if add(&d, doc.Item, words); again != "" {
			d.AddLines(doc.Literal, again)
		}
	}
	for i, line := range r.NotTried() {
		if i == 0 {
			d.Add(doc.Heading, "Not tried")
		}
		add(&d, doc.Item, line)
	}
	d.Add(doc.Heading, "How to read this")
	d.AddSome(doc.Item, slices.Concat(legend, r.Lessened(), []string{r.controlWords()})...)
	return d
}

// addTo says what each fault does to a target; why one could not be tried is said once for
// all of them.
func (t Target) addTo(d *doc.Document) {
	sentences := t.Sentences()
	if len(sentences) == 0 {
		return
	}
	settings := ""
	if text := t.Settings(); text != "" {
		settings = " (" + text + ")"
	}
	d.Add(doc.Subheading, "%s, profile %s%s, claims %s", t.Name(), t.Profile, settings, t.Claims())
	for _, s := range sentences {
		add(d, doc.Item, s)
	}
	if words := t.Documentation(); words != "" {
		d.Add(doc.Paragraph, "%s", words)
		d.AddLines(doc.Literal, t.Source())
	}
}

// add adds a text whose further lines are those of a worker, which stay as they are.
func add(d *doc.Document, k doc.Kind, text string) {
	first, rest, more := strings.Cut(text, "\n")
	d.Add(k, "%s", first)
	if more {
		d.AddLines(doc.Literal, rest)
	}
}
