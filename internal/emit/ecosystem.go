package emit

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/template"

	"assay"
	"assay/internal/build/catalog"
	"assay/internal/lint/facts"
	"assay/internal/sys/format"
	"assay/kit/sqlite"
)

// ecosystem says how the programs of a driver take settings.
type ecosystem struct {
	*catalog.Form
	driver catalog.Driver
	facts  facts.Facts // of the newest version that was measured
	text   *template.Template
}

// Ecosystems holds the ecosystems that profiles can be printed for.
type Ecosystems []ecosystem

//go:embed templates
var files embed.FS

var shared = template.Must(template.New("").Funcs(template.FuncMap{
	"json": format.Quote,
	"ruby": quoteRuby,
	"rust": quoteRust,
}).ParseFS(files, "templates/*.tmpl"))

// rank is the place of those whose drivers a drafted plan compares, before all others.
func (e ecosystem) rank() int { return cmp.Or(e.driver.Drafted, math.MaxInt32) }

// Of returns the ecosystems of drivers. It fails where a template or a file of facts is wrong.
func Of(drivers []catalog.Driver) (Ecosystems, error) {
	table, err := facts.Load(drivers, "")
	if err != nil {
		return nil, err
	}
	var all Ecosystems
	for _, d := range drivers {
		if d.Emit == nil {
			continue
		}
		e := ecosystem{Form: d.Emit, driver: d}
		if measured := table.Versions(d.Name); len(measured) > 0 {
			e.facts = measured[len(measured)-1]
		}
		text := cmp.Or(e.Template, `{{template "database/sql" .}}`)
		if e.text, err = template.Must(shared.Clone()).New(e.Name).Parse(text); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Dir, err)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b ecosystem) int { return cmp.Or(a.rank()-b.rank(), strings.Compare(a.Name, b.Name)) })
	return all, nil
}

// Names returns the names of all forms: the ecosystems' and a server's.
func (all Ecosystems) Names() []string {
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	return append(names, PostgreSQL)
}

// OfDriver is the ecosystem whose programs use a driver; empty where none is known.
func (all Ecosystems) OfDriver(driver string) string {
	for _, e := range all {
		if e.driver.Name == driver {
			return e.Name
		}
	}
	return ""
}

// OptionsOf are the compile options that a plan's drivers have whose programs are of an
// ecosystem; empty where it has none, or one of them without.
func (all Ecosystems) OptionsOf(ecosystem string, drivers []string) string {
	options := ""
	for _, name := range drivers {
		d := assay.ParseDriverName(name)
		if all.OfDriver(d.Name) != ecosystem {
			continue
		}
		if d.Options == "" {
			return ""
		}
		options = cmp.Or(options, d.Options)
	}
	return options
}

// pragma is a driver's own parameter of a DSN that runs any PRAGMA.
var pragma = facts.Option{Place: facts.InFile, Key: "_pragma=cache_size()"}

// parameter is the driver's own of the DSN, as experiments found it; empty: there is none, and
// SQL does it.
func (e ecosystem) parameter(name, value string) string {
	if effect, _ := e.facts.Effect(pragma); effect == facts.Applied {
		return facts.Option{Key: "_pragma=" + name + "()"}.With(value)
	}
	if setting, _ := sqlite.Lookup(name); !setting.Pragma {
		value = strings.ToLower(value)
	}
	for _, works := range e.facts.WorkingIn(name, true) {
		return works.With(value)
	}
	return ""
}

// late reports whether settings with a parameter must come by SQL all the same, because
// another one that has none must come before: journal_mode makes the file's first page.
func (e ecosystem) late(settings map[string]string) bool {
	_, size := settings["page_size"]
	_, encoding := settings["encoding"]
	return e.Late && (size || encoding)
}

// lacks says why a setting cannot have a value, or why the SQL of the name each cannot be
// run; empty: it can.
func (e ecosystem) lacks(name, value string) string {
	for _, l := range e.Lacks {
		if l.When.MatchString(name + "=" + value) {
			return l.Why
		}
	}
	return ""
}

// notes returns what the template says beside the configuration, each on a line.
func (e ecosystem) notes(f form) ([]string, error) {
	if e.text.Lookup("notes") == nil {
		return nil, nil
	}
	var out strings.Builder
	err := e.text.ExecuteTemplate(&out, "notes", f)
	return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' }), err
}

// quoteRuby quotes a text where #{...} must stay as it is.
func quoteRuby(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// quoteRust quotes a text for Rust, whose \u is not that of JSON.
func quoteRust(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
}
