package report

import (
	"fmt"
	"math"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// suggestionSentence says what a suggestion shows, and nothing that it does not
// show.
func suggestionSentence(s analysis.Suggestion) string {
	text := suggestionWords(s)
	if len(s.Open) > 0 && !s.Ahead() {
		text += "; " + leaningWords(s)
	}
	for _, c := range s.Unable {
		text += fmt.Sprintf("; not %s, which is not ok in %s", with(c.Row), wording.Plural(c.NotOK, "table"))
	}
	return wording.Clean(condition(s.Durability) + text)
}

func suggestionWords(s analysis.Suggestion) string {
	switch {
	case s.Leads == 0:
		return "no driver and profile that runs everything is shown to be the best in any of " + wording.Plural(s.Decided+s.Undecided, "comparison")
	case !s.Ahead():
		return "no driver and profile is ahead of the others"
	}
	var best []string
	for _, c := range s.Best {
		best = append(best, with(c.Row))
	}
	each, undecided := "", ""
	if len(best) > 1 {
		each = "each "
	}
	if s.Undecided > 0 {
		undecided = fmt.Sprintf("; %d more are undecided", s.Undecided)
	}
	return fmt.Sprintf("%s: %sfastest, or equivalent to the fastest, in %d of %s that the data decide%s%s%s",
		list(best), each, s.Leads, wording.Plural(s.Decided, "comparison"), lossWords(s), undecided, otherClasses(s)+memoryWords(s))
}

// leaningWords name who may turn out to be the best, the most often ahead first.
func leaningWords(s analysis.Suggestion) string {
	lead := s.Open[0]
	text := fmt.Sprintf("leaning to %s: ahead in %d of %s, not shown", with(lead.Row), lead.Ahead, wording.Plural(s.Decided+s.Undecided, "comparison"))
	if len(s.Open) == 1 {
		return text
	}
	var rest []string
	for _, c := range s.Open[1:] {
		rest = append(rest, with(c.Row))
	}
	return text + "; still in the race: " + strings.Join(rest, ", ")
}

// otherClasses say what a suggestion was not compared with.
func otherClasses(s analysis.Suggestion) string {
	if len(s.Others) == 0 {
		return ""
	}
	var parts []string
	for _, o := range s.Others {
		parts = append(parts, fmt.Sprintf("%d of %s", o.Members, class(o.Durability)))
	}
	return "; not compared with the " + list(parts)
}

// lossWords say what the pick costs at most where it is not shown to be the fastest.
func lossWords(s analysis.Suggestion) string {
	if math.IsNaN(s.Loss) || s.Leads == s.Decided+s.Undecided {
		return ""
	}
	return fmt.Sprintf(", elsewhere at most %.2fx slower (95 %% bound)", math.Ceil(100*s.Loss)/100)
}

// memoryWords say that nothing of the data of a pick lasts.
func memoryWords(s analysis.Suggestion) string {
	var lost []string
	for _, c := range s.Best {
		if (assay.Promise{Settings: c.Row.Settings}).InMemory() {
			lost = append(lost, with(c.Row))
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return fmt.Sprintf("; the data of %s are in memory, and end with the program", list(lost))
}

func condition(d assay.Durability) string {
	if d == assay.DurabilityUnknown {
		return "Overall: "
	}
	return fmt.Sprintf("For durability %s (%s): ", d, d.Loss())
}
