package lint

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"assay/internal/lint/facts"
	"assay/kit/sqlite"

	"golang.org/x/tools/go/analysis"
)

// Config is what the analyzer has to know beyond the source.
type Config struct {
	Facts *facts.Table
	// Resolve returns the driver that a package's program reaches through a
	// package of libraries, by import path; false where it does not.
	Resolve func(pkg, library string) (Driver, bool)
	// Opened, which may be nil, is called with the place of each call that opens SQLite, and
	// whether its DSN is judged.
	Opened func(at token.Position, judged bool)
	// Unmeasured, which may be nil, is called with each driver at a version without facts, where
	// a rule needed them.
	Unmeasured func(Driver)
	// NotJudged, which may be nil, is called with each parameter that nothing is
	// known about, and why.
	NotJudged func(at token.Position, d Driver, parameter, reason string)
	// Untried, which may be nil, is called with each parameter that is nearly one
	// that the driver knows, and that an experiment could decide about.
	Untried func(Untried)
	// program has all packages of the program; nil: that which is looked at.
	program *evaluator
	// elsewhere are the opens of all packages, for those that have none.
	elsewhere []*open
}

// docs is where each rule is explained.
const docs = "docs/reference.md"

// Analyzer returns the analyzer.
func Analyzer(config Config) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "assay", Doc: "find settings of SQLite that never take effect", RunDespiteErrors: true,
		Run: func(pass *analysis.Pass) (any, error) {
			c := &checker{evaluator: config.program, Config: config, pass: pass}
			if c.evaluator == nil {
				c.evaluator = newEvaluator(pass.Fset)
				c.add(pass.TypesInfo, pass.Files)
			}
			c.run()
			return nil, nil
		},
	}
}

type checker struct {
	*evaluator
	Config
	pass  *analysis.Pass
	pools pools
}

func (c *checker) resolve(pkg, library string) (Driver, bool) { return c.Config.Resolve(pkg, library) }

func (c *checker) run() {
	opens, others := c.opens(c.pass.Files)
	c.pools = c.findPools(c.pass.Files)
	for _, o := range opens {
		judged := !c.isTest(o.call) && (o.dsn.whole || len(o.dsn.parameters) > 0)
		if c.Opened != nil {
			c.Opened(c.pass.Fset.Position(o.call.Pos()), judged)
		}
		if !judged && !c.isTest(o.call) {
			c.note(c.given(o.arg, o.known).Pos(), o.driver, "the DSN", onlyRunning)
		}
		c.checkOpen(o)
	}
	c.checkPragmas(opens)
	c.checkTransactions(opens)
	if len(opens) > 0 && !others {
		c.checkIdle()
	}
}

// silences reports whether a comment switches a rule off at a place.
func (c *checker) silences(at token.Pos, rule string) bool {
	position := c.pass.Fset.Position(at)
	return slices.Contains(c.silent[line{position.Filename, position.Line}], rule)
}

func (c *checker) report(at token.Pos, rule Rule, format string, args ...any) {
	if c.silences(at, rule.ID) {
		return
	}
	c.pass.Report(analysis.Diagnostic{Pos: at, Category: rule.ID, Message: fmt.Sprintf(format, args...), URL: docs + "#" + rule.ID})
}

func (c *checker) checkOpen(o *open) {
	around := c.factsOf(o.driver)
	for _, parameter := range o.dsn.parameters {
		c.checkParameter(o, parameter, around)
	}
	// What the measured versions on both sides do, it does. What only some do counts where it
	// would give a finding.
	for _, rule := range []func(*checker, *open, facts.Facts){(*checker).checkReadOnly, (*checker).checkMemory, (*checker).checkShared,
		(*checker).checkTimeout, (*checker).checkForeignKeys, (*checker).checkCache} {
		finds := func(f facts.Facts) bool { return c.finds(func(c *checker) { rule(c, o, f) }) }
		others := c.Facts.Versions(o.driver.Name)
		switch {
		case len(around) > 0 && !slices.ContainsFunc(around, func(f facts.Facts) bool { return !finds(f) }):
			rule(c, o, around[0])
		case len(around) > 1 && slices.ContainsFunc(around, finds), len(around) == 0 && (len(others) == 0 || slices.ContainsFunc(others, finds)):
			c.unmeasured(o.driver)
		}
	}
}

// finds reports whether a rule has a finding, and keeps it from being reported.
func (c *checker) finds(rule func(*checker)) (found bool) {
	silent, pass := *c, *c.pass
	pass.Report = func(analysis.Diagnostic) { found = true }
	silent.pass = &pass
	rule(&silent)
	return found
}

// unmeasured notes that a rule needed facts of a driver's version that are not there.
func (c *checker) unmeasured(d Driver) {
	if c.Unmeasured != nil {
		c.Unmeasured(d)
	}
}

// factsOf returns the facts of the driver's version, or those of the measured
// versions on either side of it.
func (c *checker) factsOf(d Driver) []facts.Facts {
	if f, ok := c.Facts.Find(d.Name, d.Version); ok {
		return []facts.Facts{f}
	}
	before, after, ok := c.Facts.Around(d.Name, d.Version)
	if !ok {
		return nil
	}
	return []facts.Facts{before, after}
}

// without reports whether a parameter is without effect in all facts and in all
// forms that the DSN may have, and how.
func without(o *open, parameter string, around []facts.Facts) (s facts.Spelling, value string, effect facts.Effect, none bool) {
	if len(around) == 0 {
		return s, "", "", false
	}
	for _, uri := range o.dsn.forms {
		var known bool
		if s, value, known = facts.Parse(uri, parameter); !known {
			return s, value, "", false
		}
		for _, f := range around {
			effect, known = f.Effect(s)
			if !known || effect != facts.Literal && (effect != facts.Ignored || isDefault(f, s, value)) {
				return s, value, effect, false
			}
		}
	}
	return s, value, effect, true
}

func (c *checker) checkParameter(o *open, parameter string, around []facts.Facts) {
	s, value, effect, none := without(o, parameter, around)
	if !none {
		c.checkUnjudged(o, parameter, around)
		return
	}
	rule, what := IgnoredKey, "ignores "+parameter
	f := around[0]
	fileOnly := s
	fileOnly.URI = true
	works, _ := f.Effect(fileOnly)
	switch {
	case effect == facts.Literal:
		rule, what = FileName, "takes "+parameter+" for a part of the file's name"
	case works == facts.Applied && !s.URI:
		rule, what = PlainPath, "ignores "+parameter+" in a DSN that does not begin with file:"
	}
	advice := c.advice(o, s, value, around)
	if rule != IgnoredKey && works == facts.Applied {
		advice = "begin the DSN with file:"
	}
	if s.Setting == "journal_mode" && o.readOnly() {
		advice = "leave it out: WAL is a property of the file, which a writer sets"
	}
	if o.dsn.memory != "" && s.Setting == "journal_mode" {
		advice = "leave it out: a database in memory has no other journal mode than memory and off"
	}
	c.report(c.find(o, parameter), rule, "%s %s: %s%s%s", o.driver.Name, o.driver.Version,
		strings.ReplaceAll(what, unknown, "..."), c.since(o.driver, s), "; "+strings.ReplaceAll(advice, unknown, "..."))
}

// since says at which measured versions the driver honours a spelling.
func (c *checker) since(d Driver, s facts.Spelling) string {
	var text string
	if _, measured := c.Facts.Find(d.Name, d.Version); !measured {
		before, after, _ := c.Facts.Around(d.Name, d.Version)
		text = fmt.Sprintf(" (not measured itself; %s before it and %s after it do)", before.Version, after.Version)
	}
	last := ""
	for _, f := range c.Facts.Versions(d.Name) {
		effect, _ := f.Effect(s)
		if facts.Compare(f.Version, d.Version) > 0 && effect == facts.Applied {
			return text + fmt.Sprintf(" (%s honours it, %s does not)", f.Version, last)
		}
		last = f.Version
	}
	return text
}

// advice is the spelling that works, with a value that the setting takes.
func (c *checker) advice(o *open, s facts.Spelling, value string, around []facts.Facts) string {
	setting, _ := sqlite.Lookup(s.Setting)
	if setting.Name == "" || isValue(s, value) {
		return workingSpelling(o, s, value, around)
	}
	return fmt.Sprintf("%s is not known to take %s: want %s; %s", s.Setting, value, want(setting), workingSpelling(o, s, "VALUE", around))
}

// workingSpelling is the spelling that works, with a value.
func workingSpelling(o *open, s facts.Spelling, value string, around []facts.Facts) string {
	for _, works := range preferred(around[0].Working(s.Setting, o.dsn.forms[0])) {
		if working(around, works) {
			return "write " + works.With(value)
		}
	}
	for _, works := range preferred(around[0].Working(s.Setting, true)) {
		if working(around, works) {
			return "write file:...?" + works.With(value)
		}
	}
	if s.Pragma != "" || !slices.Contains(openModes, s.Setting) {
		return "the DSN has no way to set it: run PRAGMA " + s.Setting + " = " + value + " on every new connection"
	}
	return "this driver has no way to set " + s.Setting
}

func working(around []facts.Facts, s facts.Spelling) bool {
	for _, f := range around {
		if effect, _ := f.Effect(s); effect != facts.Applied {
			return false
		}
	}
	return true
}

// openModes are the settings that are none of a PRAGMA.
var openModes = []string{"read_only", "immutable", "shared_cache", "mutex"}

// preferred puts _pragma=NAME(VALUE) first: all drivers that take it spell it
// alike.
func preferred(all []facts.Spelling) []facts.Spelling {
	var first, rest []facts.Spelling
	for _, s := range all {
		if s.Pragma != "" && !s.Equals {
			first = append(first, s)
			continue
		}
		rest = append(rest, s)
	}
	return append(first, rest...)
}

// readOnly reports whether the DSN asks for connections that write nothing.
func (o *open) readOnly() bool {
	return o.dsn.value("mode") == "ro" || o.immutable()
}

// immutable reports whether the DSN says that nobody writes to the file: then nothing is locked.
func (o *open) immutable() bool {
	return slices.Contains([]string{"1", "true", "on", "yes"}, strings.ToLower(o.dsn.value("immutable")))
}

func (c *checker) checkReadOnly(o *open, f facts.Facts) {
	for parameter, effect := range f.ReadOnlyWAL {
		key, value, _ := strings.Cut(parameter, "=")
		if o.dsn.value(key) != value || !o.dsn.certainly(true) || effect == facts.Applied {
			continue
		}
		for _, asked := range o.dsn.parameters {
			s, value, known := facts.Parse(true, asked)
			works, _ := f.Effect(s)
			if !known || s.Setting != "journal_mode" || !strings.EqualFold(value, "wal") || works != facts.Applied {
				continue
			}
			what := "without effect"
			if effect == facts.Fails {
				what = "an error at opening unless the file is in WAL mode already"
			}
			c.report(c.find(o, asked), ReadOnly, "%s %s: %s together with %s is %s; leave it out: WAL is a property of the file, which a writer sets",
				o.driver.Name, o.driver.Version, asked, parameter, what)
		}
	}
}

func (c *checker) checkMemory(o *open, f facts.Facts) {
	if !o.pool || f.Memory[o.dsn.memory] != facts.Private || c.pools.single {
		return
	}
	c.report(c.given(o.arg, o.known).Pos(), MemoryPool, "%s %s: each connection of the pool has an empty database of its own with %q; %s, or %s",
		o.driver.Name, o.driver.Version, o.dsn.text, oneConnection(c.typeOf(o.call)), sharedMemory(f))
}

func sharedMemory(f facts.Facts) string {
	switch facts.Shared {
	case f.Memory["file:/assay?vfs=memdb"]:
		return "write file:/NAME?vfs=memdb"
	case f.Memory["file:assay?mode=memory&cache=shared"]:
		return "write file:NAME?mode=memory&cache=shared"
	}
	return "use a file"
}

func (c *checker) checkShared(o *open, f facts.Facts) {
	if o.dsn.memory != "" || o.dsn.value("cache") != "shared" || !o.dsn.certainly(true) {
		return
	}
	if effect, _ := f.Effect(facts.Spelling{URI: true, Key: "cache", Setting: "shared_cache"}); effect == facts.Applied {
		c.report(c.find(o, "cache=shared"), SharedFile,
			"a shared cache makes connections of one process lock whole tables against each other, with errors that no busy timeout waits for; leave cache=shared out and set WAL")
	}
}

// sets reports whether the DSN sets a setting with effect.
func (o *open) sets(setting string, f facts.Facts) bool {
	for _, parameter := range o.dsn.parameters {
		for _, uri := range o.dsn.forms {
			s, _, known := facts.Parse(uri, parameter)
			effect, _ := f.Effect(s)
			if known && s.Setting == setting && effect == facts.Applied {
				return true
			}
		}
	}
	return false
}

// unset reports whether a connection of the pool has the driver's default of a
// setting, as far as the source can show, and returns the default.
func (c *checker) unset(o *open, setting string, f facts.Facts) (string, bool) {
	value, known := f.Default(setting, readsPragma(o, f))
	return value, known && o.pool && o.dsn.whole && o.dsn.memory == "" && !c.pools.hooks &&
		!o.sets(setting, f) && !c.mentions("pragma "+setting)
}

// readsPragma reports whether the driver sees a _pragma in the DSN: not where it
// takes the parameters for a part of the file's name.
func readsPragma(o *open, f facts.Facts) bool {
	return slices.ContainsFunc(o.dsn.parameters, func(parameter string) bool {
		return strings.HasPrefix(parameter, "_pragma=") && !slices.ContainsFunc(o.dsn.forms, func(uri bool) bool {
			s, _, _ := facts.Parse(uri, parameter)
			effect, _ := f.Effect(s)
			return effect == facts.Literal
		})
	})
}

func (c *checker) checkTimeout(o *open, f facts.Facts) {
	if value, unset := c.unset(o, "busy_timeout", f); !unset || value != "0" || o.immutable() || c.isTest(o.call) {
		return
	}
	c.report(c.given(o.arg, o.known).Pos(), NoTimeout, "%s %s waits 0 ms for a lock by default, so that a second writer fails at once with \"database is locked\"; %s",
		o.driver.Name, o.driver.Version, c.advice(o, facts.Spelling{Setting: "busy_timeout"}, "5000", []facts.Facts{f}))
}

func (c *checker) checkForeignKeys(o *open, f facts.Facts) {
	if value, unset := c.unset(o, "foreign_keys", f); !unset || value != "0" || !c.mentions("create table") || !c.mentions("references ") {
		return
	}
	c.report(c.given(o.arg, o.known).Pos(), NoKeys, "%s %s does not enforce foreign keys by default, and the schema in this package has some; %s",
		o.driver.Name, o.driver.Version, c.advice(o, facts.Spelling{Setting: "foreign_keys"}, "1", []facts.Facts{f}))
}
