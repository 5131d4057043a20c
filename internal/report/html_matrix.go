package report

import (
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// matrixView is the matrix as the page begins with it.
type matrixView struct {
	Answer   []string // the first lines: what to use
	Profiles bool
	Columns  []analysis.Column
	Lines    []matrixLineView
	Legend   string
}

// matrixLineView is a table; its name and its figures lead to its section.
type matrixLineView struct {
	Label, Anchor string
	Entries       []matrixEntryView
}

type matrixEntryView struct{ Text, Look string }

// matrixView builds it, with links to the tables of the page.
func (r *Report) matrixView(operations []operationView) *matrixView {
	if len(r.Tables) == 0 {
		return nil
	}
	anchors := map[*analysis.Table]string{}
	for _, o := range operations {
		for _, l := range o.tables {
			anchors[l.table] = l.ID
		}
	}
	a := r.Answer()
	m := r.matrix(a)
	v := &matrixView{Answer: r.answerTexts(a), Profiles: m.hasProfiles(), Legend: m.legend}
	for _, c := range m.columns {
		v.Columns = append(v.Columns, analysis.Column{Driver: wording.Clean(c.Driver), Profile: wording.Clean(c.Profile)})
	}
	for _, l := range m.lines {
		line := matrixLineView{Label: l.label, Anchor: anchors[l.table]}
		for _, e := range l.entries {
			line.Entries = append(line.Entries, matrixEntryView{e.text, map[look]string{best: "best", open: "open", bad: "bad"}[e.look]})
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

// answerTexts are the sentences of the first lines.
func (r *Report) answerTexts(a analysis.Answer) []string {
	texts := []string{r.extent(a)}
	for i, pick := range a.Picks {
		if i < maxPicks {
			texts = append(texts, pickSentence(pick))
		}
	}
	for _, leaning := range a.Leaning {
		texts = append(texts, leaningSentence(leaning))
	}
	switch {
	case a.Only != nil:
		texts = append(texts, onlySentence(a))
	case len(a.Picks)+len(a.Leaning) == 0 && a.Decided > 0:
		texts = append(texts, noPickSentence(a))
	case a.Ranked() && a.Decided == 0:
		texts = append(texts, "Undecided: this run decides nothing.")
	}
	if a.NoCgo != nil {
		texts = append(texts, noCgoSentence(*a.NoCgo))
	}
	return texts
}
