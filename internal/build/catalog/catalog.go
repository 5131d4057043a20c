// Package catalog reads what is known of each driver apart from how its worker is built: the
// files driver.yaml and emit.tmpl, and the folder facts, of workers/NAME. Code that
// prints, looks for or compares drivers asks it; no other place knows one by name.
package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"

	"assay/internal/sys/file"
)

// The names in a driver's folder. They are no part of its worker.
const (
	declaration = "driver.yaml" // a Driver
	template    = "emit.tmpl"   // the text of a Form
	facts       = "facts"       // what was measured: one file a version
)

const maxDeclaration = 1 << 20 // bytes

// Holds reports whether a file, by its path within a driver's folder, is one of the catalog.
func Holds(path string) bool {
	return path == declaration || path == template || strings.HasPrefix(path, facts+"/")
}

// Driver holds what is known of a driver.
type Driver struct {
	Name string `yaml:"-"` // of its folder
	Dir  string `yaml:"-"`
	// Caution says what a user must know before choosing it, such as that nobody maintains it;
	// * leaves it out then.
	Caution string `yaml:"caution"`
	// Drafted is its place among the drivers that a drafted plan compares; 0: it is none.
	Drafted int    `yaml:"drafted"`
	Parts   []Part `yaml:"parts"`
	Go      *Go    `yaml:"go"`
	Emit    *Form  `yaml:"emit"`
}

// Part is a part of SQLite that a build of the driver has if it is compiled so.
type Part struct {
	Option string  `yaml:"option"` // of the compiler, as builds are named
	Tag    string  `yaml:"tag"`    // of Go, which the driver has for it
	What   string  `yaml:"what"`
	Lacks  Pattern `yaml:"lacks"` // what a build without it says
}

// Go says how a Go program opens a database with the driver.
type Go struct {
	Package string `yaml:"package"` // import path
	Module  string `yaml:"module"`  // where that is another path
	SQL     string `yaml:"sql"`     // its name in database/sql; empty: it has an API of its own
	// Open are functions that take a DSN first, PATH.NAME, also those of other packages that
	// open with this driver.
	Open []string `yaml:"open"`
}

// Form says how a profile becomes configuration of programs that use the driver.
type Form struct {
	Name     string `yaml:"name"` // as users say it
	Title    string `yaml:"title"`
	Language string `yaml:"language"` // go, javascript, python, ruby or rust
	Self     string `yaml:"self"`     // who sets what the profile does not
	URI      bool   `yaml:"uri"`      // it takes a file: URI
	Named    bool   `yaml:"named"`    // it has the file's name in it, and not as an argument
	Presets  bool   `yaml:"presets"`  // its own settings fix those of the file
	Timeout  bool   `yaml:"timeout"`  // it has an option of its own for the busy timeout
	Mutex    bool   `yaml:"mutex"`    // it has flags for the mutex of a connection
	// Late says that settings of the file must come first and cannot by a parameter: where a
	// profile has one, the others come by SQL as well.
	Late      bool     `yaml:"late"`
	Lacks     []Lack   `yaml:"lacks"`
	Own       []string `yaml:"own"` // NAME = VALUE of settings that it makes where it is not told
	Immediate string   `yaml:"immediate"`

	Template string `yaml:"-"` // emit.tmpl; empty: that of all drivers of database/sql
}

// Lack says why a form cannot have a setting.
type Lack struct {
	When Pattern `yaml:"when"` // NAME=VALUE, or each=SQL for a statement of a profile
	Why  string  `yaml:"why"`
}

// Pattern is a regular expression.
type Pattern struct{ *regexp.Regexp }

// UnmarshalYAML compiles it.
func (p *Pattern) UnmarshalYAML(text []byte) error {
	var source string
	err := yaml.Unmarshal(text, &source)
	if err == nil {
		p.Regexp, err = regexp.Compile(source)
	}
	return err
}

// Read returns what a folder of workers says of its drivers, by name; without a driver.yaml that
// is the name.
func Read(workers string) ([]Driver, error) {
	entries, err := os.ReadDir(workers)
	if err != nil {
		return nil, fmt.Errorf("list workers: %w", err)
	}
	var all []Driver
	for _, entry := range entries {
		d, err := Of(filepath.Join(workers, entry.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// Of reads what a driver's folder says.
func Of(dir string) (Driver, error) {
	d := Driver{Name: filepath.Base(dir), Dir: dir}
	path := filepath.Join(dir, declaration)
	text, err := file.Read(path, maxDeclaration)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		err = yaml.UnmarshalWithOptions(text, &d, yaml.Strict())
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return d, fmt.Errorf("%s: %w", path, err)
	}
	if d.Emit == nil {
		return d, nil
	}
	text, err = file.Read(filepath.Join(dir, template), maxDeclaration)
	if d.Emit.Template = string(text); errors.Is(err, fs.ErrNotExist) && d.Go != nil && d.Go.SQL != "" {
		err = nil
	}
	return d, err
}

// check says what a declaration lacks.
func (d *Driver) check() error {
	if d.Go != nil && d.Go.Module == "" {
		d.Go.Module = d.Go.Package
	}
	switch {
	case d.Go != nil && d.Go.Package == "":
		return errors.New("go: want package, the import path of the driver")
	case d.Emit != nil && (d.Emit.Name == "" || d.Emit.Title == "" || Comment[d.Emit.Language] == ""):
		return errors.New("emit: want name, title, and language: go, javascript, python, ruby or rust")
	}
	for _, p := range d.Parts {
		if p.Option == "" || p.Lacks.Regexp == nil {
			return errors.New("parts: want option and lacks of each")
		}
	}
	if d.Emit != nil {
		for _, l := range d.Emit.Lacks {
			if l.When.Regexp == nil {
				return errors.New("emit: lacks: want when and why of each")
			}
		}
	}
	return nil
}

// Comment is what a comment begins with in each language of forms.
var Comment = map[string]string{"go": "//", "javascript": "//", "python": "#", "ruby": "#", "rust": "//"}

// Facts are the files with what was measured of the driver.
func (d Driver) Facts() ([]string, error) {
	return filepath.Glob(filepath.Join(d.Dir, facts, "*.json"))
}
