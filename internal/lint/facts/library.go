package facts

import "slices"

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

// Label is the library with its version, and with its driver's, as users write it.
func (l Library) Label() string { return l.At().String() }

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

// Encode returns the facts as JSON with each list on one line.
func (l Library) Encode() ([]byte, error) { return encode(l) }

// Save writes the facts into a folder, which it makes.
func (l Library) Save(folder string) (string, error) { return save(folder, l.Label(), l) }
