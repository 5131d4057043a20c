package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// Screen says where the answer of a run is printed.
type Screen struct {
	Width int  // columns of the terminal
	Color bool // it shows colours
}

const (
	maxLines     = 47 // of a screen
	minWidth     = 40
	maxKnow      = 9 // lines of what to know
	minKnow      = 3
	knowFrame    = 3 // its heading and the empty lines around it
	maxAdvice    = 5 // sentences of the answer
	maxExcluded  = 2
	maxReasons   = 3
	maxReason    = 60 // characters of one in the first lines
	defaultWidth = 100
)

// WriteScreen prints the answer on one screen: what to use, all tables in one
// matrix, what to know, and what is open.
func (r *Report) WriteScreen(w io.Writer, s Screen) error {
	s.Width = max(cmp.Or(s.Width, defaultWidth), minWidth)
	a := r.Answer()
	m := r.matrix(a)
	last := append(r.openLines(a, s), r.detailLines(s)...)
	top := r.pickLines(a, s, false)
	if s.height(top)+m.wanted(s)+minKnow+knowFrame+s.height(last) > maxLines { // figures come before what notes rest on
		top = r.pickLines(a, s, true)
	}
	free := maxLines - s.height(top) - s.height(last)
	know := r.knowLines(a, s, min(maxKnow, max(minKnow, free-m.wanted(s)-knowFrame)))
	lines := slices.Concat(harmless(top), m.render(s, free-len(know)), harmless(know), harmless(last))
	out := bufio.NewWriter(w)
	for _, line := range lines {
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return out.Flush()
}

// FigureLines are the figures of all tables, as the screen has them, in at most so many lines.
func (r *Report) FigureLines(width, height int) []string {
	m := r.matrix(r.Answer())
	m.legend = ""
	if lines := m.render(Screen{Width: width}, height+1); len(lines) > 0 && height > 0 {
		return lines[1:] // the first is empty
	}
	return nil
}

// harmless are lines without control characters. Those of the matrix are made of
// clean texts, and of colours.
func harmless(lines []string) []string {
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = wording.Printable(line)
	}
	return all
}

// height counts the lines that a terminal takes for some lines of text: those to
// be copied are not broken.
func (s Screen) height(lines []string) int {
	n := 0
	for _, line := range lines {
		n += max(1, (utf8.RuneCountInString(line)+s.Width-1)/s.Width)
	}
	return n
}

func (s Screen) wrap(first, other, text string) []string {
	return wording.Wrap(s.Width, first, other, text)
}

// pickLines say what was measured and what to use; brief: of notes, only what to do.
func (r *Report) pickLines(a analysis.Answer, s Screen, brief bool) []string {
	lines := s.wrap("", "  ", r.extent(a))
	lines = append(lines, r.leftOutLines(a, s)...)
	lines = append(lines, "")
	all := r.advice(a)
	all = append(all[:1], slices.DeleteFunc(all[1:], func(c advice) bool { return c.even })...)
	for i, c := range all {
		if i == maxAdvice {
			lines = append(lines, fmt.Sprintf("  and %d more, see Details", len(all)-i))
			break
		}
		lines = append(lines, s.wrap("", "  ", c.text)...)
		for _, use := range c.uses {
			opening := r.connectionLines(analysis.NewConnection(use), s)
			if len(opening) > 0 && len(c.uses) > 1 {
				lines = append(lines, s.wrap("  ", "  ", wording.Clean(with(use)+":"))...)
			}
			lines = append(lines, opening...)
			for _, note := range r.notesOf(use, brief) {
				lines = append(lines, s.wrap("  "+markAlert+" ", "    ", note)...)
			}
		}
	}
	return lines
}

// leftOut are the tables of which nothing was measured, where others were.
func leftOut(a analysis.Answer) []analysis.Line {
	empty := slices.DeleteFunc(slices.Clone(a.Lines), func(l analysis.Line) bool { return !l.Empty() })
	if len(empty) == len(a.Lines) {
		return nil
	}
	return empty
}

// leftOutLines name the tables of which nothing was measured, where others were.
func (r *Report) leftOutLines(a analysis.Answer, s Screen) []string {
	var names []string
	for _, l := range leftOut(a) {
		names = append(names, listed(r.label(l.Table)))
	}
	if len(names) == 0 {
		return nil
	}
	return s.wrap("", "  ", wording.Clean(fmt.Sprintf("Not measured in that time: %s.", wording.FirstFew(names, maxNamed))))
}

// extent returns what the run measured.
func (r *Report) extent(a analysis.Answer) string {
	drivers, profiles := map[string]bool{}, map[string]bool{}
	for _, c := range a.Columns {
		drivers[c.Driver], profiles[c.Profile] = true, true
	}
	fewest, most, noise := 0, 0, 0.0
	for _, t := range r.Tables {
		noise = max(noise, t.Noise)
		for _, row := range t.Rows {
			if n := len(row.Counted()); n > 0 {
				if fewest == 0 || n < fewest {
					fewest = n
				}
				most = max(most, n)
			}
		}
	}
	measured := wording.Plural(len(r.Tables), "table")
	if a.OneProcess {
		measured += ", one process"
	}
	text := fmt.Sprintf("%s: %s x %s, %s, %s (fresh processes) each", wording.Clean(cmp.Or(r.Run.Plan, "run "+r.Run.ID)), wording.Plural(len(drivers), "driver"),
		wording.Plural(len(profiles), "profile"), measured, wording.Between(fewest, most, "launch"))
	took := cmp.Or(r.Run.Spent.Total(), r.Run.Finished.Sub(r.Run.Started)).Round(time.Second) // not what lay between a stop and --resume
	if !r.Run.Finished.IsZero() && took > 0 {
		text += ", " + took.String()
	}
	if noise > 0 {
		text += "; " + wording.Noise(noise)
	}
	if n := r.computed(); n > 0 {
		text += fmt.Sprintf("; this machine was busy: CPU time decides %d of the tables", n)
	}
	if r.Run.Status != assay.Finished {
		text += fmt.Sprintf("; not finished (%s)", cmp.Or(r.Run.Status, "unknown"))
	}
	return text
}

// computed counts the tables that compare CPU time, because the machine was busy.
func (r *Report) computed() (n int) {
	for _, t := range r.Tables {
		if t.Primary.Name == assay.ComputePerOp {
			n++
		}
	}
	return n
}

// notesOf returns what a user of a target with its profile has to know, beside how to open it;
// brief: without what was found.
func (r *Report) notesOf(use *analysis.Row, brief bool) (all []string) {
	note := func(about string, w analysis.Warning) {
		text := w.Advice
		if !brief {
			text = w.Evidence + "; " + text
		}
		all = append(all, wording.Clean(about+": "+text+"."))
	}
	alike := func(row *analysis.Row) bool { return row.Name() == use.Name() && besideWriter(row) }
	if slices.ContainsFunc(slices.Collect(r.Rows()), alike) {
		all = append(all, "one-writer: give writers a pool of their own with one connection (in Go: SetMaxOpenConns(1)).")
	}
	for _, f := range r.warningFindings(func(row *analysis.Row, w analysis.Warning) bool {
		return row.Name() == use.Name() && w.Is(analysis.OfUse)
	}) {
		note(f.code+", "+r.label(f.table), f.worst)
	}
	others := map[analysis.UnlikeSyncs][]string{} // that sync in the same way
	var ways []analysis.UnlikeSyncs
	for _, unlike := range r.UnlikeSyncs(use) {
		name := unlike.Names[0]
		unlike.Names[0] = ""
		if others[unlike] == nil {
			ways = append(ways, unlike)
		}
		others[unlike] = append(others[unlike], name)
	}
	for _, way := range ways {
		way.Names[0] = wording.FirstFew(others[way], maxNamed)
		w := way.Warning()
		note(w.Code, w)
	}
	return all
}

// besideWriter reports whether a row's clients read while one connection wrote.
func besideWriter(row *analysis.Row) bool {
	readers, one, more := false, false, false
	for _, s := range row.Settings { // several of one kind are named reader-1..reader-4 (4)
		readers = readers || strings.HasPrefix(s.Connection, "reader-")
		one = one || s.Connection == "writer-1"
		more = more || s.Connection != "writer-1" && strings.HasPrefix(s.Connection, "writer-")
	}
	return readers && one && !more && row.Cell.AllClients() > 1 && row.Cell.OfSQLite()
}

// noCgoSentence answers the first question of many Go developers.
func noCgoSentence(n analysis.Alternative) string {
	speed, word, end := n.Cost, "slower", "."
	switch {
	case speed.High < 1:
		speed, word = speed.Inverse(), "faster"
	case speed.Low <= 1:
		word, end = "of its time", ": undecided."
	}
	of := "this table"
	if n.Cost.N > 1 {
		of = fmt.Sprintf("these %d tables, each once; not your mix", n.Cost.N)
	}
	return fmt.Sprintf("Without cgo: %s, %s %s in %s%s", n.Name, wording.Times(speed), word, of, end)
}

// openingOf returns how to open what was picked: the code of a program in the worker's language;
// or its DSN, and what every connection runs.
func (r *Report) openingOf(c analysis.Connection) []string {
	lines := c.Code(r.Run.Targets)
	if len(lines) == 0 {
		if c.DSN != "" {
			lines = append(lines, c.DSN)
		}
		if len(c.Each) > 0 {
			lines = append(lines, strings.Join(c.Each, "; "))
		}
	}
	return lines
}

// connectionLines show how to open what was picked; or else its settings in words.
func (r *Report) connectionLines(c analysis.Connection, s Screen) (lines []string) {
	for _, line := range r.openingOf(c) {
		lines = append(lines, "  "+wording.Printable(line))
	}
	if len(lines) > 0 {
		return lines
	}
	var words []string
	for _, setting := range c.Settings {
		if setting.Requested != "" {
			words = append(words, setting.Name+"="+wording.Setting(setting.Name, setting.Effective))
		}
	}
	if len(words) == 0 {
		return nil
	}
	return s.wrap("  ", "  ", wording.Clean(strings.Join(words, " ")))
}

// failures say in how many tables the target with the profile did not end ok, and
// why it did not in the first of them.
func (r *Report) failures(row *analysis.Row) string {
	n, why := 0, ""
	for other := range r.Rows() {
		if other.Name() == row.Name() && other.Outcome != assay.OK && other.Outcome != assay.NotRun {
			n++
			why = cmp.Or(why, ended(other))
		}
	}
	return fmt.Sprintf("in %s (%s)", wording.Plural(n, "table"), short(why, maxReason))
}

// unrankedSentence says why nothing can be ranked: the most frequent reasons.
func (r *Report) unrankedSentence() string {
	names := map[string][]string{}
	for row := range r.Rows() {
		why := ended(row)
		if row.Outcome == assay.OK {
			why = "the settings that were read back do not tell what a power cut loses"
		}
		names[why] = append(names[why], row.Name())
	}
	reasons := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(len(names[b])-len(names[a]), strings.Compare(a, b))
	})
	for i, why := range reasons {
		who := wording.FirstFew(slices.Compact(slices.Sorted(slices.Values(names[why]))), 1)
		reasons[i] = fmt.Sprintf("%s: %s (%s)", who, short(why, 2*maxReason), wording.Plural(len(names[why]), "figure"))
	}
	if more := len(reasons) - maxReasons; more > 0 {
		reasons = append(reasons[:maxReasons], fmt.Sprint(more, " more"))
	}
	return "Nothing can be ranked: " + strings.Join(reasons, "; ") + "."
}

// incomparableSentence says why there is no verdict, and will be none.
func (r *Report) incomparableSentence(a analysis.Answer) string {
	if len(a.Columns) == 1 {
		return "Nothing to compare: the run has one driver with one profile. Its figures:"
	}
	for row := range r.Rows() {
		if unlike := row.Unlike(); unlike != nil {
			w := unlike.Warning()
			return wording.Clean(fmt.Sprintf("Nothing to compare: settings promise different durability (%s): %s.", w.Evidence, w.Advice))
		}
	}
	return "Nothing to compare: in no table did two drivers or profiles end ok and promise the same durability."
}

// detailLines say where everything else is.
func (r *Report) detailLines(s Screen) []string {
	page := r.command("report", r.Run.ID, "--format", "html", "-o", cmp.Or(fileName(r.Run.Plan, ""), "run")+".html")
	return append(s.command("Details:", r.command("report", r.Run.ID)), s.command("A page to share:", page)...)
}

// command shows a command behind what it does, or under it, never broken.
func (s Screen) command(does, command string) []string {
	if one := does + " " + command; utf8.RuneCountInString(one) <= s.Width {
		return []string{one}
	}
	return []string{does, "  " + command}
}

// command is a command of assay that reads the store of this report; empty words are
// none.
func (r *Report) command(words ...string) string {
	return wording.Command(r.Store, slices.DeleteFunc(words, func(word string) bool { return word == "" })...)
}

// short cuts a text off.
func short(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

// shortInside cuts the middle out of a text: names of operations often begin alike.
func shortInside(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n/2]) + "…" + string(runes[len(runes)-(n-1)/2:])
}
