// Package facts holds what SQLite drivers do with the settings in a DSN, at
// each version that was measured. Every fact is the result of an experiment
// with the driver (see Measure); none is written by hand.
package facts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"assay/internal/build/catalog"
	"assay/internal/sys/file"
)

// Effect is what a spelling in a DSN does.
type Effect string

// The effects.
const (
	Applied Effect = "applied" // on every connection
	Ignored Effect = "ignored" // on one connection at least
	Fails   Effect = "fails"   // the database cannot be opened
	Literal Effect = "literal" // the file's name has the question mark and all behind it
)

// Sharing is how many connections of a pool see one database.
type Sharing string

// The kinds of sharing.
const (
	Private Sharing = "private" // each connection has a database of its own
	Shared  Sharing = "shared"  // all connections have one database in memory
	OnDisk  Sharing = "file"    // it is no database in memory but a file of that name
	Refused Sharing = "fails"   // the database cannot be opened
)

// Facts are what was measured of one driver at one version.
type Facts struct {
	Driver  string `json:"driver"` // the worker's name
	Module  string `json:"module"`
	Version string `json:"version"`
	Engine  string `json:"engine"` // version of SQLite
	Cgo     bool   `json:"cgo"`
	On      string `json:"on"` // system, processor and Go version of the measurement
	// Defaults are settings of a connection that asks for none; BesidePragma
	// those that differ as soon as the DSN has any _pragma.
	Defaults     map[string]string `json:"defaults"`
	BesidePragma map[string]string `json:"beside_pragma,omitempty"`
	// Effects has the spellings that were tried, by what they did.
	Effects map[Effect][]string `json:"effects"`
	// Exec is how many of two pooled connections have a PRAGMA that one Exec on
	// the pool sent; Reopened is how many have it after the pool closed its
	// idle connections.
	Exec     int                `json:"exec"`
	Reopened int                `json:"reopened"`
	Memory   map[string]Sharing `json:"memory"` // by DSN
	// ReadOnlyWAL is what asking for WAL does, by mode=ro and immutable=1, with
	// a file that is not in WAL mode; empty where the driver cannot be asked.
	ReadOnlyWAL map[string]Effect `json:"read_only_wal,omitempty"`
}

// Effect returns what a spelling does; false where it was not tried.
func (f Facts) Effect(s Spelling) (Effect, bool) {
	text := s.String()
	for effect, spellings := range f.Effects {
		if slices.Contains(spellings, text) {
			return effect, true
		}
	}
	return "", false
}

// Working returns the spellings that set a setting: with a DSN that begins
// with file:, or with one that does not.
func (f Facts) Working(setting string, uri bool) []Spelling {
	var all []Spelling
	for _, s := range Spellings() {
		if effect, _ := f.Effect(s); s.Setting == setting && s.URI == uri && effect == Applied {
			all = append(all, s)
		}
	}
	return all
}

// Default returns a setting of a connection whose DSN says nothing of it.
func (f Facts) Default(setting string, besidePragma bool) (string, bool) {
	if value, there := f.BesidePragma[setting]; there && besidePragma {
		return value, true
	}
	value, there := f.Defaults[setting]
	return value, there
}

// Name is the driver as users write it.
func (f Facts) Name() string { return f.Driver + "@" + f.Version }

var arrays = regexp.MustCompile(`\[\s+("[^\]]*")\s+\]`)

// Encode returns the facts as JSON with each list on one line.
func (f Facts) Encode() ([]byte, error) { return encode(f) }

// encode writes each array of strings on one line.
func encode(of any) ([]byte, error) {
	data, err := json.MarshalIndent(of, "", " ")
	data = arrays.ReplaceAllFunc(data, func(array []byte) []byte {
		return []byte(strings.Join(strings.Fields(string(array)), " "))
	})
	return append(data, '\n'), err
}

// Save writes the facts into a folder, which it makes.
func (f Facts) Save(folder string) (string, error) { return save(folder, f.Name(), f) }

func save(folder, name string, of any) (string, error) {
	data, err := encode(of)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(folder, name+".json")
	return path, file.Write(path, data)
}

// Table is the facts of several drivers and versions.
type Table struct {
	Drivers []catalog.Driver // all that are known
	all     []Facts          // by driver, then from the oldest version to the newest
}

// Load returns the facts that lie beside drivers, and those that were saved in a folder, which
// replace them; an empty name means none. A folder that does not exist holds none.
func Load(drivers []catalog.Driver, folder string) (*Table, error) {
	t := &Table{Drivers: drivers}
	return t, collect(drivers, folder, func(f Facts) {
		if f.Module != "" {
			t.Add(f)
		}
	})
}

// collect adds what is measured: first what lies beside drivers, then what was saved in a
// folder, if one is named.
func collect[T any](drivers []catalog.Driver, folder string, add func(T)) error {
	var names []string
	for _, d := range drivers {
		beside, err := d.Facts()
		if err != nil {
			return err
		}
		names = append(names, beside...)
	}
	if folder != "" {
		saved, err := filepath.Glob(filepath.Join(folder, "*.json"))
		if err != nil {
			return err
		}
		names = append(names, saved...)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var one T
		if err := json.Unmarshal(data, &one); err != nil {
			return fmt.Errorf("facts %s: %w; remove it and measure again with assay facts", name, err)
		}
		add(one)
	}
	return nil
}

// Add puts facts in, in the place of older ones of the same version.
func (t *Table) Add(f Facts) {
	t.all = slices.DeleteFunc(t.all, func(g Facts) bool { return g.Name() == f.Name() })
	t.all = append(t.all, f)
	slices.SortFunc(t.all, func(a, b Facts) int {
		return cmp.Or(strings.Compare(a.Driver, b.Driver), semver.Compare(a.Version, b.Version))
	})
}

// Find returns the facts of a driver at a version.
func (t *Table) Find(driver, version string) (Facts, bool) {
	for _, f := range t.all {
		if f.Driver == driver && f.Version == version {
			return f, true
		}
	}
	return Facts{}, false
}

// Compare orders two versions.
func Compare(a, b string) int { return semver.Compare(a, b) }

// Around returns the nearest measured versions before and after one; false
// where there are none on both sides.
func (t *Table) Around(driver, version string) (before, after Facts, ok bool) {
	if !semver.IsValid(version) {
		return before, after, false
	}
	for _, f := range t.Versions(driver) {
		if Compare(f.Version, version) <= 0 {
			before = f
		} else if after.Version == "" {
			after = f
		}
	}
	return before, after, before.Version != "" && after.Version != ""
}

// Versions returns what was measured of a driver, oldest version first.
func (t *Table) Versions(driver string) []Facts {
	return slices.DeleteFunc(slices.Clone(t.all), func(f Facts) bool { return f.Driver != driver })
}

// Measured returns the drivers that have facts, by name.
func (t *Table) Measured() []string {
	var names []string
	for _, f := range t.all {
		names = append(names, f.Driver)
	}
	return slices.Compact(names)
}

// Library are the facts of a driver as those of a library with keys of its own.
func (f Facts) Library() Library {
	return Library{Name: f.Driver, Version: f.Version, Engine: f.Engine, On: f.On, Defaults: f.Defaults, Effects: f.Effects}
}
