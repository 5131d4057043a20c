package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// indexes are the states of the data that were measured before any setting and are shown to
// help, the uses of the driver that are, which most programs know and which are said last, and all
// that is not. All states of the data together is one of them where there is more to it than to
// one alone.
func (r *Report) indexes() (helping, uses, idle []Finalist) {
	single := 0
	for _, f := range r.Outcome.Indexes {
		several := len(f.Point.changed()) > 1
		switch {
		case !f.helps(r.Margin):
			idle = append(idle, f)
		case r.Space.Use(f.Point) != (assay.Use{}):
			uses = append(uses, f)
		case several && single == 1:
		default:
			helping = append(helping, f)
			if !several {
				single++
			}
		}
	}
	return helping, uses, idle
}

// change returns what a point that is measured first changes: statements as one pastes them, or
// what to do in the program.
func (r *Report) change(f Finalist) string {
	u := r.Space.Use(f.Point)
	switch {
	case u.Statement != "":
		return "in the program: prepare each statement once, and keep it"
	case u.Pool == 1:
		return "in the program: open one connection, and keep it open"
	case u.Pool > 0:
		return fmt.Sprintf("in the program: open at most %s, and keep all of them open", wording.Plural(u.Pool, "connection"))
	case u.Transaction > 0:
		return fmt.Sprintf("in the program: commit %d changes together; what is not committed is lost together", u.Transaction)
	}
	return r.Space.state(f.Point) + ";"
}

// effect says what a state of the data does: over all operations, for each that it
// changes, and on the disk.
func (r *Report) effect(f Finalist) string {
	parts := []string{largeRatio(f.Gain, f.rows.gains) + " over all operations"}
	var faster, slower []string
	for i, verdict := range f.Verdicts {
		text := r.Operations[i].Name + " " + largeRatio(f.Operations[i], f.rows.operations[i])
		switch verdict {
		case stat.Faster:
			faster = append(faster, text)
		case stat.Slower:
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
	if r.Space.Use(f.Point) == (assay.Use{}) {
		parts = append(parts, r.grows(f))
	}
	return strings.Join(parts, "; ")
}

// largeRatio is a ratio with its interval, or with what each launch showed where this
// decides and launches are too few for an interval that does.
func largeRatio(i stat.Interval, gains []float64) string {
	if largeGains(gains, largeLaunches) == 0 || i.Low > 1 || i.High < 1 {
		return ratio(i)
	}
	digits := func(gain float64) string { return wording.Digits(math.Exp(gain)) }
	return fmt.Sprintf("%sx (%s to %s in %s)", wording.Digits(i.Center), digits(slices.Min(gains)), digits(slices.Max(gains)), wording.Plural(len(gains), "launch"))
}

// grows says by how much the file is larger.
func (r *Report) grows(f Finalist) string {
	bytes, known := r.Grows[r.Space.state(f.Point)]
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
	return fmt.Sprintf("Make these changes first (%s measured them). The settings below were measured without them, so tune again afterwards", wording.Plural(r.Outcome.IndexLaunches, "launch"))
}

// indexValues returns all that was measured before any setting, as JSON has it.
func (r *Report) indexValues() []indexValue {
	all := []indexValue{}
	for _, f := range r.Outcome.Indexes {
		v := indexValue{Statements: append([]string{}, r.Space.Prepare(f.Point)...), Use: r.Space.Use(f.Point).String(), Helps: f.helps(r.Margin), intervalValue: intervalOf(f.Gain), Operations: []operationValue{}}
		if bytes, ok := r.Grows[r.Space.state(f.Point)]; ok {
			v.Bytes = &bytes
		}
		for i, gain := range f.Operations {
			v.Operations = append(v.Operations, operationValue{r.Operations[i].Name, intervalOf(gain)})
		}
		all = append(all, v)
	}
	return all
}
