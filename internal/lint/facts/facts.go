// Package facts holds what SQLite drivers do with the settings in a DSN, at
// each version that was measured. Every fact is the result of an experiment
// with the driver (see Measure); none is written by hand.
package facts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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

// Effect returns what an option does; false where it was not tried.
func (f Facts) Effect(o Option) (Effect, bool) { return f.Library().Effect(o) }

// Working returns the options that set a setting: in a DSN that begins with file:, or in one
// that does not.
func (f Facts) Working(setting string, uri bool) []Option {
	return slices.DeleteFunc(f.Library().Working(setting), func(o Option) bool { return o.Place != InDSN(uri) })
}

// Default returns a setting of a connection whose DSN says nothing of it.
func (f Facts) Default(setting string, besidePragma bool) (string, bool) {
	if value, there := f.BesidePragma[setting]; there && besidePragma {
		return value, true
	}
	value, there := f.Defaults[setting]
	return value, there
}

// At is the driver with its version.
func (f Facts) At() Release { return Release{Name: f.Driver, Version: f.Version} }

var arrays = regexp.MustCompile(`\[\s+("[^\]]*")\s+\]`)

// Encode returns facts as JSON with each list on one line.
func Encode(of Measured) ([]byte, error) {
	data, err := json.MarshalIndent(of, "", " ")
	data = arrays.ReplaceAllFunc(data, func(array []byte) []byte {
		return []byte(strings.Join(strings.Fields(string(array)), " "))
	})
	return append(data, '\n'), err
}

// Save writes facts into a folder, which it makes.
func Save(folder string, of Measured) (path string, err error) {
	data, err := Encode(of)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	path = filepath.Join(folder, of.At().String()+".json")
	return path, file.Write(path, data)
}

// Library are the facts of a driver as those of a library with keys of its own.
func (f Facts) Library() Library {
	return Library{Name: f.Driver, Version: f.Version, Engine: f.Engine, On: f.On, Defaults: f.Defaults, Effects: f.Effects}
}

// Library is what was measured of a library with a configuration of its own,
// such as Django, at one version.
type Library struct {
	Name    string `json:"library"`
	Version string `json:"version"`
	// Driver is the version of the driver beneath, where that has releases of its
	// own: of the gem sqlite3 below ActiveRecord.
	Driver string `json:"driver,omitempty"`
	Engine string `json:"engine"` // version of SQLite
	On     string `json:"on"`     // system, processor and interpreter of the measurement
	// Defaults are what connections have whose configuration says nothing else.
	Defaults map[string]string `json:"defaults"`
	// Effects has the options that were tried, by what they did.
	Effects map[Effect][]string `json:"effects"`
	// Misspelled has the options that take effect, and all of whose Misspellings
	// are ignored. Where that is so of the place only, the option is one of
	// MisspelledPlaces; where no database can be opened with any of its
	// misspellings, one of MisspelledFails.
	Misspelled       []string `json:"misspelled,omitempty"`
	MisspelledPlaces []string `json:"misspelled_places,omitempty"`
	MisspelledFails  []string `json:"misspelled_fails,omitempty"`
}

// At is the library with its version, and with its driver's.
func (l Library) At() Release { return Release{l.Name, l.Version, l.Driver} }

// Effect returns what an option does; false where it was not tried.
func (l Library) Effect(o Option) (Effect, bool) {
	for effect, options := range l.Effects {
		if slices.Contains(options, o.String()) {
			return effect, true
		}
	}
	return "", false
}

// Working returns the options that set what another one means.
func (l Library) Working(meaning string) []Option {
	var all []Option
	for _, o := range Options(l.Name) {
		if effect, _ := l.Effect(o); o.Meaning == meaning && effect == Applied {
			all = append(all, o)
		}
	}
	return all
}
