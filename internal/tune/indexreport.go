package tune

import (
	"fmt"
	"strings"

	"assay/internal/wording"
)

// maxIndexes is how many proposals on the data a screen has.
const maxIndexes = 3

// indexes are the states of the data that are shown to help, and those that are not.
// All together is one of them where there is more to it than to one alone.
func (r *Report) indexes() (helping, idle []Finalist) {
	alone := 0
	for _, f := range r.Outcome.Indexes {
		together := len(f.Point.changed()) > 1
		switch {
		case !f.helps(r.Margin):
			idle = append(idle, f)
		case together && alone == 1:
		default:
			helping = append(helping, f)
			if !together {
				alone++
			}
		}
	}
	return helping, idle
}

// statements are those of a state of the data, as one pastes them.
func (r *Report) statements(f Finalist) string {
	return strings.Join(r.Space.Prepare(f.Point), "; ")
}

// effect says what a state of the data does: over all operations, for each that it
// changes, and on the disk.
func (r *Report) effect(f Finalist) string {
	parts := []string{ratio(f.Gain) + " over all operations"}
	var faster, slower []string
	for i, gain := range f.Operations {
		text := r.Operations[i].Name + " " + ratio(gain)
		switch {
		case !gain.Known():
		case gain.Low > 1:
			faster = append(faster, text)
		case gain.High < 1:
			slower = append(slower, text)
		}
	}
	if len(faster) > 0 {
		parts = append(parts, "faster: "+strings.Join(faster, ", "))
	}
	if len(slower) > 0 {
		parts = append(parts, "slower: "+strings.Join(slower, ", "))
	} else {
		parts = append(parts, "no operation is shown to be slower")
	}
	return strings.Join(append(parts, r.grows(f)), "; ")
}

// grows says by how much the file is larger.
func (r *Report) grows(f Finalist) string {
	bytes, known := r.Grows[f.Point.Key()]
	switch {
	case !known:
		return "its size is not known"
	case bytes < 0:
		return size(float64(-bytes)) + " less in the file"
	}
	return size(float64(bytes)) + " more in the file"
}

// indexTitle introduces what helps before any setting.
func (r *Report) indexTitle() string {
	return fmt.Sprintf("Before any setting (measured alone in %s, the settings below without it: tune again with it)", wording.Plural(r.Outcome.IndexLaunches, "launch"))
}

// indexLines are the proposals on the data as text, the first lines of a screen.
func (r *Report) indexLines() []string {
	helping, _ := r.indexes()
	if len(helping) == 0 {
		return nil
	}
	lines := []string{r.indexTitle()}
	for i, f := range helping {
		if i == maxIndexes {
			lines = append(lines, fmt.Sprintf("  and %d more: --format markdown has all", len(helping)-maxIndexes))
			break
		}
		lines = append(lines, "  "+r.statements(f)+";", "    "+r.effect(f))
	}
	return append(lines, "")
}

// idleIndexes are what was tried on the data and is not shown to help.
func (r *Report) idleIndexes() []string {
	_, idle := r.indexes()
	var all []string
	for _, f := range idle {
		all = append(all, r.statements(f)+" "+ratio(f.Gain))
	}
	return all
}

// indexValues are all states of the data as JSON has them.
func (r *Report) indexValues() []indexValue {
	all := []indexValue{}
	for _, f := range r.Outcome.Indexes {
		v := indexValue{Statements: r.Space.Prepare(f.Point), Helps: f.helps(r.Margin), intervalValue: intervalOf(f.Gain), Operations: []operationValue{}}
		if bytes, ok := r.Grows[f.Point.Key()]; ok {
			v.Bytes = &bytes
		}
		for i, gain := range f.Operations {
			v.Operations = append(v.Operations, operationValue{r.Operations[i].Name, intervalOf(gain)})
		}
		all = append(all, v)
	}
	return all
}
