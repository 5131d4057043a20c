package tune

import (
	"fmt"
	"math"
	"strings"

	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// maxOpen is how many operations of a condition a screen names of which it is open whether they lose.
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

// conditionLines returns what a screen says of each condition beside what is lost.
func (r *Report) conditionLines() []string {
	if r.Outcome.Chosen == nil {
		return nil
	}
	var all []string
	for _, c := range r.Outcome.Robustness {
		all = append(all, c.Condition.Name+": "+r.found(c))
	}
	return append(all, r.Unscaled...)
}

// found returns what is known of the proposal in a condition.
func (r *Report) found(c Robustness) string {
	switch {
	case c.Failed != "":
		return "could not be measured: " + wording.Clean(c.Failed)
	case c.Launches == 0:
		return "not measured, as the budget does not pay for it"
	}
	lowest := math.Inf(1)
	var within int
	var open, missing []string
	for i, l := range c.Losses {
		switch name := r.Operations[i].Name; {
		case !l.Measured:
			missing = append(missing, name)
		case l.Within:
			within, lowest = within+1, min(lowest, l.AtLeast)
		case !l.Beyond:
			open = append(open, fmt.Sprintf("%s %sx, at least %sx", name, wording.Digits(l.Center), wording.Digits(l.AtLeast)))
		}
	}
	text := fmt.Sprintf("%d of %s shown to keep within %.3g %% of now", within, wording.Plural(len(c.Losses), "operation"), 100*harm)
	if within > 0 {
		text += fmt.Sprintf(" (each at least %sx)", wording.Digits(lowest))
	}
	if len(open) > maxOpen {
		open = append(open[:maxOpen:maxOpen], fmt.Sprintf("and %d more: --format markdown has all", len(open)-maxOpen))
	}
	if len(open) > 0 {
		text += ", open: " + strings.Join(open, ", ")
	}
	if len(missing) > 0 {
		text += ", not compared: " + strings.Join(missing, ", ")
	}
	return text
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
