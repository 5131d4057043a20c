package emit

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay"
	"assay/internal/build/catalog"
	"assay/kit/kv"
	"assay/kit/sqlite"
)

// form holds what the templates print.
type form struct {
	Name     string
	Driver   catalog.Driver
	URI      []string // parameters of SQLite's file: URI
	Keys     []string // the driver's own parameters of the DSN
	Mutex    string   // FULL or NO, where the ecosystem has flags for it
	Timeout  string   // milliseconds, where the ecosystem has an option for the busy timeout
	ReadOnly bool     // the file is only read
	First    []string // SQL that is run before the ecosystem's own settings
	SQL      []string // run on every new connection, in this order
	Journal  string   // journal_mode; empty: not set
	Unset    []string

	options  string            // of the compiler
	settings map[string]string // as SQLite reads them back
	raw      bool
	made     []string // what the file must have been made with
	replaced []string // SQL of the profile in whose place its requests are
}

// form sorts what a profile asks for by how the ecosystem takes it.
func (e ecosystem) form(s Source) form {
	f := form{Name: s.Name, Driver: e.driver, options: s.Options, settings: settings(s), raw: len(s.Profile.Raw) > 0}
	f.ReadOnly = f.settings["read_only"] == "1" || f.settings["immutable"] == "1"
	f.Journal = f.settings["journal_mode"]
	late := e.late(f.settings)
	for _, name := range sqlite.InOrder(f.settings) {
		f.set(e, name, f.settings[name], late)
	}
	for _, text := range s.Profile.Each {
		f.each(e, text)
	}
	for _, text := range s.Profile.Once {
		if f.covers(text) {
			f.replaced = append(f.replaced, text)
		} else {
			f.lacks(text, onceAfterOpening)
		}
	}
	for _, text := range s.Profile.Prepare {
		f.lacks(text, beforeOpening)
	}
	for _, dsn := range s.Profile.Raw {
		if inMemory.MatchString(dsn) {
			f.lacks("a database in memory", noMemory)
			break
		}
	}
	return f
}

// settings returns all that a profile asks for, in SQLite's terms.
func settings(s Source) map[string]string {
	all := map[string]string{}
	for _, part := range []map[string]string{s.File, s.Profile.Settings, s.Profile.Requests} {
		maps.Copy(all, kv.InSQLite(part))
	}
	return all
}

// Immediate is Query for a connection whose transactions begin with BEGIN IMMEDIATE,
// as the drivers of Go write it.
func (f form) Immediate() string {
	if query := f.Query(); query != "" {
		return query + "&_txlock=immediate"
	}
	return "?_txlock=immediate"
}

// Query returns what stands behind the path in a file: URI; empty: nothing.
func (f form) Query() string {
	parameters := slices.Concat(f.URI, f.Keys)
	if len(parameters) == 0 {
		return ""
	}
	return "?" + strings.Join(parameters, "&")
}

// Has reports whether the profile gives a setting a value, as SQLite reads it back.
func (f form) Has(name, value string) bool { return f.settings[name] == value }

// NoWrites reports whether the database is opened for reading only.
func (f form) NoWrites() bool { return f.settings["read_only"] == "1" }

// exclusive reports whether one connection shuts every other one out.
func (f form) exclusive() bool {
	return f.settings["locking_mode"] == "exclusive" && f.settings["shared_cache"] != "1"
}

// Pools reports whether a second pool, which writes, can open the database.
func (f form) Pools() bool { return !f.ReadOnly && !f.exclusive() }

// noMemory is why no form has the setting memory.
const noMemory = "a plan's data are copied into memory; an application has its data in a file"

var inMemory = regexp.MustCompile(`:memory:|mode=memory|vfs=memdb`)

// set takes one setting. Late ones come by SQL although there is a key.
func (f *form) set(e ecosystem, name, value string, late bool) {
	setting, _ := sqlite.Lookup(name)
	parameter := sqlite.URIParameter(name, value)
	written := name + " = " + sqlite.Spell(name, value)
	switch reason := e.lacks(name, value); {
	case name == "memory" && value == "0":
	case name == "memory":
		f.lacks(written, noMemory)
	case written == "journal_mode = WAL" && f.settings["immutable"] == "1":
		f.lacks(written, "an immutable file is read without its log, and SQLite does not refuse")
	case reason != "":
		f.lacks(written, reason)
	case parameter != "" && e.URI:
		f.URI = append(f.URI, parameter)
	case parameter != "": // an option of its own, or the default
	case setting.OfFile && f.ReadOnly:
		f.made = append(f.made, written)
	case name == "mutex" && e.Mutex:
		f.Mutex = sqlite.Spell(name, value)
	case name == "busy_timeout" && e.Timeout:
		f.Timeout = value
	case e.parameter(name, "") != "" && (!late || name == "busy_timeout" || !setting.Pragma):
		f.Keys = append(f.Keys, e.parameter(name, sqlite.Spell(name, value)))
	case setting.OfFile && e.Presets:
		f.First = append(f.First, sqlite.Pragma(name, value))
	default:
		f.SQL = append(f.SQL, sqlite.Pragma(name, value))
	}
}

func (f *form) lacks(what, why string) { f.Unset = append(f.Unset, lacking(what, why)) }

func lacking(what, why string) string { return strings.Join(strings.Fields(what), " ") + ": " + why }

// Why the SQL of a profile is in no configuration.
const (
	onceAfterOpening = "runs once on one connection after opening, which is the application's to do"
	beforeOpening    = "changes the database before it is opened, which is the application's to do"
	everyConnection  = "runs on every connection, which is the application's to do"
)

// each takes SQL that runs on every connection.
func (f *form) each(e ecosystem, text string) {
	text = strings.TrimRight(strings.TrimSpace(text), "; \t\n")
	reason := e.lacks("each", text)
	if strings.Contains(text, "{{path}}") {
		reason = "it names the file of the plan"
	}
	switch {
	case f.covers(text):
		f.replaced = append(f.replaced, text)
	case reason != "":
		f.lacks(text, reason)
	default:
		f.SQL = append(f.SQL, text)
	}
}

var pragmaPattern = regexp.MustCompile(`(?i)^\s*PRAGMA\s+(\w+)\s*[=(]`)

// covers reports whether SQL is a PRAGMA whose setting the form has anyway.
func (f *form) covers(text string) bool {
	match := pragmaPattern.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	_, ok := f.settings[strings.ToLower(match[1])]
	return ok
}

func (f *form) comments(e ecosystem) ([]string, error) {
	lines := []string{
		fmt.Sprintf("Profile %s for %s, printed by assay emit.", strings.Join(strings.Fields(f.Name), " "), e.Title),
		f.durability(),
	}
	if e.Named {
		lines[0] += " app.db stands for the file."
	}
	if build := f.build(e); build != "" {
		lines = append(lines, build)
	}
	for _, unset := range f.Unset {
		lines = append(lines, "NOT SET: "+unset+".")
	}
	if own := f.own(e); own != "" {
		lines = append(lines, own)
	}
	lines = append(lines, f.notes()...)
	notes, err := e.notes(*f)
	lines = append(lines, notes...)
	if !f.ReadOnly {
		lines = append(lines, "assay measures transactions that change data with BEGIN IMMEDIATE, which waits for the lock at once: "+e.Immediate+".")
	}
	return lines, err
}

// build says how the SQLite is compiled that was measured; empty: as the driver has it.
func (f *form) build(e ecosystem) string {
	if f.options == "" {
		return ""
	}
	var flags []string
	for _, option := range sqlite.CompileOptions(strings.Split(f.options, ":")) {
		flags = append(flags, "-DSQLITE_"+option)
	}
	text := strings.Join(flags, " ")
	if e.Language == "go" {
		return fmt.Sprintf(`Measured with compile options of SQLite. Build the program with them: CGO_CFLAGS="%s" CGO_LDFLAGS="-lm" go build.`, text)
	}
	return "Measured with an SQLite that is compiled with " + text + ": the one that the program uses needs them, too."
}

// durability says what a commit is worth by the settings that the form has.
func (f *form) durability() string {
	if f.ReadOnly {
		return "Durability: nothing is written."
	}
	effective := maps.Clone(f.settings)
	delete(effective, "memory")
	class := assay.Durability(sqlite.Durability(effective))
	if class == assay.DurabilityUnknown {
		return "Durability: the profile does not say, because it does not set both journal_mode and synchronous."
	}
	return fmt.Sprintf("Durability that these settings claim: %s (%s).", class, class.Loss())
}

// own says what the ecosystem sets where the profile says nothing.
func (f *form) own(e ecosystem) string {
	var left []string
	for _, own := range e.Own {
		name, _, _ := strings.Cut(own, " ")
		if _, ok := f.settings[name]; !ok {
			left = append(left, own)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "Not in the profile, and set by " + e.Self + " itself: " + strings.Join(left, ", ") + "."
}

// notes returns what is to be known of settings in every ecosystem.
func (f *form) notes() []string {
	var lines []string
	if f.raw {
		lines = append(lines, "The profile is a raw DSN of a driver: what it requests is set here, not the DSN.")
	}
	if len(f.replaced) > 0 {
		lines = append(lines, "What the profile requests is set in the place of its own SQL: "+strings.Join(f.replaced, "; ")+".")
	}
	file := slices.DeleteFunc(slices.Sorted(maps.Keys(f.settings)), func(name string) bool {
		setting, _ := sqlite.Lookup(name)
		return !setting.OfFile
	})
	switch {
	case len(f.made) > 0:
		lines = append(lines, "The file is only read: it must have been made with "+strings.Join(f.made, ", ")+".")
	case len(file) > 0:
		lines = append(lines, strings.Join(file, ", ")+": of the file, fixed when its first table is made; a file with tables keeps what it has.")
	}
	if f.NoWrites() && f.Journal != "" && f.settings["immutable"] != "1" {
		lines = append(lines, "A connection that only reads cannot turn a file to WAL or back: opening fails unless the file is so already.")
	}
	if f.exclusive() {
		lines = append(lines, "locking_mode = EXCLUSIVE shuts every other connection out: keep the pool at one.")
	}
	if !slices.Contains([]string{"", "0"}, f.settings["mmap_size"]) {
		lines = append(lines, "mmap_size: where another process truncates the file, or on FUSE, virtiofs or 9p, a read can end the process (SIGBUS).")
	}
	return lines
}
