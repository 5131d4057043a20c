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

// advice is a sentence of the answer.
type advice struct {
	text string
	uses []*analysis.Row // what it says to use, or most likely will
	even bool            // nobody is ahead: no news where somebody is of another class
}

// advice says what to use of what promises each class of durability, or why that is open.
func (r *Report) advice(a analysis.Answer) (all []advice) {
	switch {
	case len(r.Tables) == 0:
		return []advice{{text: "The run has no trials: there is nothing to compare."}}
	case !a.Ranked():
		return []advice{{text: r.unrankedSentence()}}
	case a.Decided+len(a.Open)+len(a.Near) == 0:
		return []advice{{text: r.incomparableSentence(a)}}
	case a.Only != nil:
		all = []advice{{fmt.Sprintf("Use %s: nothing else ran every operation.", with(a.Only.Row)), []*analysis.Row{a.Only.Row}, false}}
	default:
		for _, s := range slices.Concat(a.Picks, a.Leaning, a.Even) {
			all = append(all, advice{suggestionSentence(s, a.OneProcess), s.Uses(), len(s.Uses()) == 0})
		}
	}
	if len(all) == 0 {
		all = []advice{{text: fmt.Sprintf("No driver and profile is ahead in the %s that the data decide.", wording.Plural(a.Decided, "table"))}}
	}
	if a.NoCgo != nil {
		all = append(all, advice{text: noCgoSentence(*a.NoCgo)})
	}
	for i, c := range a.Excluded {
		if i == maxExcluded {
			all = append(all, advice{text: fmt.Sprintf("%d more did not end ok everywhere.", len(a.Excluded)-i)})
			break
		}
		all = append(all, advice{text: fmt.Sprintf("Not %s, which did not end ok %s.", with(c.Row), r.failures(c.Row))})
	}
	for i := range all {
		all[i].text = wording.Clean(all[i].text)
	}
	return all
}

// suggestionSentence says what a suggestion shows, and nothing that it does not show; oneProcess
// says that the run has one process everywhere.
func suggestionSentence(s analysis.Suggestion, oneProcess bool) string {
	of := wording.Plural(s.Decided+s.Undecided, "comparison")
	if one := s.Candidates(); len(one) > 0 && !oneProcess && eachOneProcess(one) {
		of += " of one process"
	}
	uses, rest := withEach(s.Candidates()), promiseWords(s)
	switch {
	case s.Shown():
		if s.Undecided > 0 {
			of += fmt.Sprintf(" (%d undecided)", s.Undecided)
		}
		return fmt.Sprintf("Use %s%s: fastest or tied in %d of %s%s%s.", strings.Join(uses, " or "), condition(s), s.Leads, of, lossWords(s), rest)
	case s.Close():
		apart := apartWords(s.Apart)
		return fmt.Sprintf("Too close to matter%s: %s differ by at most %s in %s%s; does that matter to you? If not, --margin %s calls them equal.",
			condition(s), list(uses), apart, of, rest, strings.ReplaceAll(apart, " ", ""))
	case len(s.Candidates()) == 0:
		return fmt.Sprintf("Nothing ran every operation%s%s.", condition(s), rest)
	case !s.Leaning():
		return fmt.Sprintf("No driver and profile is ahead%s: of those that ran everything, none leads in more of %s than the others%s.", condition(s), of, rest)
	}
	text := fmt.Sprintf("Leaning to %s%s: ahead", uses[0], condition(s))
	if s.Chance < 0.5 || s.Partial {
		text = fmt.Sprintf("No winner yet%s: %s is ahead", condition(s), uses[0])
	}
	text += fmt.Sprintf(" in %d of %s", s.Open[0].Ahead, of)
	if best := s.Open[0].Best; best > 0 {
		text += fmt.Sprintf(", %d of them shown", best)
	}
	text += oddsWords(s) + rest
	if len(uses) > 1 {
		alike := strings.TrimPrefix(uses[0], s.Open[0].Row.Driver) // its profile goes without saying
		for i, use := range uses {
			uses[i] = strings.TrimSuffix(use, alike)
		}
		text += "; still in the race: " + wording.FirstFew(uses[1:], maxNamed)
	}
	return text + "."
}

// withEach are candidates as advice names them.
func withEach(candidates []analysis.Candidate) (all []string) {
	for _, c := range candidates {
		all = append(all, with(c.Row))
	}
	return all
}

// enough says for whom a class of durability is.
var enough = map[assay.Durability]string{
	assay.Power:      "every acknowledged commit must survive a power cut",
	assay.LastCommit: "a power cut may lose at most the last commit",
	assay.Consistent: "a power cut may lose the commits since the last sync",
	assay.Process:    "a power cut may corrupt the data, and a killed application may not",
	assay.None:       "a killed application may lose or corrupt data",
}

// condition says for whom a suggestion is: those of several classes are told apart by it.
func condition(s analysis.Suggestion) string {
	text := enough[s.Durability]
	if text == "" {
		return ""
	}
	if slices.ContainsFunc(s.Others, func(o analysis.OtherClass) bool { return o.Durability == s.Durability }) {
		text += map[bool]string{true: ", and each commit is to be synced", false: ", and no commit need be synced"}[s.Syncs]
	}
	return " if " + text
}

// promiseWords say what the promise of a suggestion rests on, what it was not ranked against,
// and whose data do not last.
func promiseWords(s analysis.Suggestion) (text string) {
	candidates := s.Candidates()
	if s.Durability != assay.DurabilityUnknown {
		row := analysis.Row{Durability: s.Durability}
		if len(candidates) > 0 { // of whose rows the first may change nothing, and promise nothing
			row.Proofs, row.Claimed = candidates[0].Row.Proofs, candidates[0].Row.Claimed
		}
		text = ", at durability " + lastingWords(&row)
	}
	if len(s.Others) > 0 {
		var parts []string
		for _, o := range s.Others {
			name := cmp.Or(string(o.Durability), "unknown durability")
			if o.Durability == s.Durability {
				name += map[bool]string{true: " with syncs", false: " without syncs"}[o.Syncs]
			}
			parts = append(parts, wording.Plural(o.Members, "other")+" of "+name)
		}
		text += "; not ranked with " + list(parts)
	}
	var lost []string
	for _, c := range candidates {
		if (assay.Promise{Settings: c.Row.Settings}).InMemory() {
			lost = append(lost, with(c.Row))
		}
	}
	if len(lost) > 0 {
		text += fmt.Sprintf("; the data of %s are in memory, and end with the program", list(lost))
	}
	return text
}

// apartWords is a factor as a share beyond 1, rounded up.
func apartWords(factor float64) string { return fmt.Sprintf("%.1f %%", math.Ceil(1000*(factor-1))/10) }

const maxOdds = 19 // as far as simulations check

// oddsWords are a chance as odds, rounded down; nothing where they are against it.
func oddsWords(s analysis.Suggestion) string {
	chance := s.Chance
	odds := math.Floor(chance / (1 - chance))
	words := fmt.Sprintf("%.0f to 1", odds)
	switch {
	case s.Partial:
		return ", and not measured in all of them"
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

// lossWords say what the pick costs at most where it is not shown to be the fastest.
func lossWords(s analysis.Suggestion) string {
	switch {
	case s.Loss == 1 || s.Leads == s.Decided+s.Undecided:
		return ""
	case math.IsNaN(s.Loss):
		return ", what it costs elsewhere is not known"
	}
	return fmt.Sprintf(", elsewhere at most %.2fx slower (95 %% bound)", math.Ceil(100*s.Loss)/100)
}

// eachOneProcess reports whether all candidates were measured with one process only.
func eachOneProcess(candidates []analysis.Candidate) bool {
	return !slices.ContainsFunc(candidates, func(c analysis.Candidate) bool { return !c.OneProcess() })
}
