package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// matrix is all tables of a run in one: a line a table, a column a target with a
// profile. The screen and the page show it.
type matrix struct {
	columns []analysis.Column
	lines   []matrixLine
	legend  string

	baseline      string
	circumstances []string
	tight         bool // one space between columns
}

type matrixLine struct {
	label   string
	table   *analysis.Table
	entries []matrixEntry
	leaders []string // who leads, for screens that have no room for the entries
	weight  int      // of two lines the heavier one stays where not both fit
	tail    bool     // it has percentiles of the table before
}

// matrixEntry holds what one target with one profile reached in a table.
type matrixEntry struct {
	text       string
	brief      string // text without how uncertain it is
	row        *analysis.Row
	look       look
	otherClass bool // it promises another class of durability than the baseline
}

// look says how an entry stands out.
type look int

const (
	plain look = iota
	best
	open
	bad
)

// The marks of entries.
const (
	markFastest = "*"
	markTied    = "="
	markOpen    = "?"
	markAlert   = "!"
	markApart   = "~"
	markSpread  = "±"
)

func (r *Report) matrix(a analysis.Answer) *matrix {
	m := &matrix{columns: a.Columns, circumstances: r.circumstances()}
	everywhere := r.everywhere()
	baseline := ""
	if a.Baseline >= 0 {
		baseline = a.Columns[a.Baseline].Name()
	}
	named := len(leftOut(a)) > 0
	for _, l := range a.Lines {
		if named && l.Empty() {
			continue
		}
		line := matrixLine{label: r.label(l.Table), table: l.Table, leaders: leaders(l.Table, m.hasProfiles())}
		for i, e := range l.Entries {
			entry := newEntry(e, l.Table, i == a.Baseline || a.Baseline < 0 || l.Entries[a.Baseline].Row == nil, everywhere)
			if entry.look == open || entry.look == bad {
				line.weight++
			}
			if e.Standing == analysis.Fastest && len(a.Picks) > 0 && e.Row.Name() != a.Picks[0].Best[0].Row.Name() {
				line.weight++ // not what the pick lets expect
			}
			line.entries = append(line.entries, entry)
		}
		m.lines = append(m.lines, line)
		if tail, has := tailLine(l, line); has {
			m.lines = append(m.lines, tail)
		}
	}
	m.nameClasses()
	m.baseline, m.legend = baseline, legend(m, baseline)
	return m
}

// tailLine has the 99th percentiles of latency of a table that is about throughput; false where
// there are none.
func tailLine(l analysis.Line, of matrixLine) (tail matrixLine, has bool) {
	tail = matrixLine{label: of.label + ", p99", table: of.table, weight: of.weight, tail: true}
	for _, e := range l.Entries {
		text := "-"
		if e.Row != nil && e.Row.Comparable() {
			if f, known := e.Row.Figure(assay.P99); known && l.Table.Primary.HigherBetter {
				text, has = wording.Human(f.Interval.Center, f.Metric.Unit), true
			}
		}
		tail.entries = append(tail.entries, matrixEntry{text: text, brief: text})
	}
	return tail, has
}

// newEntry words an entry; whole says that it shows its figure, not a ratio.
func newEntry(e analysis.Entry, t *analysis.Table, whole bool, everywhere map[string]bool) matrixEntry {
	entry := matrixEntry{row: e.Row, text: "-", brief: "-"}
	switch e.Standing {
	case analysis.Missing:
		return entry
	case analysis.Bad:
		text := string(e.Row.Outcome) + markAlert
		if e.Row.BusyByDefault {
			text = "busy" + markAlert
		}
		return matrixEntry{row: e.Row, text: text, brief: text, look: bad}
	}
	mark, look := markOf(e.Standing)
	entry.look, entry.otherClass = look, e.Apart
	if f, has := e.Row.Figure(t.Primary.Name); has && (whole || e.Apart || e.Cost == nil) {
		entry.text = shownFigure(f.Interval, f.Metric.Unit)
		entry.brief, _, _ = strings.Cut(entry.text, markSpread)
	}
	switch {
	case e.Apart:
		mark += markApart
	case e.Cost != nil:
		entry.text = wording.Digits(e.Cost.Center) + "x"
		entry.brief = entry.text
	}
	if !e.Apart && slices.ContainsFunc(e.Row.Warnings, func(w analysis.Warning) bool { return !w.Is(analysis.Shown) && !everywhere[w.Code] }) {
		mark += markAlert
	}
	entry.text, entry.brief = entry.text+mark, entry.brief+mark
	return entry
}

func markOf(s analysis.Standing) (string, look) {
	switch s {
	case analysis.Fastest:
		return markFastest, best
	case analysis.Tied:
		return markTied, best
	case analysis.Open:
		return markOpen, open
	}
	return "", plain
}

// everywhere are the codes of warnings that all measured rows have.
func (r *Report) everywhere() map[string]bool {
	counts, rows := map[string]int{}, 0
	for row := range r.Rows() {
		if len(row.Figures) == 0 {
			continue
		}
		rows++
		for _, code := range row.Codes() {
			counts[code]++
		}
	}
	all := map[string]bool{}
	for code, n := range counts {
		all[code] = n == rows && rows > 1
	}
	return all
}

// nameClasses adds to the entries that are apart which class they promise, where that is
// not the same for all: else the legend has it.
func (m *matrix) nameClasses() {
	classes := m.classes()
	for _, l := range m.lines {
		for i := range l.entries {
			if e := &l.entries[i]; e.otherClass && len(classes) > 1 {
				e.text, e.brief = e.text+apartAs(e.row), e.brief+apartAs(e.row)
			}
		}
	}
}

// classes returns the classes of the entries that are apart.
func (m *matrix) classes() map[string]bool {
	all := map[string]bool{}
	for _, l := range m.lines {
		for _, e := range l.entries {
			if e.otherClass {
				all[apartAs(e.row)] = true
			}
		}
	}
	return all
}

// apartAs returns what a row promises and the baseline does not: another class, or within one
// class to sync or not.
func apartAs(row *analysis.Row) string {
	unlike := row.Unlike()
	switch {
	case unlike == nil || unlike.Classes[0] != unlike.Classes[1]:
		return string(row.Durability)
	case unlike.Syncs[1]:
		return "synced"
	}
	return "unsynced"
}

// label names a table in words: the operation, with the coordinates that are not the same in all
// tables.
func (r *Report) label(t *analysis.Table) string { return r.labelOf(t.Cell()) }

func (r *Report) labelOf(cell assay.Cell) string {
	parts := []string{cell.Operation}
	if slices.ContainsFunc(r.Tables, func(t *analysis.Table) bool {
		other := t.Cell()
		return other.Operation == cell.Operation && other.Workload != cell.Workload
	}) {
		parts[0] = cell.Workload + ":" + cell.Operation
	}
	for _, c := range assay.TableCoordinates() {
		if c.Long != nil && !c.Plain(cell) && r.distinguishes(c, cell) {
			parts = append(parts, c.Long(cell))
		}
	}
	return wording.Clean(strings.Join(append(parts, r.paramLabels(cell)...), ", "))
}

// distinguishes reports whether a coordinate tells tables of one operation apart, whose name says
// the rest. Several clients are named wherever the tables of the run differ in them.
func (r *Report) distinguishes(c assay.Coordinate, cell assay.Cell) bool {
	if !r.differing[c.Name] || c.Name == "clients" && cell.Clients > 1 {
		return r.differing[c.Name]
	}
	return r.tellsApart(cell, c.Value)
}

// tellsApart reports whether tables of a cell's operation differ in a value.
func (r *Report) tellsApart(cell assay.Cell, value func(assay.Cell) string) bool {
	return slices.ContainsFunc(r.Tables, func(t *analysis.Table) bool {
		other := t.Cell()
		return other.Workload == cell.Workload && other.Operation == cell.Operation && value(other) != value(cell)
	})
}

const (
	maxSpread = 0.2 // of a figure without its interval
	minLabel  = 20
	fewTables = 12 // that a screen has room for before it tells less else
	maxColumn = 14
	columnGap = 2 // between columns
)

// render prints the matrix in at most so many lines: columns in groups where they
// are wider than the screen, and where these are too long, only who leads in each table;
// the lines that say least are folded where they are too many.
func (m *matrix) render(s Screen, free int) []string {
	if len(m.lines) == 0 || len(m.columns) == 0 {
		return nil
	}
	m = m.fitting(s)
	label := m.labelWidth(s)
	groups := m.groups(s.Width - label)
	var legend []string
	if m.legend != "" {
		legend = s.wrap("  ", "  ", m.legend)
	}
	room := func(other int) int { return (free-len(legend)-other)/len(groups) - m.headers() }
	kept, folded := m.lines, 0
	if len(m.lines) > room(1) { // the empty line above
		if len(groups) > 1 {
			return m.renderLeaders(s, free)
		}
		kept, folded = m.fit(room(2)) // and the one that counts the others
	}
	lines := []string{""}
	for _, group := range groups {
		lines = append(lines, m.header(group, label)...)
		for _, l := range kept {
			lines = append(lines, l.render(group, label, m.widths(group), s.Color))
		}
	}
	if folded > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more, see Details", folded))
	}
	return append(lines, legend...)
}

// fitting is the matrix without how uncertain its figures are, where only so all columns fit
// beside each other.
func (m *matrix) fitting(s Screen) *matrix {
	if m.spaced(s); len(m.groups(s.Width-m.labelWidth(s))) < 2 {
		return m
	}
	brief := m.briefly()
	brief.spaced(s)
	if len(brief.groups(s.Width-brief.labelWidth(s))) > 1 {
		return m
	}
	if m.legend != "" {
		brief.legend = legend(brief, m.baseline)
	}
	return brief
}

// spaced brings the columns closer together, where names have too little room.
func (m *matrix) spaced(s Screen) {
	m.tight = false
	m.tight = m.longest(matrixLine.name) > m.labelWidth(s)
}

// briefly is the matrix without how uncertain its figures are.
func (m *matrix) briefly() *matrix {
	brief := *m
	brief.lines = slices.Clone(m.lines)
	for i, l := range m.lines {
		entries := slices.Clone(l.entries)
		for j := range entries {
			entries[j].text = entries[j].brief
		}
		brief.lines[i].entries = entries
	}
	return &brief
}

// name is the table's name, as a text of the line.
func (l matrixLine) name() []string { return []string{l.label} }

// headers returns how many lines name the columns.
func (m *matrix) headers() int {
	if m.hasProfiles() {
		return 2
	}
	return 1
}

// labelWidth is at most what all columns leave, or else a third of the screen.
func (m *matrix) labelWidth(s Screen) int {
	left := s.Width
	for _, w := range m.widths(nil) {
		left -= w
	}
	if left < minLabel {
		left = max(minLabel, s.Width/3)
	}
	return min(m.longest(matrixLine.name), left)
}

// wanted returns how many lines it needs to show a few tables, or all where there are
// less.
func (m *matrix) wanted(s Screen) int {
	if len(m.lines) == 0 || len(m.columns) == 0 {
		return 0
	}
	m = m.fitting(s)
	groups := len(m.groups(s.Width - m.labelWidth(s)))
	return 2 + len(s.wrap("  ", "  ", m.legend)) + groups*(m.headers()+min(len(m.lines), max(2, fewTables/groups)))
}

// fit keeps the lines that say most, in their order.
func (m *matrix) fit(room int) (kept []matrixLine, folded int) {
	room = min(max(1, room), len(m.lines))
	order := make([]int, len(m.lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return m.lines[b].weight - m.lines[a].weight })
	stays := order[:room]
	for i, l := range m.lines {
		if slices.Contains(stays, i) {
			kept = append(kept, l)
		}
	}
	return kept, len(m.lines) - len(kept)
}

// groups splits the columns so that each group fits into a width.
func (m *matrix) groups(width int) [][]int {
	var all [][]int
	used := 0
	for i, w := range m.widths(nil) {
		if len(all) == 0 || used+w > width {
			all, used = append(all, nil), 0
		}
		last := len(all) - 1
		all[last] = append(all[last], i)
		used += w
	}
	return all
}

// widths returns the widths of some columns with the space before them; of all where none are
// named.
func (m *matrix) widths(group []int) []int {
	if group == nil {
		for i := range m.columns {
			group = append(group, i)
		}
	}
	var widths []int
	for _, i := range group {
		w := max(min(utf8.RuneCountInString(m.columns[i].Driver), maxColumn), min(utf8.RuneCountInString(m.columns[i].Profile), maxColumn))
		for _, l := range m.lines {
			w = max(w, utf8.RuneCountInString(l.entries[i].text))
		}
		if w += columnGap; m.tight {
			w--
		}
		widths = append(widths, w)
	}
	return widths
}

func (m *matrix) hasProfiles() bool {
	return slices.ContainsFunc(m.columns, func(c analysis.Column) bool { return c.Profile != m.columns[0].Profile })
}

func (m *matrix) header(group []int, label int) []string {
	first, second := strings.Repeat(" ", label), strings.Repeat(" ", label)
	for i, w := range m.widths(group) {
		c := m.columns[group[i]]
		first += pad(short(wording.Clean(c.Driver), maxColumn), w)
		second += pad(short(wording.Clean(c.Profile), maxColumn), w)
	}
	if !m.hasProfiles() {
		return []string{first}
	}
	return []string{first, second}
}

// render is a line for the columns of a group.
func (l matrixLine) render(group []int, label int, widths []int, color bool) string {
	name := shortInside(l.label, label)
	line := name + strings.Repeat(" ", label-utf8.RuneCountInString(name))
	for i, w := range widths {
		e := l.entries[group[i]]
		line += e.paint(pad(e.text, w), color)
	}
	return line
}

// pad puts spaces before a text.
func pad(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text))) + text
}

// paint gives a text the colour of its look. The marks say the same without it.
func (e matrixEntry) paint(text string, color bool) string {
	code := map[look]string{best: "32", open: "33", bad: "31"}[e.look]
	if !color || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
