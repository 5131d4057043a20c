package lint

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/internal/lint/facts"
	"assay/kit/sqlite"
)

type configurationChecker struct {
	root tree
	configured
	libraries *facts.Libraries
	result    *Result
}

func (c *configurationChecker) run() {
	if len(c.settings) == 0 { // there is nothing to judge
		c.result.Judged++
	}
	for _, library := range facts.LibraryNames() {
		if !slices.ContainsFunc(c.settings, func(w written) bool { return w.library == library }) {
			continue
		}
		release := locked(c.root, path.Dir(c.name), library)
		c.checkBeside(library, release)
		c.result.Broken = append(c.result.Broken, release.refused...)
		if release.changed != "" {
			c.result.Broken = append(c.result.Broken, fmt.Sprintf("%s: %s may change what %s does with it: its settings were not judged", c.name, release.changed, library))
			continue
		}
		if release.version == "" {
			c.result.Broken = append(c.result.Broken, fmt.Sprintf("%s: %s has no version in %s beside the file or above it: its settings were not judged", c.name, library, lockNames(library)))
			continue
		}
		judges := c.libraries.Judges(library, release.version, release.driver)
		for _, w := range c.settings {
			if w.library != library || w.place == beside {
				continue
			}
			if len(judges) == 0 || !(judge{c, release, judges, w}).check() {
				c.result.Unmeasured = append(c.result.Unmeasured, release.label(library))
				continue
			}
			c.result.Judged++
		}
	}
}

// beside is the place of a key of a database that stands among Django's aliases: no version
// knows it there.
const beside = "DATABASES"

func (c *configurationChecker) checkBeside(library string, r release) {
	for _, w := range c.settings {
		if w.library == library && w.place == beside {
			c.result.Judged++
			(judge{c, r, nil, w}).report(IgnoredOption, "takes %q in DATABASES for another database, and the databases beside it do not have it; move it into each entry, beside \"ENGINE\"", w.key)
		}
	}
}

// judge decides about one setting by what was measured.
type judge struct {
	*configurationChecker
	release release
	facts   []facts.Library
	written written
}

// effect returns what an option does by all facts; false where they differ or
// do not say it.
func (j judge) effect(o facts.Option) (facts.Effect, bool) {
	var all []facts.Effect
	for _, l := range j.facts {
		effect, _ := l.Effect(o)
		all = append(all, effect)
	}
	all = slices.Compact(all)
	return all[0], len(all) == 1 && all[0] != ""
}

// check reports whether the facts decide about the setting: those of several versions may
// differ.
func (j judge) check() bool {
	w := j.written
	o, tried := facts.Find(w.library, w.place, w.key)
	if !tried {
		return j.checkSpelling()
	}
	effect, sure := j.effect(o)
	switch {
	case !sure || slices.ContainsFunc(j.facts, func(l facts.Library) bool { return isDefaultOf(l, o, w) }):
	case effect == facts.Ignored:
		j.report(IgnoredOption, "ignores %s%s; %s", w, j.since(o), j.advice(o))
	case effect == facts.Literal && o.Place == facts.InName:
		j.report(IgnoredOption, "takes %s for a part of the file's name%s; %s", w, j.since(o), j.advice(o))
	case effect == facts.Literal && j.ignoredInPath(o):
		j.report(IgnoredOption, "ignores %s, and takes file: for a part of the file's name%s; %s", w, j.since(o), j.advice(o))
	case effect == facts.Fails:
		j.report(RefusedOption, "refuses %s, so that no database can be opened%s; %s", w, j.since(o), j.advice(o))
	}
	return sure || len(j.facts) == 1
}

// ignoredInPath reports whether a parameter is ignored behind a path that does not
// begin with file:. Behind file: without uri=true it is, too: that is such a path.
func (j judge) ignoredInPath(o facts.Option) bool {
	plain, tried := facts.Find(j.written.library, facts.InURL, o.Key)
	effect, sure := j.effect(plain)
	return tried && sure && effect == facts.Ignored
}

// checkSpelling looks at a key that nobody was asked about. It reports whether all facts say
// the same of it.
func (j judge) checkSpelling() bool {
	var meant facts.Option
	var becomes facts.Effect
	missing := 0
	for i, l := range j.facts {
		o, effect, there := l.Meant(j.written.place, j.written.key)
		switch {
		case !there:
			missing++
		case i > missing && (o.String() != meant.String() || effect != becomes):
			return false
		default:
			meant, becomes = o, effect
		}
	}
	if missing > 0 {
		return missing == len(j.facts)
	}
	if becomes == facts.Fails {
		j.report(RefusedOption, "refuses %s, so that no database can be opened; did you mean %s?", j.written, j.spelled(meant))
		return true
	}
	j.report(MisspelledOption, "ignores %s; did you mean %s?", j.written, j.spelled(meant))
	return true
}

// spelled is an option as its library's users write it.
func (j judge) spelled(o facts.Option) string {
	if j.written.library == facts.ActiveRecord {
		return o.String()
	}
	return shown(j.written.library, o.Place, o.Key, "")
}

// since says which later version honours an option.
func (j judge) since(o facts.Option) string {
	text := ""
	if !j.release.is(j.facts[0]) {
		text = fmt.Sprintf(" (not measured itself; %s before it and %s after it do)", j.facts[0].Label(), j.facts[len(j.facts)-1].Label())
	}
	for _, l := range j.libraries.All(j.written.library) {
		if effect, _ := l.Effect(o); effect != facts.Applied {
			continue
		}
		switch newer := facts.CompareReleases(l.Version, j.release.version); {
		case newer > 0:
			return text + fmt.Sprintf(" (%s %s honours it)", l.Name, l.Version)
		case newer == 0 && facts.CompareReleases(l.Driver, j.release.driver) > 0:
			return text + fmt.Sprintf(" (with the gem sqlite3 %s it takes effect)", l.Driver)
		}
	}
	return text
}

// Placeholders stand for a time that a user has to choose.
const (
	seconds      = "SECONDS"
	milliseconds = "MILLISECONDS"
)

func (j judge) advice(o facts.Option) string {
	value := j.written.value
	if !j.written.known {
		value = "..."
	}
	if works, there := j.working(o.Meaning); there {
		switch {
		case works.Key == "timeout" && works.Observed == "busy_timeout" && !inSeconds(o):
			value = seconds
		case o.Key == "retries":
			value = milliseconds
		}
		return "write " + shown(j.written.library, works.Place, works.Key, value)
	}
	_, pragma := sqlite.Lookup(o.Meaning)
	switch {
	case o.Meaning == facts.InitCommand:
		return "no key does it at this version: run its SQL on every new connection"
	case !pragma || o.Meaning == facts.ReadOnly:
		return "no key sets it at this version: leave it out"
	}
	pragmaSQL := fmt.Sprintf("PRAGMA %s = %s", o.Meaning, value)
	if command, there := j.working(facts.InitCommand); there {
		return "write " + shown(j.written.library, command.Place, command.Key, pragmaSQL)
	}
	return fmt.Sprintf("no key sets it at this version: run %s on every new connection", pragmaSQL)
}

// working returns an option that takes effect by all facts, and means something.
func (j judge) working(meaning string) (facts.Option, bool) {
	for _, o := range j.facts[0].Working(meaning) {
		if effect, sure := j.effect(o); sure && effect == facts.Applied {
			return o, true
		}
	}
	return facts.Option{}, false
}

// inSeconds reports whether an option is Python's timeout, in seconds.
func inSeconds(o facts.Option) bool {
	return strings.EqualFold(o.Key, "timeout") && o.Observed == "busy_timeout"
}

// isDefaultOf reports whether a value is what a connection has by itself.
func isDefaultOf(l facts.Library, o facts.Option, w written) bool {
	read := readBack(o, w.value)
	return w.known && read != "" && read == l.Defaults[o.Observed]
}

// off are values that switch something off.
var off = []string{"0", "false", "no", "off", "null", "rw", "rwc", ""}

// readBack is what a value reads back as, where it takes effect; empty where that
// is not known.
func readBack(o facts.Option, value string) string {
	value = strings.TrimPrefix(value, ":") // a symbol of Ruby
	lower := strings.ToLower(value)
	switch {
	case o.Observed == facts.Begin && (lower == "none" || lower == ""): // it begins transactions by itself
		return "deferred"
	case o.Observed == facts.Begin:
		return lower
	case o.Observed == facts.ReadOnly, o.Observed == facts.Waits, o.Observed == facts.Kept:
		if slices.Contains(off, lower) {
			return "0"
		}
		return "1"
	case inSeconds(o):
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return ""
		}
		return strconv.FormatFloat(number*1000, 'f', -1, 64)
	}
	normal, err := sqlite.Normal(o.Observed, value)
	if err != nil {
		return ""
	}
	return normal
}

func (j judge) report(rule Rule, format string, args ...any) {
	if silent(j.lines, j.written.line, rule.ID) {
		return
	}
	message := strings.TrimSpace(j.release.title(j.written.library)) + ": " + fmt.Sprintf(format, args...)
	j.result.Findings = append(j.result.Findings, Finding{rule.ID, rule.Severity, j.name, j.written.line, j.written.column, message, docs + "#" + rule.ID})
}

// silent reports whether a comment on a line, or on the one above it, switches a
// rule off. A comment without a reason switches nothing off.
func silent(lines []string, line int, rule string) bool {
	for _, n := range []int{line - 1, line - 2} {
		if n < 0 || n >= len(lines) {
			continue
		}
		_, comment, there := strings.Cut(lines[n], "#")
		rest, ours := strings.CutPrefix(strings.TrimSpace(comment), "assay:ignore ")
		id, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if there && ours && id == rule && strings.TrimSpace(reason) != "" {
			return true
		}
	}
	return false
}
