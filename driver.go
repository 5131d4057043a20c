package assay

import (
	"slices"
	"strings"
)

// DriverName is a driver as plans, flags and reports name it, at a version and with
// compile options where these are said: NAME[@VERSION][:OPTION[=VALUE]]....
type DriverName struct {
	Name    string // of the worker: mattn
	Version string // of the driver's library: v1.14.52
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

// Means reports whether a cell that was measured is of this driver: of any version
// where the name says none.
func (n DriverName) Means(c Cell) bool {
	return n.Name == c.Driver && n.Options == c.Options && (n.Version == "" || n.Version == c.DriverVersion)
}

// ParseBaseline takes DRIVER[/PROFILE] apart, as plans and runs name what the others
// are compared with. Without a profile, each profile has its own baseline.
func ParseBaseline(s string) (driver DriverName, profile string) {
	name, profile, _ := strings.Cut(s, "/")
	return ParseDriverName(name), profile
}
