package lint

import (
	"cmp"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lint/facts"
	"assay/kit/sqlite"
)

// amongAliases is the place of a key of a database that stands among Django's aliases: no version
// knows it there.
const amongAliases = "DATABASES"

// writtenIn is a setting in a file that configures a library. A parameter of an address has
// the key by which facts list it: _pragma=journal_mode(WAL) is _pragma=journal_mode().
func writtenIn(library, place, key, value string, known bool, at token.Position) written {
	if known && slices.Contains(addresses, place) {
		if o, inner, tried := facts.Parse(true, key+"="+value); tried && strings.Contains(o.Key, "=") {
			key, value = o.Key, inner
		}
	}
	o, tried := facts.Find(library, place, key)
	if !tried {
		o = facts.Option{Place: place, Key: key}
	}
	return written{library: library, options: []facts.Option{o}, tried: tried, shown: shown(library, place, key, value), value: value, known: known, at: at}
}

// addresses are the places of parameters behind a question mark.
var addresses = []string{facts.InURL, facts.InFileURL, facts.InURI, facts.InName, facts.InFileName}

// asksReadOnly reports whether a setting opens a database for nothing but reading.
func (w written) asksReadOnly() bool {
	o := w.options[0]
	read, valid := configuration{}.reads(facts.Option{Observed: facts.ReadOnly}, w.value)
	return w.known && valid && read == "1" && (o.Meaning == facts.ReadOnly || o.Key == "immutable")
}

// configuration says how settings stand in files of a library, judged by facts of it.
type configuration struct {
	library string
	facts   []facts.Facts
}

// off are values that switch something off.
var off = []string{"0", "false", "no", "off", "null", "rw", "rwc", ""}

func (c configuration) reads(o facts.Option, value string) (string, bool) {
	value = strings.TrimPrefix(value, ":") // a symbol of Ruby
	lower := strings.ToLower(value)
	switch {
	case o.Observed == facts.Begin && (lower == "none" || lower == ""): // it begins transactions by itself
		return "deferred", true
	case o.Observed == facts.Begin:
		return lower, slices.Contains([]string{"deferred", "immediate", "exclusive"}, lower)
	case o.Meaning == facts.InitCommand:
		return value, true
	case o.Observed == facts.ReadOnly, o.Observed == facts.Waits, o.Observed == facts.Kept:
		if slices.Contains(off, lower) {
			return "0", true
		}
		return "1", true
	case inSeconds(o):
		number, err := strconv.ParseFloat(value, 64)
		return strconv.FormatFloat(number*1000, 'f', -1, 64), err == nil
	}
	return facts.Option{Meaning: o.Observed}.Reads(value)
}

// inSeconds reports whether an option is Python's timeout, in seconds.
func inSeconds(o facts.Option) bool {
	return strings.EqualFold(o.Key, "timeout") && o.Observed == "busy_timeout"
}

func (c configuration) slip(w written) (meant facts.Option, s saying, found bool, reason string) {
	o := w.options[0]
	var becomes facts.Effect
	missing := 0
	for i, l := range c.facts {
		near, effect, there := l.Meant(o.Place, o.Key)
		switch {
		case !there:
			missing++
		case i > missing && (near.String() != meant.String() || effect != becomes):
			return meant, s, false, betweenDiffer
		default:
			meant, becomes = near, effect
		}
	}
	if missing > 0 {
		if missing < len(c.facts) {
			reason = betweenDiffer
		}
		return meant, s, false, reason
	}
	spelled := meant.String()
	if c.library != facts.ActiveRecord {
		spelled = shown(c.library, meant.Place, meant.Key, "")
	}
	s = saying{MisspelledOption, "ignores " + w.shown, "; did you mean " + spelled + "?"}
	if becomes == facts.Fails {
		s.rule, s.says = RefusedOption, "refuses "+w.shown+", so that no database can be opened"
	}
	return meant, s, true, ""
}

func (c configuration) without(w written, o facts.Option, effect facts.Effect) (s saying, reason string) {
	switch {
	case effect == facts.Ignored:
		s = saying{rule: IgnoredOption, says: "ignores " + w.shown}
	case effect == facts.Literal && o.Place == facts.InName:
		s = saying{rule: IgnoredOption, says: "takes " + w.shown + " for a part of the file's name"}
	case effect == facts.Literal && c.ignoredInPath(o):
		s = saying{rule: IgnoredOption, says: "ignores " + w.shown + ", and takes file: for a part of the file's name"}
	case effect == facts.Fails:
		s = saying{rule: RefusedOption, says: "refuses " + w.shown + ", so that no database can be opened"}
	}
	s.advice = "; " + c.advice(w, o)
	return s, ""
}

// ignoredInPath reports whether a parameter is ignored behind a path that does not
// begin with file:. Behind file: without uri=true it is, too: that is such a path.
func (c configuration) ignoredInPath(o facts.Option) bool {
	plain, tried := facts.Find(c.library, facts.InURL, o.Key)
	return tried && always(c.facts, plain, facts.Ignored)
}

// Placeholders stand for a time that a user has to choose.
const (
	seconds      = "SECONDS"
	milliseconds = "MILLISECONDS"
)

// advice returns what to write instead.
func (c configuration) advice(w written, o facts.Option) string {
	value := w.value
	if !w.known {
		value = "..."
	}
	if works, there := c.working(o.Meaning); there {
		switch {
		case works.Key == "timeout" && works.Observed == "busy_timeout" && !inSeconds(o):
			value = seconds
		case o.Key == "retries":
			value = milliseconds
		}
		return "write " + shown(c.library, works.Place, works.Key, value)
	}
	_, pragma := sqlite.Lookup(o.Meaning)
	switch {
	case o.Meaning == facts.InitCommand:
		return "no key does it at this version: run its SQL on every new connection"
	case !pragma || o.Meaning == facts.ReadOnly:
		return "no key sets it at this version: leave it out"
	}
	pragmaSQL := "PRAGMA " + o.Meaning + " = " + value
	if command, there := c.working(facts.InitCommand); there {
		return "write " + shown(c.library, command.Place, command.Key, pragmaSQL)
	}
	return "no key sets it at this version: run " + pragmaSQL + " on every new connection"
}

// working returns an option that takes effect by all facts, and means something.
func (c configuration) working(meaning string) (facts.Option, bool) {
	for _, o := range c.facts[0].Working(meaning) {
		if always(c.facts, o, facts.Applied) {
			return o, true
		}
	}
	return facts.Option{}, false
}

// shown is a setting as it stands in a configuration.
func shown(library, place, key, value string) string {
	value = cmp.Or(value, "...")
	address, isAddress := map[string]string{facts.InURL: "sqlite:///...?%", facts.InFileURL: "sqlite:///file:...?%", facts.InURI: "sqlite:///file:...?%&uri=true",
		facts.InName: `"NAME": "...?%"`, facts.InFileName: `"NAME": "file:...?%"`}[place]
	switch {
	case isAddress && library != facts.ActiveRecord:
		return strings.Replace(address, "%", facts.Option{Key: key}.With(value), 1)
	case library == facts.SQLAlchemy:
		return place + `={"` + key + `": ` + inPython(value) + "}"
	case library == facts.Django && place == "":
		return `"` + key + `": ` + inPython(value)
	case library == facts.Django:
		return `"` + place + `": {"` + key + `": ` + inPython(value) + "}"
	case place == "":
		return key + ": " + value
	}
	return place + ": {" + key + ": " + value + "}"
}

// maxShown is how much of a value a message shows, in bytes.
const maxShown = 60

// inPython is a value as Python's source has it.
func inPython(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil || slices.Contains([]string{"True", "False", "None", "...", seconds}, value) {
		return value
	}
	if len(value) > maxShown {
		value = strings.ToValidUTF8(value[:maxShown-3], "") + "..."
	}
	return `"` + value + `"`
}

// quoted is text for a message, without control characters.
func quoted(text string) string {
	text = strconv.Quote(text)
	return text[1 : len(text)-1]
}
