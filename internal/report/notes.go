package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// finding is a kind of doubt over the whole run, with its worst case.
type finding struct {
	code  string
	rows  int // that have it
	of    int // that were measured, or that there are
	worst analysis.Warning
	where string // the worst case's table and name
	table *analysis.Table
}

// knowLines say what a reader must know, each kind once, in so many lines.
func (r *Report) knowLines(a analysis.Answer, m *matrix, s Screen, limit int) []string {
	if len(r.Tables) == 0 || !a.Ranked() { // the first lines say why
		return []string{""}
	}
	var lines []string
	all := r.know(a, m, s)
	for i, k := range all {
		next := s.wrap("  "+markAlert+" ", "    ", k.text)
		if len(lines)+len(next) > limit && i > 0 {
			lines = append(lines, fmt.Sprintf("  and %d more, see Details", len(all)-i))
			break
		}
		lines = append(lines, next...)
	}
	if len(lines) == 0 {
		return []string{""}
	}
	return slices.Concat([]string{"", "What to know"}, lines, []string{""})
}

// knownDoubt is one thing that a reader must know, with what to do about it and the table of the
// worst case.
type knownDoubt struct {
	text, advice string
	table        *analysis.Table
}

// know is what a reader must know, each kind once.
func (r *Report) know(a analysis.Answer, m *matrix, s Screen) (all []knownDoubt) {
	for _, f := range append(r.outcomeFindings(), r.warningFindings(m)...) {
		_, advice := words(f.worst.Doubt)
		all = append(all, knownDoubt{f.words(s), advice, f.table})
	}
	if words := r.clientWords(); words != "" { // behind the gravest finding, so that neither is cut off
		all = slices.Insert(all, min(1, len(all)), knownDoubt{text: words})
	}
	if words := r.changeWords(a); words != "" {
		all = slices.Insert(all, 0, knownDoubt{text: words})
	}
	return all
}

// changeAxis is a coordinate of which the screen says what another value of it changes.
type changeAxis struct {
	clear func(*assay.Cell)
	pair  func(row, base assay.Cell) string
}

var changeAxes = []changeAxis{
	{func(c *assay.Cell) { c.Processes = 0 }, func(row, base assay.Cell) string {
		return fmt.Sprintf("%s instead of %d", wording.Plural(max(1, row.Processes), "process"), max(1, base.Processes))
	}},
	{func(c *assay.Cell) { c.Begin = "" }, func(row, base assay.Cell) string {
		return fmt.Sprintf("begin %s instead of %s", row.Begun(), base.Begun())
	}},
}

// changeWords say in one line what more processes, and another way to begin, change for the
// target that leads, or else the first one that has them; empty where none has.
func (r *Report) changeWords(a analysis.Answer) string {
	changes := make([][]analysis.Change, len(changeAxes))
	for i, axis := range changeAxes {
		changes[i] = slices.DeleteFunc(r.Changes(axis.clear), func(c analysis.Change) bool { return !(c.Ratio.Center > 0) })
	}
	found := slices.Concat(changes...)
	if len(found) == 0 {
		return ""
	}
	of := found[0].Row.Name()
	if lead := a.Lead(); lead != nil && slices.ContainsFunc(found, func(c analysis.Change) bool { return c.Row.Name() == lead.Name() }) {
		of = lead.Name()
	}
	var all []string
	for i, axis := range changeAxes {
		all = append(all, r.changeParts(axis, slices.DeleteFunc(changes[i], func(c analysis.Change) bool { return c.Row.Name() != of }))...)
	}
	return wording.Clean(fmt.Sprintf("%s, %s (operations per second; ?: undecided)", of, strings.Join(all, "; ")))
}

// changeParts say by which factor each operation changes along an axis.
func (r *Report) changeParts(axis changeAxis, changes []analysis.Change) (parts []string) {
	before := ""
	for _, c := range changes {
		alike := c.Row.Cell
		axis.clear(&alike)
		part := r.labelOf(alike) + " " + wording.Digits(c.Ratio.Center) + "x"
		if !c.Verdict.Decided() {
			part += "?"
		}
		if pair := axis.pair(c.Row.Cell, c.Base.Cell); pair != before {
			before, part = pair, pair+": "+part
		}
		parts = append(parts, part)
	}
	if more := len(parts) - maxNamed; more > 1 {
		parts = append(parts[:maxNamed], fmt.Sprint(more, " more"))
	}
	return parts
}

// clientWords say how the clients of languages run that do not run them at the same
// time, once for all tables with several clients; empty where there are none.
func (r *Report) clientWords() string {
	var values []string
	for _, t := range r.Tables {
		if t.Cell().Clients < 2 {
			continue
		}
		for _, d := range t.Differences {
			for _, h := range d.Values {
				words := fmt.Sprintf("%s (%s)", h.Value, list(h.Drivers))
				if d.Name == analysis.Clients && h.Value != "" && !slices.Contains(values, words) {
					values = append(values, words)
				}
			}
		}
	}
	if len(values) == 0 {
		return ""
	}
	return wording.Clean("several clients: " + strings.Join(values, "; "))
}

func (f finding) words(s Screen) string {
	evidence := Evidence(f.worst.Doubt)
	if f.worst.Of > 1 && f.worst.Launches > 0 {
		evidence += fmt.Sprintf(" (in %d of %s)", f.worst.Launches, wording.Plural(f.worst.Of, "launch"))
	}
	evidence = short(evidence, 2*s.Width-20)
	switch {
	case f.rows == f.of && f.of > 1:
		return fmt.Sprintf("%s, all figures: %s", f.code, evidence)
	case f.rows == 1:
		return fmt.Sprintf("%s: %s: %s", f.code, f.where, evidence)
	}
	which := "worst"
	if _, reported := f.worst.Doubt.(analysis.Reported); reported { // nothing orders these
		which = "such as"
	}
	return fmt.Sprintf("%s, %d of %d figures; %s: %s: %s", f.code, f.rows, f.of, which, f.where, evidence)
}

// outcomeFindings are the rows that did not end ok, by outcome.
func (r *Report) outcomeFindings() []finding {
	byOutcome := map[assay.Outcome]*finding{}
	rows := 0
	for row := range r.Rows() {
		rows++
		if row.Outcome == assay.OK {
			continue
		}
		f := byOutcome[row.Outcome]
		if f == nil {
			f = &finding{code: string(row.Outcome), table: row.Table, where: row.Name() + ", " + r.label(row.Table), worst: analysis.Warning{Doubt: analysis.Reported{Warning: assay.Warning{Evidence: row.Reason}}}}
			byOutcome[row.Outcome] = f
		}
		f.rows++
	}
	var all []finding
	for _, outcome := range []assay.Outcome{assay.Failed, assay.WrongAnswer, assay.NotApplied, assay.TimedOut, assay.Unsupported, assay.NotRun} {
		if f := byOutcome[outcome]; f != nil {
			f.of = rows
			all = append(all, *f)
		}
	}
	return all
}

// warningFindings are the warnings by code: those that doubt the data first, then
// the most frequent.
func (r *Report) warningFindings(m *matrix) []finding {
	byCode := map[string]*finding{}
	rows := 0
	for _, l := range m.lines {
		marked := slices.ContainsFunc(l.entries, func(e matrixEntry) bool { return e.look == open })
		for _, e := range l.entries {
			if e.row == nil || len(e.row.Figures) == 0 {
				continue
			}
			rows++
			for _, code := range e.row.Codes() {
				if marked && analysis.Kinds[code]&analysis.Obvious != 0 {
					continue
				}
				f := byCode[code]
				if f == nil {
					f = &finding{code: code}
					byCode[code] = f
				}
				f.rows++
				for _, w := range e.row.Warnings {
					if w.Code() == code && (f.where == "" || w.Severity > f.worst.Severity) {
						f.worst, f.where, f.table = w, e.row.Name()+", "+l.label, l.table
					}
				}
			}
		}
	}
	var all []finding
	for _, code := range slices.Sorted(maps.Keys(byCode)) {
		f := *byCode[code]
		f.of = rows
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b finding) int {
		return cmp.Or(rank(b.worst.Is(analysis.Grave))-rank(a.worst.Is(analysis.Grave)), b.rows-a.rows)
	})
	return all
}

func rank(first bool) int {
	if first {
		return 1
	}
	return 0
}

// legend explains the marks that the matrix has.
func legend(m *matrix, baseline string) string {
	var text strings.Builder
	for _, l := range m.lines {
		for _, e := range l.entries {
			text.WriteString(e.text)
		}
	}
	var parts []string
	add := func(mark, words string) {
		if strings.Contains(text.String(), mark) {
			parts = append(parts, words)
		}
	}
	if baseline != "" {
		add("x", "x: times what "+baseline+" takes")
	}
	add(markFastest, "* fastest")
	add(markTied, "= tied with the fastest")
	add(markOpen, "? undecided")
	add(markAlert, "! see below")
	apart := "~ and a class: of that durability, not compared"
	if classes := slices.Collect(maps.Keys(m.classes())); len(classes) == 1 {
		apart = fmt.Sprintf("~%s: of that durability, not compared", class(assay.Durability(classes[0])))
	}
	add(markApart, apart)
	add(markSpread, fmt.Sprintf("± its 95 %% interval, where launches are few or it is wider than %.0f %%", 100*maxSpread))
	return strings.Join(append(parts, instancesNote), "; ")
}

// instancesNote says what times are that are read as a program's own.
const instancesNote = "programs take turns: alone, writes take up to 20 % less; reads have no writer beside them"
