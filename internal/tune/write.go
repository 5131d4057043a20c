package tune

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/stat"
)

type section struct {
	Title string
	Items []string
}

// sections are all that follows the operations, without those that are empty.
func (r *Report) sections() []section {
	nothing, open := r.nothing()
	changed, kept := r.proposed()
	var memory []string
	if text := r.memory(); text != "" {
		memory = []string{text}
	}
	all := []section{
		{"query plans without an index", r.Unindexed},
		{"tried before any setting, not shown to help", r.idleIndexes()},
		{"change", changed},
		{"as before", kept},
		{"what each does (the best combination against itself without it)", r.settingEffects()},
		{fmt.Sprintf("do nothing here (within %.3g %%)", 100*r.Margin), nothing},
		{"not in the proposal (what the screening saw)", open},
		{"other data and clients", r.elsewhere()},
		{"memory", memory},
		{"note", r.notes()},
		{"with your settings", r.uses()},
	}
	return slices.DeleteFunc(all, func(s section) bool { return len(s.Items) == 0 })
}

// figures are the operations of whom the report tells: of the proposal, or of the
// best that was confirmed.
func (r *Report) figures() []stat.Interval {
	switch {
	case r.Outcome.Chosen != nil:
		return r.Outcome.Chosen.Operations
	case len(r.Outcome.Finalists) > 0:
		return r.Outcome.Finalists[0].Operations
	}
	return nil
}

// table has, of each of these operations, its name, its current figure and the confirmed
// ratio.
func (r *Report) table() [][3]string {
	var all [][3]string
	for i, gain := range r.figures() {
		all = append(all, [3]string{r.Operations[i].Name, r.Operations[i].now(), ratio(gain)})
	}
	return all
}

// writeMarkdown prints everything, the race too.
func writeMarkdown(out io.Writer, r *Report) error {
	w := bufio.NewWriter(out)
	escape := strings.NewReplacer("<", "&lt;", ">", "&gt;", "|", `\|`, "\n", " ")
	fmt.Fprintf(w, "### %s\n\n", escape.Replace(r.answer()))
	if prices := r.prices(); len(prices) > 0 {
		fmt.Fprintf(w, "%s\n\n", escape.Replace(pricesTitle+": "+strings.Join(prices, "; ")))
	}
	if helping, _ := r.indexes(); len(helping) > 0 {
		fmt.Fprintf(w, "%s:\n\n", r.indexTitle())
		for _, f := range helping {
			fmt.Fprintf(w, "- %s: %s\n", escape.Replace(r.change(f)), escape.Replace(r.effect(f)))
		}
		fmt.Fprintln(w)
	}
	if basis := r.basis(); basis != "" {
		fmt.Fprintf(w, "%s\n\n", escape.Replace(basis))
	}
	for _, text := range r.harmed() {
		fmt.Fprintf(w, "**%s**\n\n", escape.Replace(text))
	}
	if rows := r.table(); len(rows) > 0 {
		fmt.Fprintf(w, "| operation | now | confirmed ratio, above 1 is faster |\n| --- | --- | --- |\n")
		for _, row := range rows {
			fmt.Fprintf(w, "| %s | %s | %s |\n", escape.Replace(row[0]), row[1], row[2])
		}
		fmt.Fprintln(w)
	}
	for _, s := range r.sections() {
		fmt.Fprintf(w, "%s:\n\n", escape.Replace(s.Title))
		for _, item := range s.Items {
			fmt.Fprintf(w, "- %s\n", escape.Replace(item))
		}
		fmt.Fprintln(w)
	}
	r.writeElsewhere(w, escape)
	r.writeRace(w, escape)
	fmt.Fprintf(w, "%s\n\nNext: %s\n", escape.Replace(r.evidence()), escape.Replace(strings.Join(r.nextTexts(), "; ")))
	if r.Emitted != "" {
		fmt.Fprintf(w, "\n```text\n%s```\n", r.Emitted)
	}
	return w.Flush()
}

// writeElsewhere prints what the proposal does on other data and with other clients.
func (r *Report) writeElsewhere(w io.Writer, escape *strings.Replacer) {
	rows := r.elsewhereRows()
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "%s:\n\n| at | operation | ratio | at least | at most | shown |\n| --- | --- | --- | --- | --- | --- |\n", elsewhereTitle())
	for _, row := range rows {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", row.Condition, escape.Replace(row.Operation), row.Ratio, row.AtLeast, row.AtMost, row.Verdict)
	}
	fmt.Fprintln(w)
}

// writeRace prints who was in the race, and how long.
func (r *Report) writeRace(w io.Writer, escape *strings.Replacer) {
	candidates := r.candidates()
	if len(candidates) == 0 {
		return
	}
	fmt.Fprintf(w, "The race, as the search saw it (these figures are not confirmed):\n\n| changes | blocks | gain |\n| --- | --- | --- |\n")
	for _, c := range candidates {
		fmt.Fprintf(w, "| %s | %d | %s |\n", escape.Replace(c.name), c.blocks, ratio(c.gain))
	}
	fmt.Fprintln(w)
}

// candidate is one of the race, as the search saw it.
type candidate struct {
	name   string    // what it changes
	blocks int       // that it was in
	gains  []float64 // of each, natural logarithms
	gain   stat.Interval
}

// candidates are those of the race: who was in it longest first, and of them the best.
func (r *Report) candidates() []candidate {
	if len(r.Outcome.Blocks) == 0 {
		return nil
	}
	gains := map[string][]float64{}
	for _, b := range r.Outcome.Blocks {
		for i, p := range b.Points {
			gains[p.Key()] = append(gains[p.Key()], b.Gains[i])
		}
	}
	var all []candidate
	for _, p := range r.Outcome.Blocks[0].Points {
		var parts []string
		for _, j := range p.changed() {
			parts = append(parts, r.changed(j, p[j]))
		}
		values := gains[p.Key()]
		name := strings.Join(parts, ", ")
		if name == "" {
			name = "what the search started from"
		}
		all = append(all, candidate{name, len(values), values, against(values, make([]float64, len(values))).Ratio})
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Compare(float64(b.blocks)+mean(b.gains), float64(a.blocks)+mean(a.gains))
	})
	return all
}
