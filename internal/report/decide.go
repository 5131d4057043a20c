package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// openLines say what is undecided, and the command that decides it; and what differs too little
// to matter.
func (r *Report) openLines(a analysis.Answer, s Screen) (lines []string) {
	if !a.Ranked() && a.NotRun == 0 {
		return nil
	}
	saidOfAll := slices.ContainsFunc(a.Leaning, analysis.Suggestion.Close)
	if len(a.Near) > 0 && !saidOfAll {
		apart := apartWords(a.Apart)
		lines = s.wrap("", "  ", fmt.Sprintf("Too close to matter in %s: what is undecided there differs by at most %s. Does that matter to you? If not, --margin %s calls it equal.",
			r.tablesWords(a.Near), apart, strings.ReplaceAll(apart, " ", "")))
	}
	text := "Who is fastest is undecided in " + r.tablesWords(a.Open)
	switch {
	case len(a.Open) == 0 && a.NotRun == 0:
		return lines
	case len(a.Open) == 0:
		text = fmt.Sprintf("The budget had no time for %s", wording.Plural(a.NotRun, "figure"))
	}
	switch {
	case r.resumes():
		text += ". The run was stopped; it goes on with"
	case len(a.Open) == 0 || r.unmeasured(a):
		text += ". A longer run shows more"
	case a.Needs == 0:
		return append(lines, s.wrap("", "  ", fmt.Sprintf("%s: not within %s on this machine. Fewer cells (--only) or a quieter machine show more.", text, analysis.Patience))...)
	case len(a.Decidable) < len(a.Open):
		text += fmt.Sprintf("; this decides %d of them within %s", len(a.Decidable), a.Needs)
	default:
		text += "; this decides it within " + a.Needs.String()
	}
	return append(append(lines, s.wrap("", "  ", text+":")...), "  "+r.decide(a))
}

// tablesWords count some tables, and name the first of them where it is not all.
func (r *Report) tablesWords(some []*analysis.Table) string {
	switch {
	case len(some) < len(r.Tables):
	case len(some) == 1:
		return "the only table"
	default:
		return fmt.Sprintf("all %d tables", len(some))
	}
	var names []string
	for _, t := range some {
		names = append(names, listed(r.label(t)))
	}
	return wording.Clean(fmt.Sprintf("%d of %s (%s)", len(some), wording.Plural(len(r.Tables), "table"), wording.FirstFew(names, maxNamed)))
}

// unmeasured reports whether some open tables were never measured, and nothing tells how long
// that takes.
func (r *Report) unmeasured(a analysis.Answer) bool {
	return r.Run.MinTime == 0 && slices.ContainsFunc(a.Open, func(t *analysis.Table) bool { return t.Launch == 0 })
}

// listed is a label as a list has it, whose commas are between labels.
func listed(label string) string { return strings.ReplaceAll(label, ", ", " ") }

// resumes reports whether the user can resume the run.
func (r *Report) resumes() bool {
	return r.Run.Status == assay.Interrupted && !r.Run.Imported
}

// decide is the command that measures the tables that it is likely to decide, or else all, for
// as long as that needs.
func (r *Report) decide(a analysis.Answer) string {
	if r.resumes() {
		return r.command("run", planOf(r.Run), "--resume")
	}
	run, operations, all := r.Run, map[string]bool{}, map[string]bool{}
	tables := a.Decidable
	longer := 2 * run.Options.Budget
	if run.Options.Budget < analysis.Patience {
		longer = min(longer, analysis.Patience)
	}
	run.Options.Budget = max(a.Needs, longer.Round(time.Second))
	if len(tables) == 0 || r.unmeasured(a) {
		tables = a.Open
	} else {
		run.Options.Budget = a.Needs
	}
	if asked := run.Options.Asked; len(asked) > 0 {
		run.Options.Drivers = asked // one name for many
	}
	for _, t := range tables {
		operations[t.Cell().Operation] = true
	}
	for _, t := range r.Tables {
		all[t.Cell().Operation] = true
	}
	if len(operations) > 0 && len(operations) < len(all) {
		only := map[string][]string{}
		maps.Copy(only, run.Options.Only)
		only["operation"], run.Options.Only = slices.Sorted(maps.Keys(operations)), only
	}
	return repeat(run, r.Store)
}
