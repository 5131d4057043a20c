package gate

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"assay/internal/analysis/wording"
)

const (
	defaultWidth = 100 // columns of a screen
	minWidth     = 60  // a narrower terminal breaks the lines by itself
	maxLines     = 42  // of it, for all upgrades together
	maxList      = 6   // entries of a list that is no finding
	lists        = 8   // shares of the room, of which each list has one
)

// writeText prints one screen.
func writeText(out io.Writer, r *Report) error {
	w := bufio.NewWriter(out)
	rooms := r.rooms()
	for i, u := range r.Upgrades {
		if i > 0 {
			fmt.Fprintln(w)
		}
		for _, line := range r.lines(u, rooms[i]) {
			fmt.Fprintln(w, wording.Printable(line))
		}
	}
	if len(r.Upgrades) == 0 {
		fmt.Fprintln(w, "PASS: "+r.none())
	}
	return w.Flush()
}

// rooms divides the lines of a screen: those upgrades share it that need more than
// an equal part.
func (r *Report) rooms() []int {
	rooms, left := make([]int, len(r.Upgrades)), maxLines
	needs := make([]int, len(r.Upgrades))
	for i, u := range r.Upgrades {
		needs[i] = len(r.lines(u, maxLines))
	}
	for n, i := range orderOf(needs) {
		rooms[i] = left / (len(rooms) - n)
		left -= min(needs[i], rooms[i])
	}
	return rooms
}

// orderOf are the indexes of values, that of the least first.
func orderOf(values []int) []int {
	all := make([]int, len(values))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return values[a] - values[b] })
	return all
}

// lines are an upgrade in so many lines: findings first, of which none is left
// out without a word.
func (r *Report) lines(u *Upgrade, room int) []string {
	head := r.wrap(r.title(u))
	var findings, last []string
	for _, f := range u.Findings(r.Rules) {
		findings = append(findings, r.wrap("! "+f.Text())...)
	}
	if counts := u.counts(r.Rules); counts != "" {
		last = append(last, r.wrap(counts)...)
	}
	if u.NotMeasured != "" && !r.Rules.FailUndecided {
		last = append(last, r.wrap("not measured: "+u.NotMeasured)...)
	}
	last = append(last, r.entries("faster", u.in(Faster), room)...)
	if !r.Rules.FailUndecided { // else they are findings
		last = append(last, r.entries("undecided", slices.Concat(u.in(Undecided), u.Effects.Open), room)...)
	}
	last = append(last, r.entries("not compared", u.in(NotCompared), room)...)
	last = append(last, r.entries("changed", u.Notes(), room)...)
	if text := u.evidence(); text != "" {
		last = append(last, r.wrap(text)...)
	}
	free := max(3, room-len(head)-len(last))
	if len(findings) > free {
		left := len(findings) - free + 1
		findings = append(findings[:free-1], fmt.Sprintf("! and %s more: --format markdown has all", wording.Plural(left, "line")))
	}
	return append(append(head, findings...), last...)
}

// entries are a list with its title, cut where it is long.
func (r *Report) entries(title string, all []string, room int) []string {
	var lines []string
	most := max(1, min(maxList, room/lists))
	for i, text := range all {
		if i == most && len(all)-i > 1 { // one more takes no more room than the word of it
			return append(lines, fmt.Sprintf("%s: and %d more", title, len(all)-i))
		}
		lines = append(lines, r.clip(title+": "+text))
	}
	return lines
}

// clip cuts a line to the width of the screen.
func (r *Report) clip(line string) string {
	if utf8.RuneCountInString(line) <= r.width() {
		return line
	}
	return string([]rune(line)[:r.width()-3]) + "..."
}

// width is that of the terminal, or else of a usual screen.
func (r *Report) width() int { return max(cmp.Or(r.Width, defaultWidth), minWidth) }

// wrap breaks a text between words. Lines behind the first are indented.
func (r *Report) wrap(text string) []string { return wording.Wrap(r.width(), "", "  ", text) }
