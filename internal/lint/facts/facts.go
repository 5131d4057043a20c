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

// Effect says what a spelling in a DSN does.
type Effect string

// The effects.
const (
	Applied Effect = "applied" // on every connection
	Ignored Effect = "ignored" // on one connection at least
	Fails   Effect = "fails"   // the database cannot be opened
	Literal Effect = "literal" // the file's name has the question mark and all behind it
)

// Sharing says how many connections of a pool see one database.
type Sharing string

// The kinds of sharing.
const (
	Private Sharing = "private" // each connection has a database of its own
	Shared  Sharing = "shared"  // all connections have one database in memory
	OnDisk  Sharing = "file"    // it is no database in memory but a file of that name
	Refused Sharing = "fails"   // the database cannot be opened
)

// Facts holds what was measured of one driver at one version: of one for Go, or of a library with
// a configuration of its own, such as Django.
type Facts struct {
	Common
	Module string `json:"module"` // empty: of a library, which has nothing of all that follows
	Cgo    bool   `json:"cgo"`
	// BesidePragma are the defaults that differ as soon as the DSN has any _pragma.
	BesidePragma map[string]string `json:"beside_pragma,omitempty"`
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

// Common holds what is measured of every driver.
type Common struct {
	Driver  string `json:"driver"` // the worker's name
	Version string `json:"version"`
	// Beneath is the version of what a library drives, where that has releases of its own: of
	// the gem sqlite3 below ActiveRecord.
	Beneath string `json:"beneath,omitempty"`
	Engine  string `json:"engine"` // version of SQLite
	On      string `json:"on"`     // system, processor and language of the measurement
	// Defaults are settings of a connection that asks for none.
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

// At is the driver with its version, and with that of what it drives.
func (c Common) At() Release { return Release{c.Driver, c.Version, c.Beneath} }

// OfLibrary reports whether the facts are of a library, and not of a driver that DSNs go to.
func (c Common) OfLibrary() bool { return slices.Contains(LibraryNames(), c.Driver) }

// Effect returns what an option does; false where it was not tried.
func (c Common) Effect(o Option) (Effect, bool) {
	for effect, options := range c.Effects {
		if slices.Contains(options, o.String()) {
			return effect, true
		}
	}
	return "", false
}

// Working returns the options that set what another one means.
func (c Common) Working(meaning string) []Option {
	var all []Option
	for _, o := range Options(c.Driver) {
		if effect, _ := c.Effect(o); o.Meaning == meaning && effect == Applied {
			all = append(all, o)
		}
	}
	return all
}

// WorkingIn returns the options that set a setting in a DSN that begins with file:, or in one
// that does not.
func (c Common) WorkingIn(setting string, uri bool) []Option {
	return slices.DeleteFunc(c.Working(setting), func(o Option) bool { return o.Place != InDSN(uri) })
}

// Default returns a setting of a connection whose DSN says nothing of it.
func (f Facts) Default(setting string, besidePragma bool) (string, bool) {
	if value, there := f.BesidePragma[setting]; there && besidePragma {
		return value, true
	}
	value, there := f.Defaults[setting]
	return value, there
}

var arrays = regexp.MustCompile(`\[\s+("[^\]]*")\s+\]`)

// Encode returns facts as JSON with each list on one line.
func Encode(of Facts) ([]byte, error) {
	var value any = of
	if of.OfLibrary() {
		value = of.Common
	}
	data, err := json.MarshalIndent(value, "", " ")
	data = arrays.ReplaceAllFunc(data, func(array []byte) []byte {
		return []byte(strings.Join(strings.Fields(string(array)), " "))
	})
	return append(data, '\n'), err
}

// Save writes facts into a folder, which it makes.
func Save(folder string, of Facts) (path string, err error) {
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
