package report

import (
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
func (r *Report) knowLines(a analysis.Answer, s Screen, limit int) []string {
	if len(r.Tables) == 0 || !a.Ranked() { // the first lines say why
		return []string{""}
	}
	var lines []string
	all := r.know(a, s)
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

// know returns what a reader must know beside what stands where the answer is, each kind once.
func (r *Report) know(a analysis.Answer, s Screen) (all []knownDoubt) {
	used := map[string]bool{}
	for _, c := range r.advice(a) {
		for _, use := range c.uses {
			used[use.Name()] = true
		}
	}
	for _, f := range append(r.outcomeFindings(), r.warningFindings(func(row *analysis.Row, w analysis.Warning) bool {
		syncs := w.Code == analysis.UnequalSyncs
		return !(used[row.Name()] && (syncs || w.Is(analysis.OfUse))) && !(syncs && used[row.Reference.Name()])
	})...) {
		all = append(all, knownDoubt{f.words(s), f.worst.Advice, f.table})
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
	metric, named string
	clear         func(*assay.Cell)
	pair          func(row, base assay.Cell) string
}

// changeAxes are processes, the way to begin, and each param that begins with 0: what there is
// once more of it, such as commits beside reads, whose own time a median leaves out.
func (r *Report) changeAxes() []changeAxis {
	axes := []changeAxis{
		{assay.OpPerS, "operations per second", func(c *assay.Cell) { c.Processes = 0 }, func(row, base assay.Cell) string {
			return fmt.Sprintf("%s instead of %d", wording.Plural(max(1, row.Processes), "process"), max(1, base.Processes))
		}},
		{assay.OpPerS, "operations per second", func(c *assay.Cell) { c.Begin = "" }, func(row, base assay.Cell) string {
			return fmt.Sprintf("begin %s instead of %s", row.Begun(), base.Begun())
		}},
	}
	zero := map[string]bool{}
	for row := range r.Rows() {
		for name, value := range row.Cell.Params {
			zero[name] = zero[name] || value == "0"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(zero)) {
		if zero[name] {
			axes = append(axes, changeAxis{assay.P50, "median time", func(c *assay.Cell) {
				c.Params = maps.Clone(c.Params)
				delete(c.Params, name)
			}, func(row, base assay.Cell) string {
				return fmt.Sprintf("%s %s instead of %s", row.Params[name], name, base.Params[name])
			}})
		}
	}
	return axes
}

// changeWords say in one line what other values of the axes change for the target that leads,
// or else the first one that has them; empty where none has.
func (r *Report) changeWords(a analysis.Answer) string {
	axes := r.changeAxes()
	changes := make([][]analysis.Change, len(axes))
	for i, axis := range axes {
		changes[i] = slices.DeleteFunc(r.Changes(axis.metric, axis.clear), func(c analysis.Change) bool { return !(c.Ratio.Center > 0) })
	}
	found := slices.Concat(changes...)
	if len(found) == 0 {
		return ""
	}
	of := found[0].Row.Name()
	if lead := a.Lead(); lead != nil && slices.ContainsFunc(found, func(c analysis.Change) bool { return c.Row.Name() == lead.Name() }) {
		of = lead.Name()
	}
	words, named := of, ""
	for i, axis := range axes {
		for _, part := range r.changeParts(axis, slices.DeleteFunc(changes[i], func(c analysis.Change) bool { return c.Row.Name() != of })) {
			if axis.named != named {
				words, named = words+", "+axis.named+", "+part, axis.named
				continue
			}
			words += "; " + part
		}
	}
	return wording.Clean(words)
}

// changeParts say by which factor each operation changes along an axis.
func (r *Report) changeParts(axis changeAxis, changes []analysis.Change) (parts []string) {
	before := ""
	for _, c := range changes {
		alike := c.Row.Cell
		axis.clear(&alike)
		part := r.labelOf(alike) + " " + wording.Digits(c.Ratio.Center) + "x"
		if !c.Verdict.Decided() {
			part += " (undecided)"
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
	evidence := wording.Clean(f.worst.Evidence)
	if f.worst.Of > 1 && f.worst.Launches > 0 {
		evidence += fmt.Sprintf(" (in %d of %s)", f.worst.Launches, wording.Plural(f.worst.Of, "launch"))
	}
	evidence = short(evidence, 2*s.Width-20)
	if f.rows == 1 {
		return fmt.Sprintf("%s: %s: %s", f.code, f.where, evidence)
	}
	count, which := fmt.Sprintf("%d of %d figures", f.rows, f.of), "worst"
	if f.rows == f.of {
		count = "all figures"
	}
	if f.worst.Reported() { // nothing orders these
		which = "such as"
	}
	return fmt.Sprintf("%s, %s; %s: %s: %s", f.code, count, which, f.where, evidence)
}

// outcomeFindings are the rows that did not end ok, by outcome.
func (r *Report) outcomeFindings() (all []finding) {
	for _, outcome := range []assay.Outcome{assay.Failed, assay.WrongAnswer, assay.NotApplied, assay.TimedOut, assay.Unsupported, assay.NotRun} {
		f := finding{code: string(outcome)}
		for row := range r.Rows() {
			f.of++
			if row.Outcome != outcome {
				continue
			}
			if f.rows++; f.rows == 1 {
				f.table, f.where = row.Table, row.Name()+", "+r.label(row.Table)
				f.worst = analysis.Warning{Warning: assay.Warning{Evidence: row.Reason}, Of: 1}
			}
		}
		if f.rows > 0 {
			all = append(all, f)
		}
	}
	return all
}

// warningFindings are the warnings of a kind by code: those that doubt the data first, then
// the most frequent.
func (r *Report) warningFindings(kind func(*analysis.Row, analysis.Warning) bool) []finding {
	byCode := map[string]*finding{}
	rows := 0
	for _, l := range r.Answer().Lines {
		marked := slices.ContainsFunc(l.Entries, func(e analysis.Entry) bool { return e.Standing == analysis.Open })
		for _, e := range l.Entries {
			if e.Row == nil || len(e.Row.Figures) == 0 {
				continue
			}
			rows++
			counted := map[string]bool{}
			for _, w := range e.Row.Warnings {
				code := w.Code
				if marked && w.Is(analysis.Obvious) || !kind(e.Row, w) {
					continue
				}
				f := byCode[code]
				if f == nil {
					f = &finding{code: code}
					byCode[code] = f
				}
				if !counted[code] {
					counted[code] = true
					f.rows++
				}
				if f.where == "" || w.Severity > f.worst.Severity {
					f.worst, f.where, f.table = w, e.Row.Name()+", "+r.label(l.Table), l.Table
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
	slices.SortStableFunc(all, func(a, b finding) int { return b.rows - a.rows })
	mild := slices.DeleteFunc(slices.Clone(all), func(f finding) bool { return f.worst.Is(analysis.Grave) })
	return append(slices.DeleteFunc(all, func(f finding) bool { return !f.worst.Is(analysis.Grave) }), mild...)
}

// markWords explain the marks that a text has.
func markWords(text, apart string) (all []string) {
	for _, m := range []struct{ mark, words string }{
		{markFastest, "fastest"}, {markTied, "tied with the fastest"}, {markOpen, "undecided"}, {markAlert, "a warning below"}, {markApart, apart},
		{markSpread, fmt.Sprintf("its 95 %% interval, where launches are few or it is wider than %.0f %%", 100*maxSpread)},
	} {
		if strings.Contains(text, m.mark) {
			all = append(all, m.mark+" "+m.words)
		}
	}
	return all
}

// legend explains what the matrix has.
func legend(m *matrix, baseline string) string {
	var text strings.Builder
	for _, l := range m.lines {
		for _, e := range l.entries {
			text.WriteString(e.text)
		}
	}
	apart := "and a class: of that durability, not compared"
	if classes := slices.Collect(maps.Keys(m.classes())); len(classes) == 1 {
		apart = analysis.Class(assay.Durability(classes[0])) + ": of that durability, not compared"
	}
	parts := markWords(text.String(), apart)
	if baseline != "" && strings.Contains(text.String(), "x") {
		parts = slices.Insert(parts, 0, "x: times what "+baseline+" takes")
	}
	return strings.Join(append(parts, m.circumstances...), "; ")
}

// circumstances say in what the figures differ from those of a program alone, or with a writer. Only
// blocks of one client take turns, where all programs of a table are on SQLite.
func (r *Report) circumstances() (all []string) {
	turns, reads, beside := false, false, []string{}
	for _, t := range r.Tables {
		divided, measured := t.Changes, false
		for _, row := range t.Rows {
			divided = divided && row.Cell.AllClients() == 1 && row.Cell.OfSQLite()
			measured = measured || len(row.Figures) > 0
			if name := row.Cell.Operation; besideWriter(row) && !slices.Contains(beside, name) {
				beside = append(beside, name)
			}
		}
		turns = turns || measured && divided
		reads = reads || measured && !t.Changes
	}
	if turns {
		all = append(all, "programs take turns: alone, writes take up to 20 % less")
	}
	switch {
	case reads && len(beside) > 0:
		all = append(all, "reads but those of "+strings.Join(beside, ", ")+" have no writer beside them")
	case reads:
		all = append(all, "reads have no writer beside them")
	}
	return all
}
