package crash

import (
	_ "embed"
	"encoding/json"
	"slices"

	"assay"
)

// Promise is what an engine's documentation says of some settings, in our words.
type Promise struct {
	Engine string
	// Settings have values as they are read back, of which each setting has one.
	// None stands for the default of a library that does not show it.
	Settings map[string][]string
	Class    assay.Durability // that the words come to
	// NewestOnly says that no fault takes more than the newest commits, though the
	// class allows it.
	NewestOnly bool `json:"newest_only"`
	Says       string
	Source     string // address of the documentation
}

//go:embed promises.json
var promisesText []byte

// promises are in the order in which they are looked through: the first that
// fits holds.
var promises = func() (all []Promise) {
	if err := json.Unmarshal(promisesText, &all); err != nil {
		panic(err) // a test reads it
	}
	return all
}()

// Documented is what the documentation promises of the settings that were read
// back; false where that is not known.
func (r *Result) Documented() (Promise, bool) {
	for _, p := range promises {
		if p.Engine == r.Engine && p.fits(r.Settings) {
			return p, true
		}
	}
	return Promise{}, false
}

func (p Promise) fits(settings map[string]string) bool {
	for name, values := range p.Settings {
		if !slices.Contains(values, settings[name]) {
			return false
		}
	}
	return true
}

// Contradicts reports whether a result shows what the documentation excludes.
func (p Promise) Contradicts(r *Result) bool {
	return slices.ContainsFunc(r.damages(), func(d Damage) bool {
		return promised(p.Class, r.losesUnsynced(), d) || p.NewestOnly && d.beyondLoss()
	})
}
