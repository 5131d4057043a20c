package assay

import (
	"cmp"
	"slices"
	"strings"
)

// DriverName is a driver as plans, flags and reports name it, at a version and with
// compile options where these are said: NAME[@VERSION][:OPTION[=VALUE]]....
// NAME@DRIVER, such as sqlite-c@mattn and zombiezen@modernc, is made of another driver's
// SQLite.
// Equal names are of one build. Whatever compares a name with cells does it here.
type DriverName struct {
	Name    string // of the worker: mattn
	Version string // of the driver's library: v1.14.52; or another driver, of whose SQLite it is made: mattn
	Options string // compile options, in order: DQS=0:OMIT_SHARED_CACHE
}

// ParseDriverName takes a driver's name apart. It judges none of the parts. Options
// mean the same in any order and with SQLite's prefix, so that they get one form.
func ParseDriverName(s string) DriverName {
	target, options, _ := strings.Cut(s, ":")
	name, version, _ := strings.Cut(target, "@")
	if options != "" {
		words := strings.Split(options, ":")
		for i, word := range words {
			words[i] = strings.TrimPrefix(word, "SQLITE_")
		}
		slices.Sort(words)
		options = strings.Join(words, ":")
	}
	return DriverName{name, version, options}
}

// String returns a name that ParseDriverName reads.
func (n DriverName) String() string {
	s := n.Name
	if n.Version != "" {
		s += "@" + n.Version
	}
	if n.Options != "" {
		s += ":" + n.Options
	}
	return s
}

// Means reports whether a cell, as a plan names it or as it was measured, is of this
// driver: of any version where the name says none, and of the driver's own compile
// options where it says none.
func (n DriverName) Means(c Cell) bool {
	return n.Name == c.Driver && n.Options == c.Options && (n.Version == "" || sameVersion(n.Version, c.DriverVersion) || n.isMadeOf(c.DriverVersion))
}

// sameVersion reports whether two versions are one: 3.46.1 of a package for Python is 3.46.1.0.
func sameVersion(a, b string) bool {
	for _, v := range []*string{&a, &b} {
		for !strings.HasPrefix(*v, "v") && strings.HasSuffix(*v, ".0") {
			*v = strings.TrimSuffix(*v, ".0")
		}
	}
	return a == b
}

// isMadeOf reports whether the version that a build says of itself ends with the driver
// that the name has: sqlite-c@mattn says 3.53.4+mattn.
func (n DriverName) isMadeOf(version string) bool {
	_, driver, _ := strings.Cut(version, "+")
	return n.Version == driver
}

// DriverNames are the drivers of one plan or run, as it names them.
type DriverNames []DriverName

// ParseDriverNames takes names apart.
func ParseDriverNames(names []string) DriverNames {
	all := make(DriverNames, len(names))
	for i, name := range names {
		all[i] = ParseDriverName(name)
	}
	return all
}

// Of returns the name that a cell is of. One with a version goes before one without,
// which then means the version that the worker has by itself. A cell that no name means
// is of its own.
func (all DriverNames) Of(c Cell) DriverName {
	found := c.DriverName()
	for _, n := range all {
		if n.Means(c) && (!slices.Contains(all, found) || n.Version != "") {
			found = n
		}
	}
	return found
}

// Select reports whether a cell is one of those that somebody selects by a driver's name.
// A name without compile options selects those with any, as CSV's column has it, and one
// without a version the worker's own version where the others are named apart.
func (all DriverNames) Select(name DriverName, c Cell) bool {
	if name.Name != c.Driver || name.Options != "" && name.Options != c.Options {
		return false
	}
	name.Options = c.Options
	if name.Version == "" && slices.Contains(all, name) {
		return all.Of(c) == name
	}
	return name.Means(c)
}

// Baseline names the cells that others are compared with, alike on all other axes: those of a
// driver, with one profile or each profile with its own. In writing, which is in plans
// and runs, it is DRIVER[/PROFILE].
type Baseline struct {
	Driver  DriverName
	Profile string // empty: each profile has its own baseline
}

// ParseBaseline takes a baseline apart. It judges none of the parts.
func ParseBaseline(s string) Baseline {
	name, profile, _ := strings.Cut(s, "/")
	return Baseline{ParseDriverName(name), profile}
}

// String returns what ParseBaseline reads.
func (b Baseline) String() string {
	if b.Profile == "" {
		return b.Driver.String()
	}
	return b.Driver.String() + "/" + b.Profile
}

// MarshalText and UnmarshalText keep a baseline as it is written.
func (b Baseline) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText is MarshalText reversed; it accepts any text.
func (b *Baseline) UnmarshalText(text []byte) error {
	*b = ParseBaseline(string(text))
	return nil
}

// Within returns the baseline of a run with these cells. A driver that no cell is of
// gives way to that of the first, and a profile that none has to each profile's own.
func (b Baseline) Within(cells []Cell) Baseline {
	if b.Driver.Closest(cells) < 0 {
		b.Driver = DriverName{}
		if len(cells) > 0 {
			b.Driver = cells[0].DriverName()
		}
	}
	if !slices.ContainsFunc(cells, func(c Cell) bool { return c.Profile == b.Profile }) {
		b.Profile = ""
	}
	return b
}

// Of returns the place of the baseline of a cell among the cells of its operation; -1
// where it is not there. Its place is the cell's own where the cell is the baseline.
func (b Baseline) Of(c Cell, cells []Cell) int {
	profile := cmp.Or(b.Profile, c.Profile)
	return b.Driver.closest(cells, func(other Cell) bool { return other.Profile == profile && other.Without == "" })
}

// Closest returns the place of the first of the cells that are closest to the driver as
// a baseline: those of the name; those that did not get as far as to say their version;
// those that the name means; where it says nothing but the driver, those of any build.
// It is -1 where there is none.
func (n DriverName) Closest(cells []Cell) int {
	return n.closest(cells, func(Cell) bool { return true })
}

func (n DriverName) closest(cells []Cell, may func(Cell) bool) int {
	for _, close := range []func(Cell) bool{
		func(c Cell) bool { return c.DriverName() == n },
		func(c Cell) bool {
			return c.DriverName().Means(Cell{Driver: n.Name, DriverVersion: n.Version, Options: n.Options})
		},
		n.Means,
		func(c Cell) bool { return n == DriverName{Name: c.Driver} },
	} {
		if i := slices.IndexFunc(cells, func(c Cell) bool { return may(c) && close(c) }); i >= 0 {
			return i
		}
	}
	return -1
}

// NamesOf are the drivers that cases name, each once.
func NamesOf(cases []Case) DriverNames {
	var all DriverNames
	for _, c := range cases {
		if name := c.Cell.DriverName(); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
