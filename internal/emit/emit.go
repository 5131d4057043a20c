// Package emit prints a profile as the configuration of an ecosystem: Rails,
// Go with one of its drivers, Python, Node, Django, SQLAlchemy, or a server of PostgreSQL. It opens no
// database.
//
// A form sets every setting on every connection, the busy timeout before all
// others. What it cannot set is never left out in silence: it stands in a
// comment of the form and in Form.Unset.
package emit

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"go/format"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"assay"
)

// Source is a profile to print.
type Source struct {
	Name    string // PLAN/NAME, for comments; folders in front of it are left out
	Options string // compile options of the SQLite that was measured, as assay.DriverName has them
	Profile assay.Profile
	File    map[string]string // settings that the file has before it is opened
}

// Form is a profile in the form of an ecosystem.
type Form struct {
	Text string
	// Unset is what the profile asks for and the form does not do, each with
	// the reason. The text has it too.
	Unset []string
}

// Ecosystems returns the names of all ecosystems.
func Ecosystems() []string {
	var names []string
	for _, e := range ecosystems {
		names = append(names, e.name)
	}
	return names
}

// OfDriver is the ecosystem whose programs use a driver; empty where none is known.
func OfDriver(driver string) string {
	switch driver {
	case "activerecord":
		return "rails"
	case "better-sqlite3":
		return "node"
	}
	for _, name := range []string{driver, "go-" + driver} {
		if slices.Contains(Ecosystems(), name) {
			return name
		}
	}
	return ""
}

// For prints a profile in the form of that name. It fails where there is
// no such form, and where a raw profile does not say what it means.
func For(name string, s Source) (Form, error) {
	if name == PostgreSQL {
		if err := s.known(); err != nil {
			return Form{}, err
		}
		return server(s), nil
	}
	i := slices.IndexFunc(ecosystems, func(e ecosystem) bool { return e.name == name })
	if i < 0 {
		return Form{}, fmt.Errorf("unknown ecosystem %q", name)
	}
	e := ecosystems[i]
	if err := s.known(); err != nil {
		return Form{}, err
	}
	s.Name = withoutFolders(s.Name)
	f := e.form(s)
	text, err := e.print(f)
	if err != nil {
		return Form{}, fmt.Errorf("print profile %s for %s: %w", s.Name, name, err)
	}
	return Form{text, f.Unset}, nil
}

// withoutFolders is the plan and the profile: where a user keeps the plan is nobody's concern.
func withoutFolders(name string) string {
	parts := strings.Split(filepath.ToSlash(name), "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// OptionsOf are the compile options that a plan's drivers have whose programs are of an
// ecosystem; empty where it has none, or one of them without.
func OptionsOf(ecosystem string, drivers []string) string {
	options := ""
	for _, name := range drivers {
		d := assay.ParseDriverName(name)
		if OfDriver(d.Name) != ecosystem {
			continue
		}
		if d.Options == "" {
			return ""
		}
		options = cmp.Or(options, d.Options)
	}
	return options
}

// known says why a profile cannot be said in another form; nil: it can.
func (s Source) known() error {
	if len(s.Profile.Raw) > 0 && len(s.Profile.Requests) == 0 {
		return fmt.Errorf("profile %s is a raw DSN of a driver and has no requests that say what it is meant to set: only requests can be said in another form", s.Name)
	}
	return nil
}

//go:embed templates
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"json": quoteJSON,
	"ruby": quoteRuby,
}).ParseFS(files, "templates/*.tmpl"))

func (e ecosystem) print(f form) (string, error) {
	var body, out bytes.Buffer
	if err := templates.ExecuteTemplate(&body, e.name+".tmpl", f); err != nil {
		return "", err
	}
	for _, line := range f.comments(e) {
		fmt.Fprintln(&out, e.comment, strings.Join(strings.Fields(line), " ")) // SQL of a plan may have lines
	}
	fmt.Fprintf(&out, "\n%s\n", strings.TrimSpace(body.String()))
	if !strings.HasPrefix(e.name, "go-") {
		return out.String(), nil
	}
	formatted, err := format.Source(out.Bytes())
	return string(formatted), err
}

// quoteJSON quotes a text for Go, Python and JavaScript.
func quoteJSON(text string) (string, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(text)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// quoteRuby quotes a text where #{...} must stay as it is.
func quoteRuby(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
