package tune

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// maxOpen is how many operations a screen names of which it is open whether they lose.
const maxOpen = 4

// lost says what the proposal is shown to do worse in a condition, each operation by
// its name.
func (r *Report) lost() []string {
	var all []string
	for _, c := range r.Outcome.Robustness {
		if c.Refused != "" {
			all = append(all, fmt.Sprintf("at %s the proposal breaks a constraint or fails: %s", c.Condition.Name, wording.Clean(c.Refused)))
		}
		for i, l := range c.Losses {
			if l.Beyond {
				all = append(all, fmt.Sprintf("at %s %s is slower than now: %sx of its speed", c.Condition.Name, r.Operations[i].Name, wording.Digits(l.Center)))
			}
		}
	}
	return all
}

// elsewhere is what a screen says of the conditions beside what is lost.
func (r *Report) elsewhere() []string {
	if r.Outcome.Chosen == nil {
		return nil
	}
	c := conditions{lowest: math.Inf(1)}
	for _, one := range r.Outcome.Robustness {
		r.addTo(&c, one)
	}
	all := slices.Concat(c.compared(), c.stillOpen(), c.missing)
	if len(c.unpaid) > 0 {
		all = append(all, "not measured, as the budget does not pay for it: "+strings.Join(c.unpaid, ", "))
	}
	return append(all, r.Unscaled...)
}

// conditions adds up what is known of the proposal in all of them.
type conditions struct {
	names, unpaid  []string // of those that were compared, and of those without a launch
	missing        []string // sentences of what could not be
	open           []string // operations of which it is open whether they lose
	within, beyond int      // operations that are shown to keep within harm, and that are not
	lowest         float64  // speed of an operation over that of now
}

func (r *Report) addTo(c *conditions, one Robustness) {
	switch {
	case one.Failed != "":
		c.missing = append(c.missing, fmt.Sprintf("%s could not be measured: %s", one.Condition.Name, wording.Clean(one.Failed)))
		return
	case one.Launches == 0:
		c.unpaid = append(c.unpaid, one.Condition.Name)
		return
	}
	if names := r.unmeasured(one); len(names) > 0 {
		c.missing = append(c.missing, fmt.Sprintf("not compared at %s: %s", one.Condition.Name, strings.Join(names, ", ")))
	}
	if one.measured() == 0 {
		return
	}
	c.names = append(c.names, r.extent(one))
	c.lowest = min(c.lowest, one.lowest())
	for i, l := range one.Losses {
		switch {
		case !l.Measured:
		case l.Beyond:
			c.beyond++
		case l.Within:
			c.within++
		default:
			c.open = append(c.open, fmt.Sprintf("%s at %s %s", r.Operations[i].Name, one.Condition.Name, bounded(l)))
		}
	}
}

// compared says how many operations keep their speed.
func (c *conditions) compared() []string {
	limit, where := fmt.Sprintf("%.3g %%", 100*harm), strings.Join(c.names, ", ")
	switch {
	case c.within+c.beyond+len(c.open) == 0:
		return nil
	case c.beyond+len(c.open) == 0:
		return []string{fmt.Sprintf("no operation is more than %s slower than now at %s (each at least %sx)", limit, where, wording.Digits(c.lowest))}
	}
	return []string{fmt.Sprintf("of %s at %s, %d are shown to keep within %s of now", wording.Plural(c.within+c.beyond+len(c.open), "comparison"), where, c.within, limit)}
}

// stillOpen names the first of those that are open.
func (c *conditions) stillOpen() []string {
	if len(c.open) == 0 {
		return nil
	}
	text := "open: " + strings.Join(c.open[:min(maxOpen, len(c.open))], ", ")
	if len(c.open) > maxOpen {
		text += fmt.Sprintf(", and %d more: --format markdown has all", len(c.open)-maxOpen)
	}
	return []string{text}
}

// extent names a condition, and of how many operations it is where that is not all.
func (r *Report) extent(c Robustness) string {
	text := c.Condition.Name
	if n := c.measured(); n < len(r.Operations) {
		text += fmt.Sprintf(" (%d of %s)", n, wording.Plural(len(r.Operations), "operation"))
	}
	return text
}

// unmeasured are the operations that a condition has no figures of.
func (r *Report) unmeasured(c Robustness) []string {
	var names []string
	for i, l := range c.Losses {
		if !l.Measured {
			names = append(names, r.Operations[i].Name)
		}
	}
	return names
}

// bounded prints a ratio with its one-sided bound below.
func bounded(l stat.NonInferiority) string {
	return fmt.Sprintf("%sx, at least %sx", wording.Digits(l.Center), wording.Digits(l.AtLeast))
}

// verdict says what is shown of an operation in a condition.
func verdict(l stat.NonInferiority) string {
	switch {
	case l.Beyond:
		return "slower"
	case l.Within:
		return "within"
	}
	return "open"
}

type robustnessValue struct {
	Condition  string      `json:"condition"`
	Launches   int         `json:"launches"`
	Failed     string      `json:"failed,omitempty"`
	Refused    string      `json:"refused,omitempty"`
	Operations []lossValue `json:"operations"`
}

type lossValue struct {
	Name    string  `json:"name"`
	Ratio   float64 `json:"ratio"`
	AtLeast float64 `json:"atLeast"`
	AtMost  float64 `json:"atMost"`
	Verdict string  `json:"verdict"`
}

func (r *Report) robustnessValues() []robustnessValue {
	all := []robustnessValue{}
	for _, c := range r.Outcome.Robustness {
		v := robustnessValue{Condition: c.Condition.Name, Launches: c.Launches, Failed: c.Failed, Refused: c.Refused, Operations: []lossValue{}}
		for i, l := range c.Losses {
			if l.Measured {
				v.Operations = append(v.Operations, lossValue{r.Operations[i].Name, l.Center, l.AtLeast, l.AtMost, verdict(l)})
			}
		}
		all = append(all, v)
	}
	return all
}
