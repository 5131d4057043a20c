package lint

import (
	"fmt"
	"go/token"
	"strings"

	"assay/internal/lint/facts"
)

// written is a setting that a program's source or configuration has.
type written struct {
	library string // that a configuration is for; empty: Go's source
	// options are what it may be: several where a DSN may begin with file:, or not.
	options []facts.Option
	tried   bool   // there are experiments with them
	shown   string // as it stands there
	value   string
	known   bool // the value stands there
	at      token.Position
	// readOnly and memory are what the database is opened as.
	readOnly, memory bool
}

// language is what differs between DSNs of Go and the configurations of other languages.
type language interface {
	// reads is what a value reads back as where it takes effect; false where the setting is
	// not known to take it.
	reads(o facts.Option, value string) (string, bool)
	// slip is what an option that nobody tried is a slip of, and what is said of it; false where
	// it is a slip of nothing. The reason is why that is not known.
	slip(w written) (meant facts.Option, s saying, found bool, reason string)
	// without is what is said of an option without effect. The reason is why it is not judged.
	without(w written, o facts.Option, effect facts.Effect) (s saying, reason string)
}

// saying is a finding in words; without a rule it is none.
type saying struct {
	rule         Rule
	says, advice string
}

// judge decides about the settings of one database by what was measured of its library.
type judge struct {
	language
	*notes
	driver Driver        // or library, at its version
	title  string        // in a sentence
	facts  []facts.Facts // of the version, or of those before and after it
	own    bool          // they are the version's own
	newer  []facts.Facts // later versions, the oldest first
	last   facts.Facts   // before those
	// others: keys that no experiment is about are somebody else's, as in a mapping with more
	// than SQLite's settings.
	others bool
}

// What is said of a setting that is not judged.
const (
	betweenDiffer = "the measured versions before and after this one differ"
	formsDiffer   = "it depends on whether the DSN begins with file:, which is not known"
	notMeasured   = "this version was not measured"
	noExperiment  = "no experiment is about it"
)

// check decides about one setting, and reports whether the facts do.
func (j *judge) check(w written) bool {
	if len(j.facts) == 0 {
		return j.undecided(w, notMeasured)
	}
	if !w.tried {
		meant, slip, found, reason := j.slip(w)
		switch {
		case reason != "":
			return j.undecided(w, reason)
		case found:
			j.say(w, meant, slip, "")
		case !j.others:
			return j.undecided(w, noExperiment)
		}
		return true
	}
	effect, o, reason := j.effect(w)
	if reason != "" {
		return j.undecided(w, reason)
	}
	if effect == facts.Applied {
		_, valid := j.reads(o, w.value)
		return valid || !w.known || j.undecided(w, "no experiment is about this value, and "+o.Meaning+" is not known to take it")
	}
	found, reason := j.without(w, o, effect)
	if reason != "" {
		return j.undecided(w, reason)
	}
	j.say(w, o, found, j.since(o))
	return true
}

// undecided notes that facts are missing, or differ.
func (j *judge) undecided(w written, reason string) bool {
	if reason == notMeasured || reason == betweenDiffer {
		j.Unmeasured = append(j.Unmeasured, j.driver.String())
	}
	j.leave(w.at, j.driver, w.shown, reason)
	return false
}

func (j *judge) say(w written, o facts.Option, s saying, since string) {
	if s.rule.ID == "" {
		return
	}
	if why := leftOut(w, o); why != "" {
		s.advice = "; " + why
	}
	j.add(w.at, s.rule, strings.ReplaceAll(j.title+": "+s.says+since+s.advice, unknown, "..."))
}

// effect returns what a setting does by all facts and in all that it may be, and the last of
// these; or else why that is not known.
func (j *judge) effect(w written) (effect facts.Effect, o facts.Option, reason string) {
	for _, o = range w.options {
		for i, l := range j.facts {
			does, tried := l.Effect(o)
			switch {
			case does != facts.Literal && (does != facts.Fails || !j.others) && j.isDefault(l, o, w):
				does = facts.Applied
			case !tried:
				return "", o, "no experiment tells what it does"
			}
			switch {
			case effect == "", does == effect, isWithout(effect) && isWithout(does):
				effect = does
			case i > 0:
				return "", o, betweenDiffer
			default:
				return "", o, formsDiffer
			}
		}
	}
	return effect, o, ""
}

func isWithout(e facts.Effect) bool { return e == facts.Ignored || e == facts.Literal }

// isDefault reports whether a value is what connections have by themselves.
func (j *judge) isDefault(l facts.Facts, o facts.Option, w written) bool {
	read, valid := j.reads(o, w.value)
	value, there := l.Defaults[o.Observed]
	return w.known && valid && there && read == value
}

// leftOut says why a setting is to be left out, whatever a library calls it; empty where it
// is not.
func leftOut(w written, o facts.Option) string {
	switch {
	case o.Meaning != "journal_mode":
	case w.readOnly:
		return "leave it out: WAL is a property of the file, which a writer sets"
	case w.memory:
		return "leave it out: a database in memory has no other journal mode than memory and off"
	}
	return ""
}

// since says which later version honours an option.
func (j *judge) since(o facts.Option) string {
	text := ""
	if !j.own {
		text = fmt.Sprintf(" (not measured itself; %s before it and %s after it do)", j.name(j.facts[0], false), j.name(j.facts[len(j.facts)-1], false))
	}
	last := j.last
	for _, l := range j.newer {
		switch effect, _ := l.Effect(o); {
		case effect != facts.Applied:
		case l.Beneath != "" && facts.Compare(l.Version, j.driver.Version) == 0:
			return text + fmt.Sprintf(" (with the gem sqlite3 %s it takes effect)", l.Beneath)
		case last.Version == "" || j.others:
			return text + fmt.Sprintf(" (%s honours it)", j.name(l, true))
		default:
			return text + fmt.Sprintf(" (%s honours it, %s does not)", j.name(l, true), last.Version)
		}
		last = l
	}
	return text
}

// name is a measured version in a sentence about its library: that of a driver stands before
// it already.
func (j *judge) name(l facts.Facts, plain bool) string {
	switch {
	case !j.others:
		return l.Version
	case plain:
		return l.Driver + " " + l.Version
	}
	return l.At().String()
}
