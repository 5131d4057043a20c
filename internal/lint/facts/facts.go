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
func (f Facts) Name() string { return f.At().String() }

// At is the driver with its version.
func (f Facts) At() Release { return Release{Name: f.Driver, Version: f.Version} }

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

// Library are the facts of a driver as those of a library with keys of its own.
func (f Facts) Library() Library {
	return Library{Name: f.Driver, Version: f.Version, Engine: f.Engine, On: f.On, Defaults: f.Defaults, Effects: f.Effects}
}
