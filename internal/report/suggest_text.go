package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// suggestionSentence says what a suggestion shows, and nothing that it does not
// show.
func suggestionSentence(s analysis.Suggestion) string {
	text := suggestionWords(s)
	if s.Leaning() {
		text = leaningWords(s, "", alone(s.Open[:1]))
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
		list(best), each, s.Leads, comparisonsOf(s.Decided, alone(s.Best)), lossWords(s), undecided, otherClasses(s)+memoryOf(s.Best))
}

// leaningWords name who may turn out to be the best, the most often ahead first, and how likely
// that is; or how little it matters who does. What is promised is said behind who leads.
func leaningWords(s analysis.Suggestion, promised string, alone bool) string {
	lead, of := s.Open[0], comparisonsOf(s.Decided+s.Undecided, alone)
	var race []string
	for _, c := range s.Open {
		race = append(race, with(c.Row))
	}
	if s.Close() {
		apart := apartWords(s.Apart)
		return fmt.Sprintf("too close to matter: %s differ by at most %s in %s%s; does that matter to you? If not, --margin %s calls them equal",
			list(race), apart, of, promised, strings.ReplaceAll(apart, " ", ""))
	}
	text := fmt.Sprintf("leaning to %s: ahead in %d of %s", race[0], lead.Ahead, of)
	if s.Chance < 0.5 {
		text = fmt.Sprintf("no winner yet: %s is ahead in %d of %s", race[0], lead.Ahead, of)
	}
	if lead.Best > 0 {
		text += fmt.Sprintf(", %d of them shown", lead.Best)
	}
	text += oddsWords(s.Chance) + promised + otherClasses(s) + memoryOf(s.Open[:1])
	if len(race) > 1 {
		text += "; still in the race: " + firstFew(race[1:], maxNamed)
	}
	return text
}

// apartWords is a factor as a share beyond 1, rounded up.
func apartWords(factor float64) string { return fmt.Sprintf("%.1f %%", math.Ceil(1000*(factor-1))/10) }

const maxOdds = 19 // as far as simulations check

// oddsWords are a chance as odds, rounded down; nothing where they are against it.
func oddsWords(chance float64) string {
	odds := math.Floor(chance / (1 - chance))
	words := fmt.Sprintf("%.0f to 1", odds)
	switch {
	case math.IsNaN(chance):
		return ", too few launches for odds"
	case chance < 0.5:
		return ""
	case odds < 2:
		words = "about even"
	case odds >= maxOdds:
		words = fmt.Sprintf("over %d to 1", maxOdds)
	}
	return fmt.Sprintf(", odds %s that nothing is faster over all tables", words)
}

// otherClasses say what a suggestion was not ranked against.
func otherClasses(s analysis.Suggestion) string {
	if len(s.Others) == 0 {
		return ""
	}
	var parts []string
	for _, o := range s.Others {
		parts = append(parts, fmt.Sprintf("%d of %s", o.Members, cmp.Or(string(o.Durability), "unknown durability")))
	}
	return "; not ranked against the " + list(parts)
}

// lossWords say what the pick costs at most where it is not shown to be the fastest.
func lossWords(s analysis.Suggestion) string {
	if math.IsNaN(s.Loss) || s.Leads == s.Decided+s.Undecided {
		return ""
	}
	return fmt.Sprintf(", elsewhere at most %.2fx slower (95 %% bound)", math.Ceil(100*s.Loss)/100)
}

// alone reports whether all candidates were measured with one process only.
func alone(candidates []analysis.Candidate) bool {
	return !slices.ContainsFunc(candidates, func(c analysis.Candidate) bool { return !c.Alone() })
}

// comparisonsOf counts comparisons, and says where there was one process only.
func comparisonsOf(n int, alone bool) string {
	text := wording.Plural(n, "comparison")
	if alone {
		text += " of one process"
	}
	return text
}

// memoryOf says that nothing of the data of some candidates lasts.
func memoryOf(candidates []analysis.Candidate) string {
	var lost []string
	for _, c := range candidates {
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
