// Package advisories knows faults of versions of the engines inside drivers: what is lost
// or damaged, under which condition, where that was said and when. What it does not know
// it does not judge.
package advisories

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"assay"
)

// Advisory is one fault.
type Advisory struct {
	ID       string           `json:"id"`
	Engine   string           `json:"engine,omitempty"`  // whose versions are affected, as workers name it
	Library  string           `json:"library,omitempty"` // or the module whose versions are
	Affected []Range          `json:"affected"`
	Patched  map[string]Range `json:"patched,omitempty"` // by library: its versions that repaired an affected engine
	Says     string           `json:"says"`
	When     string           `json:"when,omitempty"`     // under which condition; empty: always
	WAL      bool             `json:"wal,omitempty"`      // it needs a write-ahead log
	Attached bool             `json:"attached,omitempty"` // it needs several databases on a connection
	Nested   bool             `json:"nested,omitempty"`   // it needs savepoints
	System   string           `json:"system,omitempty"`   // it is there on this one only, as GOOS names it
	Fixed    []string         `json:"fixed"`
	Source   string           `json:"source"`
	URL      string           `json:"url"`
	Date     string           `json:"date"` // of the source
}

// Range is versions: the first one that is affected, and the first one after it that is not.
type Range struct {
	From   string `json:"from"`
	Before string `json:"before"`
}

//go:embed data.json
var data []byte

var table = func() (t struct {
	Advisories []Advisory                   `json:"advisories"`
	Bundled    map[string]map[string]string `json:"bundled"`
}) {
	if err := json.Unmarshal(data, &t); err != nil {
		panic("advisories: " + err.Error()) // a test reads it
	}
	return t
}()

// All returns the table.
func All() []Advisory { return slices.Clone(table.Advisories) }

// Sentence says the fault, when it shows and what to use instead.
func (a Advisory) Sentence() string {
	text := a.Says
	if a.When != "" {
		text += " (" + a.When + ")"
	}
	return text + "; fixed in " + strings.Join(a.Fixed, ", ")
}

// Versions are the affected ones, in words.
func (a Advisory) Versions() string {
	var all []string
	for _, r := range a.Affected {
		all = append(all, r.From+" to before "+r.Before)
	}
	return strings.Join(all, ", ")
}

// Build holds what a build, or a file that pins one, says of itself.
type Build struct {
	Engine, EngineVersion string // empty: not known
	Library, Version      string // the driver's module
	System                string // as GOOS names it; empty: any
	highest               string // of the engine's versions, where only bounds are known
}

// Of returns the faults of a build. Of versions that cannot be read, and of those between
// an affected and a sound one, it says nothing.
func Of(b Build) []Advisory {
	var all []Advisory
	for _, a := range table.Advisories {
		low, high := b.EngineVersion, cmp.Or(b.highest, b.EngineVersion)
		if a.Library != "" {
			low, high = b.Version, b.Version
		}
		if (a.Engine != "" && a.Engine == b.Engine || a.Library != "" && a.Library == b.Library) &&
			(a.System == "" || b.System == "" || a.System == b.System) && a.affects(low, high) && !a.Patched[b.Library].has(b.Version, b.Version) {
			all = append(all, a)
		}
	}
	return all
}

// OfTarget returns the faults of a build by what its worker says of itself, on this system.
func OfTarget(t assay.Target) []Advisory {
	return Of(Build{Engine: t.Engine, EngineVersion: t.EngineVersion, Library: t.Facts["module"], Version: t.DriverVersion, System: runtime.GOOS})
}

// affects reports whether all versions from low to high are affected.
func (a Advisory) affects(low, high string) bool {
	return slices.ContainsFunc(a.Affected, func(r Range) bool { return r.has(low, high) })
}

// spares reports whether no version from low to high is affected.
func (a Advisory) spares(low, high string) bool {
	return !slices.ContainsFunc(a.Affected, func(r Range) bool {
		return !(Range{"0.0.0", r.From}).has(low, high) && !(Range{r.Before, "999999.999999.999999"}).has(low, high)
	})
}

// has reports whether all versions from low to high are in the range.
func (r Range) has(low, high string) bool {
	first, known := parse(low)
	last, too := parse(high)
	from, _ := parse(r.From)
	before, _ := parse(r.Before)
	return known && too && slices.Compare(first, from) >= 0 && slices.Compare(last, before) < 0
}

// Packages returns the packages of a registry, such as npm, whose versions Pinned knows.
func Packages(registry string) (names []string) {
	for library := range table.Bundled {
		if name, of := strings.CutPrefix(library, registry+":"); of {
			names = append(names, name)
		}
	}
	return names
}

// Pinned is the build of a driver's library at a version that a file pins: a Go module, or
// a package with the name of its registry before it, such as gem:sqlite3. It is false
// where nobody has looked which engine that version has.
func Pinned(library, version string) (Build, bool) {
	b := Build{Library: library, Version: strings.TrimPrefix(version, "v")}
	asked, ok := parse(b.Version)
	engines, has := table.Bundled[library]
	if has {
		b.Engine = "sqlite"
	}
	switch {
	case !ok || !has:
		return b, false
	case len(engines) == 0: // its version is that of SQLite, and one number more
		b.EngineVersion, b.highest = b.Version, b.Version
		return b, true
	}
	var below, above []int
	for v, engine := range engines {
		at, _ := parse(v)
		if slices.Compare(at, asked) <= 0 && (below == nil || slices.Compare(at, below) > 0) {
			below, b.EngineVersion = at, engine
		}
		if slices.Compare(at, asked) >= 0 && (above == nil || slices.Compare(at, above) < 0) {
			above, b.highest = at, engine
		}
	}
	return b, below != nil && above != nil
}

// Decided reports whether it is known of each fault of the engine whether the build has it.
func (b Build) Decided() bool {
	for _, a := range table.Advisories {
		if a.Engine == b.Engine && a.Engine != "" && !a.Attached && !a.affects(b.EngineVersion, b.highest) && !a.spares(b.EngineVersion, b.highest) {
			return false
		}
	}
	return true
}

var versionPattern = regexp.MustCompile(`^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?:\.\d{1,6})?(?:\+[0-9A-Za-z.-]+)?$`)

// parse reads the three numbers of a version. A version with a suffix, such as a
// prerelease or a commit, is none: who knows what is in it.
func parse(version string) ([]int, bool) {
	m := versionPattern.FindStringSubmatch(version)
	if m == nil {
		return nil, false
	}
	numbers := make([]int, 3)
	for i, text := range m[1:] {
		numbers[i], _ = strconv.Atoi(text) // the pattern holds digits only, or none
	}
	return numbers, true
}

// Name is the affected engine or library at its version.
func (b Build) Name(a Advisory) string {
	if a.Library != "" {
		return fmt.Sprintf("%s %s", b.Library, b.Version)
	}
	if b.highest != "" && b.highest != b.EngineVersion {
		return fmt.Sprintf("%s %s to %s", b.Engine, b.EngineVersion, b.highest)
	}
	return b.Engine + " " + b.EngineVersion
}
