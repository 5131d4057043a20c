package lint

import (
	"go/token"
	"slices"
	"strings"

	"assay/internal/lint/facts"
	"assay/kit/setting"
)

// Unjudged is a parameter that nothing is known about, and where it stands.
type Unjudged struct {
	File      string `json:"file"` // from the folder that was asked about
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Driver    string `json:"driver"`
	Version   string `json:"version"`
	Parameter string `json:"parameter"`
	Reason    string `json:"reason"`
}

// Untried is a parameter that is nearly one that the driver knows, and that no
// experiment was made about.
type Untried struct {
	Driver Driver
	facts.Slip
}

// notJudged is what a comment names to leave parameters out that are not judged.
const notJudged = "not-judged"

// checkUnjudged looks at a parameter that no experiment decides about: it is
// nearly one that the driver knows, or it is not judged.
func (c *checker) checkUnjudged(o *open, parameter string, around []facts.Facts) {
	if len(around) == 0 {
		c.unmeasured(o.driver)
		c.leave(o, parameter, "this version was not measured")
		return
	}
	for _, uri := range o.dsn.forms {
		if s, _, known := facts.Parse(uri, parameter); !known && c.checkSlip(o, s, parameter, around) {
			return
		}
	}
	reason := unjudged(o, parameter, around)
	if reason == betweenDiffer {
		c.unmeasured(o.driver)
	}
	if reason != "" {
		c.leave(o, parameter, reason)
	}
}

const betweenDiffer = "the measured versions before and after this one differ"

// leave notes a parameter that is not judged.
func (c *checker) leave(o *open, parameter, reason string) {
	c.note(c.find(o, parameter), o.driver, parameter, reason)
}

// note notes that something at a place is not judged.
func (c *checker) note(at token.Pos, d Driver, what, reason string) {
	if c.NotJudged != nil && !c.silences(at, notJudged) {
		c.NotJudged(c.pass.Fset.Position(at), d, strings.ReplaceAll(what, unknown, "..."), reason)
	}
}

// unjudged says why a parameter is not judged; empty where it is.
func unjudged(o *open, parameter string, around []facts.Facts) string {
	var first facts.Effect
	for form, uri := range o.dsn.forms {
		s, value, known := facts.Parse(uri, parameter)
		if key, begin, _ := strings.Cut(parameter, "="); key == "_txlock" && slices.Contains([]string{"deferred", "immediate", "exclusive"}, begin) {
			return ""
		}
		if !known {
			return "no experiment is about it"
		}
		for i, f := range around {
			effect, told := f.Effect(s)
			switch {
			case isDefault(f, s, value):
				continue
			case !told:
				return "no experiment tells what it does"
			case i > 0 && effect != first:
				return betweenDiffer
			case form > 0 && effect != first:
				return "it depends on whether the DSN begins with file:, which is not known"
			case effect == facts.Fails:
				return "the experiment could not open the database, and another value may do"
			case effect == facts.Applied && !isValue(s, value):
				return "no experiment is about this value, and " + s.Setting + " is not known to take it"
			}
			first = effect
		}
	}
	return ""
}

// isValue reports whether a setting is known to take a value. What only the
// running program knows may be one.
func isValue(s facts.Spelling, value string) bool {
	_, valid := s.Reads(value)
	return valid || strings.Contains(value, unknown)
}

// want says which values a setting takes, without the units that plans have.
func want(s setting.Setting) string {
	before, _, _ := strings.Cut(s.Want, " or a duration")
	return before
}

// checkSlip reports a parameter that is nearly one that the driver knows; false
// where it is not.
func (c *checker) checkSlip(o *open, s facts.Spelling, parameter string, around []facts.Facts) bool {
	slip, found := around[0].Near(s)
	if !found || !working(around, slip.Meant) {
		return false
	}
	written, meant := slip.Names()
	says := "does not know " + written + ", as far as is known"
	switch effect, tried := around[0].Effect(slip.Written); {
	case tried && effect == facts.Applied:
		return true
	case tried && effect == facts.Fails:
		says = "refuses " + written
	case tried:
		says = "ignores " + written
	case around[0].Version == o.driver.Version && c.Untried != nil:
		c.Untried(Untried{o.driver, slip})
	}
	c.report(c.find(o, parameter), MisspelledKey, "%s %s: %s: did you mean %s?", o.driver.Name, o.driver.Version, says, meant)
	return true
}
