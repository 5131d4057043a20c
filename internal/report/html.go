package report

import (
	"cmp"
	"compress/gzip"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/doc/chart"
	"assay/internal/sys/guard"
	"assay/published"
)

// pageView holds what the template shows: first the answer, then what it rests on.
type pageView struct {
	Head        doc.Head
	Answer      []sentence   // what to use, of each class of durability
	More        []sentence   // of the answer, below the heat map
	Extent      string       // what was measured, and under which conditions
	Open        doc.Document // what is undecided, and the command that decides it
	Look        *lookView
	Price       doc.Document
	Know        []knowView
	Curves      doc.Document
	Recommended doc.Document
	Operations  []operationView
	Factors     doc.Document
	Settings    doc.Document
	Rest        doc.Document

	report    *Report
	published []published.Relation // that the run measures again
	packer    *packer
	differing map[string]tableLink // by what differs, the first table that shows it
}

// sentence is one of the answer: its first words stand out.
type sentence struct {
	First, Rest string
	Opening     []string // how to open what it says to use
	Notes       []string // for whoever does what it says
	Codes       string   // the first words of the notes
}

// knowView holds what a reader must know, with a link to the table of the worst case.
type knowView struct{ Code, Text, Advice, Anchor string }

// onPage lets no line of the screen's texts break.
var onPage = Screen{Width: 1 << 20}

// operationView is a section of the page. Its tables are made when
// the template comes to them, so that a page of any length takes little memory.
type operationView struct {
	Name, ID  string // of the operation, and of the section
	Operation string
	Tables    []tableLink
}

type tableLink struct {
	ID, Title string
	table     *analysis.Table
	page      *pageView
}

// View is the table with everything that it rests on.
func (l tableLink) View() (v *tableView, err error) {
	if err = guard.Error(func() (err error) { v, err = viewTable(l.table, l.ID, l.page.packer); return err }); err != nil {
		return nil, err
	}
	v.Published = l.page.report.publishedOf(l.table, l.page.published)
	key := strings.Join(v.Differences, "\n")
	if before, shown := l.page.differing[key]; shown {
		v.AsUnder = &before
	} else {
		l.page.differing[key] = l
	}
	return v, nil
}

// page builds the view but for its tables.
func (r *Report) page() *pageView {
	a := r.Answer()
	v := &pageView{
		Head:   doc.NewHead(wording.Clean(cmp.Or(r.Run.Plan, "run "+r.Run.ID)), r.subtitle(), "'none'", r.Links, Script),
		Extent: strings.Join(append([]string{r.extent(a)}, r.holds()...), " · "), Settings: r.settings(),
		Price:  r.durabilityPrice(a),
		report: r, differing: map[string]tableLink{},
	}
	for i, c := range r.advice(a) {
		var s sentence
		s.First, s.Rest, _ = strings.Cut(c.text, ": ")
		for k, use := range c.uses {
			connection := analysis.NewConnection(use)
			if k == 0 {
				s.Opening = trimmed(r.connectionLines(connection, onPage))
			}
			s.Notes = append(s.Notes, r.notesOf(use, false)...)
			r.addConnection(&v.Recommended, connection)
		}
		s.Codes = codes(s.Notes)
		if i > 0 && len(c.uses) == 0 {
			v.More = append(v.More, s)
		} else {
			v.Answer = append(v.Answer, s)
		}
	}
	for _, line := range append(r.leftOutLines(a, onPage), r.openLines(a, onPage)...) {
		if command, is := strings.CutPrefix(line, "  "); is {
			v.Open.AddLines(doc.Literal, command)
		} else {
			v.Open.Add(doc.Paragraph, "%s", line)
		}
	}
	addDurability(&v.Recommended)
	r.addFactors(&v.Factors)
	r.addDifferences(&v.Rest)
	r.addConditions(&v.Rest)
	r.addChecks(&v.Rest)
	r.addEnvironment(&v.Rest)
	r.addRepeat(&v.Rest)
	for _, named := range r.curves() {
		v.Curves.AddChart(named.Chart)
	}
	v.packer = &packer{compress: r.figures() > maxPlain, compressor: gzip.NewWriter(nil)}
	number := 0
	for i, o := range r.operations() {
		view := operationView{Name: o.name, ID: fmt.Sprint("o", i+1), Operation: wording.Clean(o.tables[0].Cell().Operation)}
		for _, t := range o.tables {
			number++
			view.Tables = append(view.Tables, tableLink{fmt.Sprint("t", number), t.Title, t, v})
		}
		v.Operations = append(v.Operations, view)
	}
	v.Look = r.look(a, v.anchors())
	v.addKnown(a)
	return v
}

// codes are the first words of notes, each once.
func codes(notes []string) string {
	var all []string
	for _, note := range notes {
		if code, _, _ := strings.Cut(note, ": "); !slices.Contains(all, code) {
			all = append(all, code)
		}
	}
	return strings.Join(all, "; ")
}

// Headline is the first sentence of the page: what to use, or why that is open.
func (r *Report) Headline() string { return r.advice(r.Answer())[0].text }

// addKnown tells what to know, with links to the sections of tables.
func (v *pageView) addKnown(a analysis.Answer) {
	if !a.Ranked() { // the answer says why
		return
	}
	anchors := v.anchors()
	for _, k := range v.report.know(a, onPage) {
		code, text, _ := strings.Cut(k.text, ": ")
		v.Know = append(v.Know, knowView{code, wording.Clean(text), capital(wording.Clean(k.advice)), anchors[k.table]})
	}
}

// anchors returns where the page has tables.
func (v *pageView) anchors() map[*analysis.Table]string {
	all := map[*analysis.Table]string{}
	for _, o := range v.Operations {
		for _, l := range o.Tables {
			all[l.table] = l.ID
		}
	}
	return all
}

// trimmed are lines without their indentation.
func trimmed(lines []string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, wording.Printable(strings.TrimSpace(line)))
	}
	return all
}

// CSV is the download of all figures.
func (v *pageView) CSV() (file download, err error) {
	err = guard.Error(func() (err error) {
		file, err = v.packer.download(cmp.Or(fileName(v.report.Run.ID, ""), "run")+".csv", func(w io.Writer) error { return writeCSV(w, v.report) })
		return err
	})
	return file, err
}

// figures counts the figures of the report: the lines of its CSV.
func (r *Report) figures() int {
	n := 0
	for row := range r.Rows() {
		n += len(row.Figures)
	}
	return n
}

// drawings draws charts in both widths.
func drawings(named []NamedChart) ([]doc.Drawing, error) {
	charts := make([]*chart.Chart, len(named))
	for i := range named {
		charts[i] = named[i].Chart
	}
	return doc.Drawings(charts...)
}

// subtitle returns which run this is.
func (r *Report) subtitle() string {
	var parts []string
	if r.Run.ID != "" {
		parts = append(parts, "run "+r.Run.ID)
	}
	if !r.Run.Started.IsZero() {
		parts = append(parts, r.Run.Started.UTC().Format(time.DateTime)+" UTC")
	}
	for _, t := range r.Run.Targets {
		parts = append(parts, t.Name())
	}
	return wording.Clean(strings.Join(parts, " · "))
}

// holds are the conditions that all recommendations have in common.
func (r *Report) holds() []string {
	values := map[string]map[string]bool{}
	order := []string{"clients", "connections", "durability", "cache"}
	add := func(name, value string) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
		analysis.Count(values, name, value)
	}
	for _, t := range r.Tables {
		c := t.Cell()
		add("clients", fmt.Sprint(c.Clients))
		add("connections", fmt.Sprint(c.Pool))
		for _, name := range slices.Sorted(maps.Keys(c.Params)) {
			add(name, c.Params[name])
		}
		if _, stated := c.Params["cache"]; !stated {
			add("cache", "warm")
		}
		for _, k := range t.Rankings {
			if t.Changes {
				add("durability", analysis.Class(k.Durability))
			}
		}
	}
	var all []string
	for _, name := range order {
		if list := slices.Sorted(maps.Keys(values[name])); len(list) > 0 {
			slices.SortFunc(list, analysis.CompareValues)
			all = append(all, wording.Clean(name+" "+strings.Join(list, ", ")))
		}
	}
	if machine := r.machine(); machine != "" {
		all = append(all, machine)
	}
	return all
}

// machine is the machine in a few words, with everything else in the section on
// the environment.
func (r *Report) machine() string {
	var parts []string
	for _, name := range []string{"cpu", "cores", "memory", "filesystem"} {
		if value := r.Run.Host[name]; value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	return wording.Clean(strings.Join(parts, ", "))
}

//go:embed html/page.html
var pageTemplate string

// Script is what the page runs: its controls. Without it the page says the same.
//
//go:embed html/page.js
var Script string

// parsedPage is the template, parsed once. Everything in the page but its charts and
// downloads is escaped by it.
var parsedPage = template.Must(template.Must(doc.Parts()).Parse(pageTemplate))

// writeHTML writes the report as one HTML file that needs no network.
func writeHTML(w io.Writer, r *Report) error {
	page := r.page()
	var err error
	if page.published, err = published.Relations(r.Run.Plan); err == nil {
		err = parsedPage.ExecuteTemplate(w, "report", page)
	}
	if err != nil {
		return fmt.Errorf("write report of run %s: %w", r.Run.ID, err)
	}
	return nil
}
