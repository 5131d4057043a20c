package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/sys/format"
)

// Report holds what a gate has to say.
type Report struct {
	Upgrades []*Upgrade
	Rules    Rules
	Driver   string // the only one that was asked for; empty: all that the lock files pin
	Store    string // as commands that read it name it; empty: the default
	Width    int    // of text, in columns; 0: there is no terminal
}

// Passed reports whether no upgrade has findings.
func (r *Report) Passed() bool {
	return !slices.ContainsFunc(r.Upgrades, func(u *Upgrade) bool { return len(u.Findings(r.Rules)) > 0 })
}

// Measured reports whether something is known of any upgrade.
func (r *Report) Measured() bool {
	return slices.ContainsFunc(r.Upgrades, func(u *Upgrade) bool { return u.First != nil || u.NotBuilt != "" || len(u.Effects.Lost) > 0 })
}

// Formats returns the formats of a report, by this version of assay.
func Formats(version string) format.List[*Report] {
	return append(doc.Formats((*Report).document, func(r *Report) int { return r.Width }),
		format.Format[*Report]{Name: "junit", Write: func(out io.Writer, r *Report) error { return format.JUnit(out, r.suites()) }},
		format.Format[*Report]{Name: "sarif", Write: func(out io.Writer, r *Report) error { return format.SARIF(out, version, rules(), r.sarif()) }},
		format.Format[*Report]{Name: "json", Write: func(out io.Writer, r *Report) error { return format.JSON(out, r.values()) }})
}

// none says that there is no upgrade.
func (r *Report) none() string {
	if r.Driver != "" {
		return "driver " + r.Driver + " has no other version in the lock files"
	}
	return "no driver that assay knows has another version in the lock files"
}

// title names an upgrade, with how it came out.
func (r *Report) title(u *Upgrade) string {
	if u.NotMeasured != "" {
		return u.Name() + ": " + r.word(u)
	}
	return u.Name() + ", plan " + u.Plan + ": " + r.word(u)
}

// word returns how an upgrade came out.
func (r *Report) word(u *Upgrade) string {
	regressions, open := u.regressions(), 0
	for _, f := range u.Findings(r.Rules) {
		if f.Kind == Open {
			open++
		}
	}
	switch {
	case regressions+open == 0 && u.NotMeasured != "":
		return "NOT MEASURED"
	case regressions+open == 0:
		return "PASS" + u.couldSee(r.Rules)
	case regressions == 0 && u.NotMeasured != "":
		return "FAIL, not measured"
	case regressions == 0 && !r.Rules.FailUndecided:
		return "FAIL, nothing compared"
	case regressions == 0:
		return fmt.Sprintf("FAIL, %d undecided", open)
	case open == 0:
		return "FAIL, " + wording.Plural(regressions, "regression")
	default:
		return fmt.Sprintf("FAIL, %s, %d undecided", wording.Plural(regressions, "regression"), open)
	}
}

// couldSee returns what a pass was able to find: how many cells are undecided, and which slowdowns
// the intervals would have shown. Empty where all were decided.
func (u *Upgrade) couldSee(rules Rules) string {
	undecided := len(u.undecided())
	if undecided == 0 {
		return ""
	}
	text := fmt.Sprintf(", %d of %d undecided: this budget sees ", undecided, len(u.First.Cells))
	seen := u.visible(rules)
	if len(seen) == 0 {
		return text + "no slowdown"
	}
	half, all := percent(seen[(len(seen)-1)/2]), percent(seen[len(seen)-1])
	if half == all {
		return text + "slowdowns of " + all
	}
	return text + "slowdowns of " + half + " in half of the compared cells, of " + all + " in all"
}

// visible are the slowdowns, as fractions, that the intervals of the cells would have shown,
// the smallest first. They have to be above what is allowed as well.
func (u *Upgrade) visible(rules Rules) []float64 {
	var all []float64
	for _, c := range u.Cells() {
		if c.Cost.Known() && c.Cost.Low > 0 {
			all = append(all, max(rules.MaxSlowdown, c.Cost.Center/c.Cost.Low-1))
		}
	}
	slices.Sort(all)
	return all
}

// regressions counts what regressed, as counts does: a cell with several findings is one.
func (u *Upgrade) regressions() int {
	n := len(u.Effects.Lost)
	if u.NotBuilt != "" {
		n++
	}
	for _, c := range u.Cells() {
		if c.State == Regressed {
			n++
		}
	}
	return n
}

// Text is the finding in a line.
func (f Finding) Text() string {
	if f.Cell == "" {
		return f.Message
	}
	return f.Cell + ": " + f.Message
}

// counts says how many cells, and results of the experiments with a DSN, are in which state.
func (u *Upgrade) counts(rules Rules) string {
	if u.First == nil {
		return ""
	}
	numbers := map[State]int{Undecided: len(u.Effects.Open), Regressed: len(u.Effects.Lost)}
	for _, c := range u.Cells() {
		numbers[c.State]++
	}
	words := []struct {
		State
		text string
	}{
		{Equivalent, "equivalent within " + percent(u.First.Margin)},
		{Faster, "faster"},
		{Tolerated, "no more than " + percent(rules.MaxSlowdown) + " slower"},
		{Regressed, "regressed (confirmed)"},
		{Undecided, "undecided"},
		{NotCompared, "not compared"},
	}
	var parts []string
	for _, w := range words {
		if n := numbers[w.State]; n > 0 {
			parts = append(parts, fmt.Sprint(n, " ", w.text))
		}
	}
	return strings.Join(parts, ", ")
}

// evidence says what the figures rest on.
func (u *Upgrade) evidence(store string) string {
	if u.First == nil {
		return ""
	}
	minimum, maximum := u.First.launches()
	text := fmt.Sprintf("%s, %s each; %s", wording.Plural(len(u.First.Cells), "cell"), wording.Between(minimum, maximum, "launch"), wording.Command(store, "report", u.First.Run))
	if u.First.Noise > 0 {
		text += "; " + wording.Noise(u.First.Noise)
	}
	if u.Second != nil {
		minimum, maximum := u.Second.launches()
		text += fmt.Sprintf("; suspicions measured again in %s: %s", wording.Between(minimum, maximum, "fresh launch"), wording.Command(store, "report", u.Second.Run))
	}
	if layout := u.layout(); layout != "" {
		text += "; " + layout
	}
	return text
}

// layout says what the order of functions can do to the times that are said to have changed;
// empty where it varied, or none changed.
func (u *Upgrade) layout() string {
	if u.First == nil || u.First.Layout == "" || !u.differs() {
		return ""
	}
	return "the functions lie in one order in all launches: " + u.First.Layout
}

// message is the finding's own, with what the link layout can do to its times.
func (u *Upgrade) message(f Finding) string {
	if layout := u.layout(); f.Kind == Slower && layout != "" {
		return f.Message + "; " + layout
	}
	return f.Message
}

// differs reports whether a time is said to have changed.
func (u *Upgrade) differs() bool {
	return slices.ContainsFunc(u.Cells(), func(c Cell) bool {
		return c.State == Faster || slices.ContainsFunc(c.Suspicions, func(f Finding) bool { return f.Kind == Slower })
	})
}

func (m *Measurement) launches() (minimum, maximum int) {
	for i, c := range m.Cells {
		if i == 0 || c.Launches < minimum {
			minimum = c.Launches
		}
		maximum = max(maximum, c.Launches)
	}
	return minimum, maximum
}

func percent(fraction float64) string {
	if fraction >= 1 {
		return fmt.Sprintf("%.0f %%", 100*fraction)
	}
	return fmt.Sprintf("%.3g %%", 100*fraction)
}

// in are the cells in a state, with what is known of them.
func (u *Upgrade) in(state State) []string {
	var all []string
	for _, c := range u.Cells() {
		if c.State != state {
			continue
		}
		text := c.Name()
		switch {
		case c.Reason != "":
			text += ": " + c.Reason
		case c.Cost.N > 0:
			text += " " + wording.Times(c.Cost)
		}
		all = append(all, text)
	}
	return all
}
