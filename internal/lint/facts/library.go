package facts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/build/catalog"
)

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
func (l Library) Label() string {
	if l.Driver == "" {
		return l.Name + "@" + l.Version
	}
	return l.Name + "@" + l.Version + "+" + l.Driver
}

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

// Libraries are the facts of several libraries and versions.
type Libraries struct{ all []Library }

// LoadLibraries returns the facts that lie beside drivers, and those that were saved in a
// folder, which replace them; an empty name means none.
func LoadLibraries(drivers []catalog.Driver, folder string) (*Libraries, error) {
	ls := &Libraries{}
	return ls, collect(drivers, folder, func(l Library) {
		if l.Name != "" {
			ls.Add(l)
		}
	})
}

// Add puts facts in, in the place of older ones of the same versions.
func (ls *Libraries) Add(l Library) {
	ls.all = slices.DeleteFunc(ls.all, func(m Library) bool { return m.Label() == l.Label() })
	ls.all = append(ls.all, l)
	slices.SortFunc(ls.all, func(a, b Library) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), CompareReleases(a.Version, b.Version), CompareReleases(a.Driver, b.Driver))
	})
}

// All returns the facts of a library, oldest version first.
func (ls *Libraries) All(name string) []Library {
	return slices.DeleteFunc(slices.Clone(ls.all), func(l Library) bool { return l.Name != name })
}

// Names returns the libraries that have facts, by name.
func (ls *Libraries) Names() []string {
	var names []string
	for _, l := range ls.all {
		names = append(names, l.Name)
	}
	return slices.Compact(names)
}

// Judges returns the facts by which a version can be judged: its own, or those
// of the nearest measured versions on both sides, where there are such; none
// otherwise. The same holds for the version of the driver beneath.
func (ls *Libraries) Judges(name, version, driver string) []Library {
	var judges []Library
	all := ls.All(name)
	for _, v := range nearest(version, all, func(l Library) string { return l.Version }) {
		same := slices.DeleteFunc(slices.Clone(all), func(l Library) bool { return l.Version != v })
		if same[0].Driver == "" {
			judges = append(judges, same[0])
			continue
		}
		drivers := nearest(driver, same, func(l Library) string { return l.Driver })
		if len(drivers) == 0 {
			return nil
		}
		for _, l := range same {
			if slices.Contains(drivers, l.Driver) {
				judges = append(judges, l)
			}
		}
	}
	return judges
}

// nearest returns a version where it was measured, and otherwise those next to
// it on both sides; nothing where one of them is missing.
func nearest(version string, all []Library, of func(Library) string) []string {
	if _, known := release(version); !known {
		return nil
	}
	before, after := "", ""
	for _, l := range all {
		switch c := CompareReleases(of(l), version); {
		case c == 0:
			return []string{of(l)}
		case c < 0 && (before == "" || CompareReleases(of(l), before) > 0):
			before = of(l)
		case c > 0 && (after == "" || CompareReleases(of(l), after) < 0):
			after = of(l)
		}
	}
	if before == "" || after == "" {
		return nil
	}
	return []string{before, after}
}

// release takes a version such as 7.1.5.1 apart; false where it is none of a
// release, such as 8.0.0.rc1 or 2.1.0b2.
func release(version string) ([]int, bool) {
	var numbers []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	for len(numbers) > 1 && numbers[len(numbers)-1] == 0 { // 5.1 is 5.1.0
		numbers = numbers[:len(numbers)-1]
	}
	return numbers, true
}

// CompareReleases orders two versions of gems or of Python's packages.
func CompareReleases(a, b string) int {
	x, _ := release(a)
	y, _ := release(b)
	return slices.Compare(x, y)
}
