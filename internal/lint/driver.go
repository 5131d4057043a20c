package lint

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/lint/facts"
	"assay/kit/setting"
	"assay/kit/sqlite"
)

// dsnLanguage says how settings stand in DSNs of drivers for Go.
type dsnLanguage struct {
	*checker
	open   *open
	around []facts.Facts
}

// judgeOf judges the parameters of a DSN.
func (c *checker) judgeOf(o *open, around []facts.Facts) *judge {
	d := o.driver
	j := &judge{language: dsnLanguage{c, o, around}, notes: c.notes, driver: d, title: d.Name + " " + d.Version}
	_, j.own = c.Facts.Find(d.Name, d.Version)
	j.facts = append(j.facts, around...)
	for _, f := range c.Facts.Versions(d.Name) {
		if facts.Compare(f.Version, d.Version) > 0 {
			j.newer = append(j.newer, f)
		} else {
			j.last = f
		}
	}
	return j
}

// checkParameters judges the parameters of a DSN, each by itself.
func (c *checker) checkParameters(o *open, around []facts.Facts) {
	j := c.judgeOf(o, around)
	for _, parameter := range o.dsn.parameters {
		if key, begin, _ := strings.Cut(parameter, "="); key == "_txlock" && slices.Contains([]string{"deferred", "immediate", "exclusive"}, begin) {
			if o.inName(around) {
				c.report(c.find(o, parameter), FileName, "%s: takes %s for a part of the file's name; begin the DSN with file:", j.title, parameter)
			}
			continue
		}
		w := written{shown: parameter, at: c.position(c.find(o, parameter)), readOnly: o.readOnly(), memory: o.dsn.memory != ""}
		for _, uri := range o.dsn.forms {
			var o facts.Option
			o, w.value, w.tried = facts.Parse(uri, parameter)
			w.options = append(w.options, o)
		}
		w.known = !strings.Contains(w.value, unknown)
		j.check(w)
	}
}

// inName reports whether the driver takes all behind the question mark for a part of the
// file's name: it reads parameters only in a DSN that begins with file:.
func (o *open) inName(around []facts.Facts) bool {
	return o.dsn.certainly(false) && len(around) > 0 && !slices.ContainsFunc(around, func(f facts.Facts) bool { return len(f.Effects[facts.Literal]) == 0 })
}

func (l dsnLanguage) reads(o facts.Option, value string) (string, bool) { return o.Reads(value) }

func (l dsnLanguage) slip(w written) (meant facts.Option, s saying, found bool, reason string) {
	for _, uri := range l.open.dsn.forms {
		untried, _, _ := facts.Parse(uri, w.shown)
		slip, near := l.around[0].Near(untried)
		if !near || !always(l.around, slip.Meant, facts.Applied) {
			continue
		}
		name, meant := slip.Names()
		s = saying{MisspelledKey, "does not know " + name + ", as far as is known", ": did you mean " + meant + "?"}
		switch effect, tried := l.around[0].Effect(slip.Written); {
		case tried && effect == facts.Applied:
			s.rule = Rule{}
		case tried && effect == facts.Fails:
			s.says = "refuses " + name
		case tried:
			s.says = "ignores " + name
		case l.around[0].Version == l.open.driver.Version:
			l.Untried = append(l.Untried, Untried{l.open.driver, slip})
		}
		return slip.Meant, s, true, ""
	}
	return facts.Option{}, saying{}, false, ""
}

func (l dsnLanguage) without(w written, o facts.Option, effect facts.Effect) (s saying, reason string) {
	inFile := o
	inFile.Place = facts.InFile
	works, _ := l.around[0].Effect(inFile)
	s = saying{IgnoredKey, "ignores " + w.shown, ""}
	switch {
	case effect == facts.Fails:
		return saying{}, "the experiment could not open the database, and another value may do"
	case effect == facts.Literal:
		s.rule, s.says = FileName, "takes "+w.shown+" for a part of the file's name"
	case works == facts.Applied && o.Place == facts.InPath:
		s.rule, s.says = PlainPath, s.says+" in a DSN that does not begin with file:"
	}
	if s.advice = "; " + l.advice(l.open, o, w.value, l.around); s.rule.ID != IgnoredKey.ID && works == facts.Applied {
		s.advice = "; begin the DSN with file:"
	}
	return s, ""
}

// advice is the spelling that works, with a value that the setting takes.
func (c *checker) advice(o *open, asked facts.Option, value string, around []facts.Facts) string {
	setting, _ := sqlite.Lookup(asked.Meaning)
	_, valid := asked.Reads(value)
	switch why := leftOut(written{readOnly: o.readOnly(), memory: o.dsn.memory != ""}, asked); {
	case why != "":
		return why
	case setting.Name == "" || valid || strings.Contains(value, unknown):
		return workingSpelling(o, asked, value, around)
	}
	return fmt.Sprintf("%s is not known to take %s: want %s; %s", asked.Meaning, value, want(setting), workingSpelling(o, asked, "VALUE", around))
}

// want says which values a setting takes, without the units that plans have.
func want(s setting.Setting) string {
	before, _, _ := strings.Cut(s.Want, " or a duration")
	return before
}

// workingSpelling is the spelling that works, with a value.
func workingSpelling(o *open, asked facts.Option, value string, around []facts.Facts) string {
	for _, uri := range []bool{o.dsn.forms[0], true} {
		all := around[0].WorkingIn(asked.Meaning, uri)
		// _pragma=NAME(VALUE) comes first: all drivers that take it spell it alike.
		slices.SortStableFunc(all, func(a, b facts.Option) int { return strings.Count(b.Key, "()") - strings.Count(a.Key, "()") })
		for _, works := range all {
			switch {
			case !always(around, works, facts.Applied):
			case uri == o.dsn.forms[0]:
				return "write " + works.With(value)
			default:
				return "write file:...?" + works.With(value)
			}
		}
	}
	if strings.Contains(asked.Key, "=") || !slices.Contains(openModes, asked.Meaning) {
		return "the DSN has no way to set it: run PRAGMA " + asked.Meaning + " = " + value + " on every new connection"
	}
	return "this driver has no way to set " + asked.Meaning
}

// always reports whether an option has an effect by all facts.
func always(all []facts.Facts, o facts.Option, effect facts.Effect) bool {
	return !slices.ContainsFunc(all, func(f facts.Facts) bool {
		has, _ := f.Effect(o)
		return has != effect
	})
}

// openModes are the settings that are none of a PRAGMA.
var openModes = []string{"read_only", "immutable", "shared_cache", "mutex"}
