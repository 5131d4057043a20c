package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"assay/internal/lint/facts"
)

// docs is where each rule is explained.
const docs = "docs/reference.md"

// checker looks at one package of a program.
type checker struct {
	*evaluator
	*notes
	Facts *facts.Table
	// resolve returns the driver that a package's program reaches through a package of
	// libraries, by import path; false where it does not.
	resolve func(pkg, library string) (Driver, bool)
	pkg     string
	files   []*ast.File
	// elsewhere are the opens of all packages, for those that have none.
	elsewhere []*open
	opened    map[token.Pos]bool // calls that open SQLite, and whether their DSN is judged
	pools     pools
}

func (c *checker) run() {
	opens, others := c.opens(c.files)
	c.pools = c.findPools(c.files)
	for _, o := range opens {
		judged := false
		switch {
		case c.isTest(o.call):
		case !o.dsn.whole && len(o.dsn.parameters) == 0:
			c.note(c.given(o.arg, o.known).Pos(), o.driver, "the DSN", onlyRunning)
		case len(c.Facts.Judges(o.driver.Name, o.driver.Version, "")) == 0:
			c.Unmeasured = append(c.Unmeasured, o.driver.String())
		default:
			judged = true
		}
		c.opened[o.call.Pos()] = c.opened[o.call.Pos()] || judged
		c.checkOpen(o)
	}
	c.checkPragmas(opens)
	c.checkTransactions(opens)
	if len(opens) > 0 && !others {
		c.checkIdle()
	}
}

func (c *checker) position(at token.Pos) token.Position { return c.fset.Position(at) }

func (c *checker) report(at token.Pos, rule Rule, format string, args ...any) {
	c.add(c.position(at), rule, fmt.Sprintf(format, args...))
}

// note notes that something at a place is not judged.
func (c *checker) note(at token.Pos, d Driver, what, reason string) {
	c.leave(c.position(at), d, what, reason)
}

func (c *checker) checkOpen(o *open) {
	around := c.Facts.Judges(o.driver.Name, o.driver.Version, "")
	c.checkParameters(o, around)
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
			c.Unmeasured = append(c.Unmeasured, o.driver.String())
		}
	}
}

// finds reports whether a rule has a finding, and keeps it from being reported.
func (c *checker) finds(rule func(*checker)) bool {
	silent, found := *c, Result{}
	silent.notes = &notes{&found, c.dir, c.silent}
	rule(&silent)
	return len(found.Findings) > 0
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
			if !known || s.Meaning != "journal_mode" || !strings.EqualFold(value, "wal") || works != facts.Applied {
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
	if !o.pool || f.Memory[o.dsn.memory] != facts.Private || c.pools.single || o.mixed && c.isTest(o.call) { // which one a test opens is not known
		return
	}
	c.report(c.given(o.arg, o.known).Pos(), MemoryPool, "%s %s: each connection of the pool has an empty database of its own with %q; %s, or %s",
		o.driver.Name, o.driver.Version, strings.ReplaceAll(o.dsn.text, unknown, "..."), oneConnection(c.typeOf(o.call)), sharedMemory(f))
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
	if o.dsn.memory != "" || c.pools.single || o.dsn.value("cache") != "shared" || !o.dsn.certainly(true) {
		return
	}
	if effect, _ := f.Effect(facts.Option{Place: facts.InFile, Key: "cache"}); effect == facts.Applied {
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
			if known && s.Meaning == setting && effect == facts.Applied {
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
		o.driver.Name, o.driver.Version, c.advice(o, facts.Option{Meaning: "busy_timeout"}, "5000", []facts.Facts{f}))
}

func (c *checker) checkForeignKeys(o *open, f facts.Facts) {
	if value, unset := c.unset(o, "foreign_keys", f); !unset || value != "0" || !c.mentions("create table") || !c.mentions("references ") {
		return
	}
	c.report(c.given(o.arg, o.known).Pos(), NoKeys, "%s %s does not enforce foreign keys by default, and the schema in this package has some; %s",
		o.driver.Name, o.driver.Version, c.advice(o, facts.Option{Meaning: "foreign_keys"}, "1", []facts.Facts{f}))
}
