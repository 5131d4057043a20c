package tune

import (
	"cmp"
	"fmt"
	"strings"

	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
)

// figures are the operations of whom the report tells: of the proposal, or of the
// best that was confirmed.
func (r *Report) figures() []stat.Interval {
	switch {
	case r.Outcome.Chosen != nil:
		return r.Outcome.Chosen.Operations
	case len(r.Outcome.Finalists) > 0:
		return r.Outcome.Best.Operations
	}
	return nil
}

// table has, of each of these operations, its name, its current figure and the confirmed
// ratio.
func (r *Report) table() [][]string {
	var all [][]string
	for i, gain := range r.figures() {
		all = append(all, []string{r.Operations[i].Name, r.Operations[i].now(), ratio(gain)})
	}
	return all
}

const (
	maxRows             = 14 // operations that text shows
	otherConditionsNote = "The proposal against the current settings at other amounts of data and numbers of clients (one-sided 95 % bounds; within: shown to be at most 5 % slower; slower: shown to be by more; both adjusted for all)"
)

// document says everything, the answer first.
func (r *Report) document() doc.Document {
	var d doc.Document
	r.addIndexes(&d)
	d.Add(doc.Answer, "%s", r.answer())
	if prices := r.prices(); len(prices) > 0 {
		d.Add(doc.Footnote, "%s: %s", pricesTitle, strings.Join(prices, "; "))
	}
	d.AddSome(doc.Footnote, r.basis())
	d.AddSome(doc.Warning, r.harmed()...)
	d.AddTable(doc.Grid{Header: []string{"operation", "now", "confirmed ratio, above 1 is faster"}, Right: []bool{false, true}, Rows: r.table(), Most: maxRows})
	r.addSections(&d)
	d.AddChart(r.curves())
	d.AddChart(r.priceChart())
	d.AddFold("the settings, as the search saw them: these figures are not confirmed", r.effects())
	d.Add(doc.Footnote, "%s", r.evidence())
	for _, s := range r.next() {
		if d.Add(doc.Footnote, "next: %s", s.text); s.command != "" {
			d.AddLines(doc.Literal, s.command)
		}
	}
	if r.Emitted != "" {
		d.Add(doc.Subheading, "Configuration")
		d.AddLines(doc.Code, strings.TrimSuffix(r.Emitted, "\n"))
	}
	return d
}

// addIndexes says what helps before any setting.
func (r *Report) addIndexes(d *doc.Document) {
	helping, _, _ := r.indexes()
	if len(helping) == 0 {
		return
	}
	d.Add(doc.Paragraph, "%s:", r.indexTitle())
	for _, f := range helping {
		for _, statement := range r.Space.Prepare(f.Point) {
			d.AddLines(doc.Literal, statement+";")
		}
		if len(r.Space.Prepare(f.Point)) == 0 {
			d.Add(doc.Paragraph, "%s", r.change(f))
		}
		d.Add(doc.Footnote, "%s", r.effect(f))
	}
}

// addSections adds all that follows the operations.
func (r *Report) addSections(d *doc.Document) {
	nothing, open := r.nothing()
	changed, kept := r.proposed()
	_, uses, idle := r.indexes()
	var advice, tried []string
	for _, f := range uses {
		advice = append(advice, r.change(f)+": "+r.effect(f))
	}
	for _, f := range idle {
		tried = append(tried, cmp.Or(r.Space.Use(f.Point).String(), r.Space.state(f.Point))+" "+ratio(f.Gain))
	}
	d.AddList("query plans without an index", r.Unindexed)
	d.AddList("tried before any setting, not shown to help", tried)
	d.AddList("change", changed)
	d.AddList("as before", kept)
	d.AddList("what each does (the best combination against itself without it)", r.settingEffects())
	d.AddList(fmt.Sprintf("do nothing here (within %.3g %%)", 100*r.Margin), nothing)
	d.AddList("not in the proposal (what the search saw)", open)
	d.AddList("other data and clients", r.conditionLines())
	d.AddFold("other data and clients, each operation", r.conditions())
	if text := r.memory(); text != "" {
		d.AddList("memory", []string{text})
	}
	d.AddList("note", r.notes())
	d.AddList("with your settings", advice)
}

// conditions returns what the proposal does on other data and with other clients.
func (r *Report) conditions() doc.Document {
	var d doc.Document
	grid := doc.Grid{Header: []string{"at", "operation", "ratio", "at least", "at most", "shown"}, Right: []bool{false, false, true, true, true}}
	for _, c := range r.Outcome.Robustness {
		for i, l := range c.Losses {
			if l.Measured {
				grid.Rows = append(grid.Rows, []string{c.Condition.Name, r.Operations[i].Name, wording.Digits(l.Center) + "x", wording.Digits(l.AtLeast) + "x", wording.Digits(l.AtMost) + "x", verdict(l)})
			}
		}
	}
	if d.AddTable(grid); len(d) > 0 {
		d.Add(doc.Footnote, "%s", otherConditionsNote)
	}
	return d
}

// effects returns what the search saw of each setting.
func (r *Report) effects() doc.Document {
	var d doc.Document
	grid := doc.Grid{Header: []string{"setting", "gain"}, Right: []bool{false, true}}
	for _, e := range r.Outcome.Effects {
		grid.Rows = append(grid.Rows, []string{r.changed(e.Factor, e.Level), ratio(e.Gain)})
	}
	d.AddTable(grid)
	return d
}
