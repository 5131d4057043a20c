package facts

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	if r.Driver == "" {
		return r.Name + "@" + r.Version
	}
	return r.Name + "@" + r.Version + "+" + r.Driver
}

// Measured is what experiments found of a release.
type Measured interface{ At() Release }

// Set is what was measured of several releases.
type Set[T Measured] struct {
	Drivers []catalog.Driver // all that are known
	all     []T              // by name, then from the oldest version to the newest
}

// Table is what was measured of drivers for Go, and Libraries of other languages' libraries.
type (
	Table     = Set[Facts]
	Libraries = Set[Library]
)

// Load returns the facts that lie beside drivers, and those that were saved in a folder, which
// replace them; an empty name means none. A folder that does not exist holds none.
func Load(drivers []catalog.Driver, folder string) (*Table, error) {
	return collect(drivers, folder, func(f Facts) bool { return f.Module != "" })
}

// LoadLibraries returns the same of libraries.
func LoadLibraries(drivers []catalog.Driver, folder string) (*Libraries, error) {
	return collect(drivers, folder, func(l Library) bool { return l.Name != "" })
}

func collect[T Measured](drivers []catalog.Driver, folder string, counts func(T) bool) (*Set[T], error) {
	s := &Set[T]{Drivers: drivers}
	var names []string
	for _, d := range drivers {
		beside, err := d.Facts()
		if err != nil {
			return nil, err
		}
		names = append(names, beside...)
	}
	if folder != "" {
		saved, err := filepath.Glob(filepath.Join(folder, "*.json"))
		if err != nil {
			return nil, err
		}
		names = append(names, saved...)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var one T
		if err := json.Unmarshal(data, &one); err != nil {
			return nil, fmt.Errorf("facts %s: %w; remove it and measure again with assay facts", name, err)
		}
		if counts(one) {
			s.Add(one)
		}
	}
	return s, nil
}

// Add puts facts in, in the place of older ones of the same release.
func (s *Set[T]) Add(f T) {
	s.all = append(slices.DeleteFunc(s.all, func(g T) bool { return g.At() == f.At() }), f)
	slices.SortFunc(s.all, func(f, g T) int {
		a, b := f.At(), g.At()
		return cmp.Or(strings.Compare(a.Name, b.Name), Compare(a.Version, b.Version), Compare(a.Driver, b.Driver))
	})
}

// Find returns the facts of a name at a version that has none beneath.
func (s *Set[T]) Find(name, version string) (found T, ok bool) {
	for _, f := range s.all {
		if f.At() == (Release{Name: name, Version: version}) {
			return f, true
		}
	}
	return found, false
}

// Versions returns what was measured of a name, oldest version first.
func (s *Set[T]) Versions(name string) []T {
	return slices.DeleteFunc(slices.Clone(s.all), func(f T) bool { return f.At().Name != name })
}

// Names returns what has facts.
func (s *Set[T]) Names() []string {
	var names []string
	for _, f := range s.all {
		names = append(names, f.At().Name)
	}
	return slices.Compact(names)
}

// Judges returns the facts by which a version can be judged: its own, or those
// of the nearest measured versions on both sides, where there are such; none
// otherwise. The same holds for the version of the driver beneath.
func (s *Set[T]) Judges(name, version, driver string) (judges []T) {
	all := s.Versions(name)
	for _, v := range nearest(version, all, func(r Release) string { return r.Version }) {
		same := slices.DeleteFunc(slices.Clone(all), func(f T) bool { return f.At().Version != v })
		if same[0].At().Driver == "" {
			judges = append(judges, same[0])
			continue
		}
		drivers := nearest(driver, same, func(r Release) string { return r.Driver })
		if len(drivers) == 0 {
			return nil
		}
		for _, f := range same {
			if slices.Contains(drivers, f.At().Driver) {
				judges = append(judges, f)
			}
		}
	}
	return judges
}

// nearest returns a version where it was measured, and otherwise those next to
// it on both sides; nothing where one of them is missing.
func nearest[T Measured](version string, all []T, of func(Release) string) []string {
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
