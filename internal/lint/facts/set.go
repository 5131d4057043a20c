package facts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"assay/internal/build/catalog"
)

// Release is a driver or a library at a version.
type Release struct {
	Name, Version string
	Driver        string // version of the driver beneath, where that has releases of its own
}

// String is the release as users write it.
func (r Release) String() string {
	return strings.TrimSuffix(r.Name+"@"+r.Version+"+"+r.Driver, "+")
}

// Table holds what was measured of several drivers.
type Table struct {
	Drivers []catalog.Driver // all that are known
	all     []Facts          // by name, then from the oldest version to the newest
	// Unknown are files of saved facts about drivers that are not known, such as those of another
	// checkout.
	Unknown []string
}

// Load returns the facts that lie beside drivers, and those that were saved in a folder, of
// which only options count that the others lack; an empty name means none. A folder that does not
// exist holds none.
func Load(drivers []catalog.Driver, folder string) (*Table, error) {
	t := &Table{Drivers: drivers}
	var names []string
	for _, d := range drivers {
		files, err := d.Facts()
		if err != nil {
			return nil, err
		}
		names = append(names, files...)
	}
	var saved []string
	if folder != "" {
		var err error
		if saved, err = filepath.Glob(filepath.Join(folder, "*.json")); err != nil {
			return nil, err
		}
	}
	for i, name := range append(names, saved...) {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var one Facts
		if err := json.Unmarshal(data, &one); err != nil {
			return nil, fmt.Errorf("facts %s: %w; remove it and measure again with assay facts", name, err)
		}
		if !slices.ContainsFunc(drivers, func(d catalog.Driver) bool { return d.Name == one.Driver }) && !one.OfLibrary() {
			if i >= len(names) {
				t.Unknown = append(t.Unknown, name)
				continue
			}
			return nil, fmt.Errorf("facts %s: there is no driver %q: remove it", name, one.Driver)
		}
		if i := slices.IndexFunc(t.all, func(f Facts) bool { return f.At() == one.At() }); i >= 0 {
			one = t.all[i].with(one)
		}
		t.Add(one)
	}
	return t, nil
}

// with returns facts with the options that only others of the same release have.
func (f Facts) with(others Facts) Facts {
	tried := slices.Concat(slices.Collect(maps.Values(f.Effects))...)
	for effect, options := range others.Effects {
		f.Effects[effect] = append(f.Effects[effect], slices.DeleteFunc(options, func(o string) bool { return slices.Contains(tried, o) })...)
	}
	return f
}

// Add puts facts in, in the place of older ones of the same release.
func (t *Table) Add(f Facts) {
	t.all = append(slices.DeleteFunc(t.all, func(g Facts) bool { return g.At() == f.At() }), f)
	slices.SortFunc(t.all, func(f, g Facts) int {
		a, b := f.At(), g.At()
		return cmp.Or(strings.Compare(a.Name, b.Name), Compare(a.Version, b.Version), Compare(a.Driver, b.Driver))
	})
}

// Find returns the facts of a name at a version that has none beneath.
func (t *Table) Find(name, version string) (found Facts, ok bool) {
	for _, f := range t.all {
		if f.At() == (Release{Name: name, Version: version}) {
			return f, true
		}
	}
	return found, false
}

// Versions returns what was measured of a name, oldest version first.
func (t *Table) Versions(name string) []Facts {
	return slices.DeleteFunc(slices.Clone(t.all), func(f Facts) bool { return f.Driver != name })
}

// Names returns what has facts.
func (t *Table) Names() []string {
	var names []string
	for _, f := range t.all {
		names = append(names, f.Driver)
	}
	return slices.Compact(names)
}

// Judges returns the facts by which a version can be judged: its own, or those
// of the nearest measured versions on both sides, where there are such; none
// otherwise. The same holds for the version of the driver beneath.
func (t *Table) Judges(name, version, driver string) (judges []Facts) {
	all := t.Versions(name)
	for _, v := range nearest(version, all, func(r Release) string { return r.Version }) {
		same := slices.DeleteFunc(slices.Clone(all), func(f Facts) bool { return f.Version != v })
		if same[0].Beneath == "" {
			judges = append(judges, same[0])
			continue
		}
		drivers := nearest(driver, same, func(r Release) string { return r.Driver })
		if len(drivers) == 0 {
			return nil
		}
		judges = append(judges, slices.DeleteFunc(same, func(f Facts) bool { return !slices.Contains(drivers, f.Beneath) })...)
	}
	return judges
}

// nearest returns a version where it was measured, and otherwise those next to
// it on both sides; nothing where one of them is missing.
func nearest(version string, all []Facts, of func(Release) string) []string {
	if _, known := numbers(version); !known && !semver.IsValid(version) {
		return nil
	}
	before, after := "", ""
	for _, f := range all {
		v := of(f.At())
		switch c := Compare(v, version); {
		case c == 0:
			return []string{v}
		case c < 0 && (before == "" || Compare(v, before) > 0):
			before = v
		case c > 0 && (after == "" || Compare(v, after) < 0):
			after = v
		}
	}
	if before == "" || after == "" {
		return nil
	}
	return []string{before, after}
}

// numbers takes a version such as 7.1.5.1 apart; false where it is none of a
// release, such as 8.0.0.rc1 or 2.1.0b2.
func numbers(version string) ([]int, bool) {
	var all []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		all = append(all, n)
	}
	for len(all) > 1 && all[len(all)-1] == 0 { // 5.1 is 5.1.0
		all = all[:len(all)-1]
	}
	return all, true
}

// Compare orders two versions of Go's modules, of gems or of Python's packages.
func Compare(a, b string) int {
	if semver.IsValid(a) && semver.IsValid(b) {
		return semver.Compare(a, b)
	}
	x, _ := numbers(a)
	y, _ := numbers(b)
	return slices.Compare(x, y)
}
