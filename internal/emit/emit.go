// Package emit prints a profile as the configuration of an ecosystem: of programs that use a
// driver, as workers/NAME/driver.yaml and emit.tmpl say it, or of a server of PostgreSQL. It
// opens no database.
//
// A form sets every setting on every connection, the busy timeout before all
// others. What it cannot set is never left out in silence: it stands in a
// comment of the form and in Form.Unset.
package emit

import (
	"bytes"
	"fmt"
	"go/format"
	"path/filepath"
	"slices"
	"strings"

	"assay"
	"assay/internal/build/catalog"
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

// For prints a profile in the form of that name. It fails where there is
// no such form, and where a raw profile does not say what it means.
func (all Ecosystems) For(name string, s Source) (Form, error) {
	if name == PostgreSQL {
		if err := s.known(); err != nil {
			return Form{}, err
		}
		return server(s), nil
	}
	i := slices.IndexFunc(all, func(e ecosystem) bool { return e.Name == name })
	if i < 0 {
		return Form{}, fmt.Errorf("unknown ecosystem %q", name)
	}
	e := all[i]
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

// known says why a profile cannot be said in another form; nil: it can.
func (s Source) known() error {
	if len(s.Profile.Raw) > 0 && len(s.Profile.Requests) == 0 {
		return fmt.Errorf("profile %s is a raw DSN of a driver and has no requests that say what it is meant to set: only requests can be said in another form", s.Name)
	}
	return nil
}

func (e ecosystem) print(f form) (string, error) {
	var body, out bytes.Buffer
	if err := e.text.Execute(&body, f); err != nil {
		return "", err
	}
	comments, err := f.comments(e)
	if err != nil {
		return "", err
	}
	for _, line := range comments {
		fmt.Fprintln(&out, catalog.Comment[e.Language], strings.Join(strings.Fields(line), " ")) // SQL of a plan may have lines
	}
	fmt.Fprintf(&out, "\n%s\n", strings.TrimSpace(body.String()))
	if e.Language != "go" {
		return out.String(), nil
	}
	formatted, err := format.Source(out.Bytes())
	return string(formatted), err
}
