package report

import (
	"fmt"

	"assay"
	"assay/internal/analysis"
)

// Sentence says what a suggestion shows, and nothing that it does not show.
func suggestionSentence(s analysis.Suggestion) string {
	switch {
	case s.Leads == 0:
		return wish(s.Durability) + "no driver and profile is best or tied-best in any of " + plural(s.Decided, "comparison")
	case !s.Ahead():
		return wish(s.Durability) + "no driver and profile is ahead of the others"
	}
	var best []string
	for _, c := range s.Best {
		best = append(best, with(c.Row)+remark(c))
	}
	each, undecided := "", ""
	if len(best) > 1 {
		each = "each "
	}
	if s.Open > 0 {
		undecided = fmt.Sprintf("; %d more cannot be told yet", s.Open)
	}
	return clean(fmt.Sprintf("%s%s: %sbest or tied-best in %d of %s that the data decide%s",
		wish(s.Durability), list(best), each, s.Leads, plural(s.Decided, "comparison"), undecided))
}

// remark says where a candidate did not end ok.
func remark(c analysis.Candidate) string {
	if c.NotOK == 0 {
		return ""
	}
	return fmt.Sprintf(" (not ok in %s)", plural(c.NotOK, "table"))
}

// wish is the condition of a suggestion.
func wish(d assay.Durability) string {
	if d == assay.DurabilityUnknown {
		return "Overall: "
	}
	return fmt.Sprintf("For durability %s (%s): ", d, d.Loss())
}
