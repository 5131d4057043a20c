package assay

import (
	"slices"
	"strings"
)

// DriverName is a driver as plans, flags and reports name it, at a version and with
// compile options where these are said: NAME[@VERSION][:OPTION[=VALUE]]....
// NAME@DRIVER, such as sqlite-c@mattn, is a floor made of another driver's SQLite.
// Equal names are of one build. Whatever compares a name with cells does it here.
type DriverName struct {
	Name    string // of the worker: mattn
	Version string // of the driver's library: v1.14.52; of a floor, also the driver: mattn
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
	return n.Name == c.Driver && n.Options == c.Options && (n.Version == "" || n.Version == c.DriverVersion || n.isFloorOf(c.DriverVersion))
}

// isFloorOf reports whether the version that a floor says of itself ends with the driver
// that the name has: sqlite-c@mattn says 3.53.4+mattn.
func (n DriverName) isFloorOf(version string) bool {
	_, driver, _ := strings.Cut(version, "+")
	return n.Version == driver
}

// MeansBaseline reports whether a cell is of this driver as one that others are compared
// with: a name without version and compile options then stands for any build.
func (n DriverName) MeansBaseline(c Cell) bool {
	return n.Means(c) || n == DriverName{Name: c.Driver}
}

// ParseBaseline takes DRIVER[/PROFILE] apart, as plans and runs name what the others
// are compared with. Without a profile, each profile has its own baseline.
func ParseBaseline(s string) (driver DriverName, profile string) {
	name, profile, _ := strings.Cut(s, "/")
	return ParseDriverName(name), profile
}
