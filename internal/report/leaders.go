package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// maxLeaders are named where several lead.
const maxLeaders = 2

// leaders names who leads in a table: in each class of durability, where it changes data;
// nobody where nothing was measured, or no class has two rows.
func leaders(t *analysis.Table, profiles bool) []string {
	var all []string
	for _, k := range t.Rankings {
		if len(k.Rows) == 1 && len(t.Rankings) > 1 {
			continue // nothing to choose from
		}
		text := leadersOf(k, profiles)
		if promise := k.Promise(); promise != "" {
			text = promise + ": " + text
		}
		all = append(all, wording.Clean(text))
	}
	return all
}

// leadersOf is the figure of the first one, and then their names, which a narrow screen
// cuts.
func leadersOf(k *analysis.Ranking, profiles bool) string {
	all := k.Leaders()
	var names []string
	for i, row := range all {
		if i == maxLeaders {
			names = append(names, fmt.Sprintf("%d more", len(all)-i))
			break
		}
		name := row.Driver
		if profiles && row.Cell.Profile != "" {
			name += " " + row.Cell.Profile
		}
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	mark, _ := markOf(k.Standing(k.Rows[0]))
	if f, has := k.Rows[0].Figure(k.Table.Primary.Name); has {
		return wording.Human(f.Interval.Center, f.Metric.Unit) + mark + " " + text
	}
	return text + mark
}

// leadersLegend explains the marks that some lines have.
func leadersLegend(lines []matrixLine) string {
	text := ""
	for _, l := range lines {
		text += strings.Join(l.leaders, " ")
	}
	parts := append([]string{"the first one's figure, and who leads"}, markWords(text, "")...)
	if strings.Contains(text, ": ") {
		parts = append(parts, "before the colon: the class of durability")
	}
	return strings.Join(parts, "; ")
}

// renderLeaders prints who leads in each table in at most so many lines. Tables that
// nobody leads are counted among those that have no room.
func (m *matrix) renderLeaders(s Screen, free int) []string {
	tables := slices.DeleteFunc(slices.Clone(m.lines), func(l matrixLine) bool { return l.tail })
	led := *m
	led.lines = slices.DeleteFunc(slices.Clone(tables), func(l matrixLine) bool { return len(l.leaders) == 0 })
	m = &led
	label := m.labelWidth(s)
	if all := m.longest(func(l matrixLine) []string { return l.leaders }); s.Width-columnGap-all > label { // what the names leave
		label = min(m.longest(matrixLine.name), s.Width-columnGap-all)
	}
	free -= len(s.wrap("  ", "  ", leadersLegend(m.lines))) + 2 // the empty line above, and the one that counts the others
	kept, _ := m.fit(len(m.lines))
	for len(kept) > 1 && height(kept) > free {
		kept, _ = m.fit(len(kept) - 1)
	}
	lines := []string{""}
	for _, l := range kept {
		name := shortInside(l.label, label)
		for _, text := range l.leaders {
			lines = append(lines, short(name+strings.Repeat(" ", label-utf8.RuneCountInString(name)+columnGap)+text, s.Width))
			name = ""
		}
	}
	if folded := len(tables) - len(kept); folded > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more, see Details", folded))
	}
	return append(lines, s.wrap("  ", "  ", leadersLegend(kept))...)
}

// longest is the length of the longest of some texts of all lines.
func (m *matrix) longest(texts func(matrixLine) []string) int {
	n := 0
	for _, l := range m.lines {
		for _, text := range texts(l) {
			n = max(n, utf8.RuneCountInString(text))
		}
	}
	return n
}

// height returns how many lines the leaders of some tables take.
func height(tables []matrixLine) int {
	n := 0
	for _, l := range tables {
		n += len(l.leaders)
	}
	return n
}
