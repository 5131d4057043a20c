package build

import (
	"assay"
	"fmt"
	"regexp"
	"strings"

	"assay/kit/sqlite"
)

// Spec names a build of a worker. Written, it is
// NAME[@VERSION][:OPTION[=VALUE]]..., such as mattn@v1.14.37:DQS=0.
type Spec struct {
	Name string
	// Version is the version of the driver, v1.14.37 or 3.46.0, instead of the one that
	// the worker's go.mod or lock file pins; or the name of another driver, of whose
	// SQLite the worker is made: for a worker in C one written with cgo, for one in
	// Go one whose module the driver requires. Mostly empty.
	Version string
	// Options are SQLite's compile options, without SQLITE_ in front: DQS=0,
	// OMIT_SHARED_CACHE, or sqlite.Recommended. Sorted, each name once.
	Options []string
}

// String returns what ParseSpec reads.
func (s Spec) String() string {
	return assay.DriverName{Name: s.Name, Version: s.Version, Options: strings.Join(s.Options, ":")}.String()
}

// SpecError means that there is no build of a spec, whatever the machine: its
// version or its options are not to be had.
type SpecError struct{ Err error }

func (e *SpecError) Error() string { return e.Err.Error() }
func (e *SpecError) Unwrap() error { return e.Err }

var (
	namePattern    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	versionPattern = regexp.MustCompile(`^v[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,20}(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$`)
	plainPattern   = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,20}){1,4}([.+-]?[0-9A-Za-z][0-9A-Za-z.+-]{0,63})?$`) // of an ecosystem without the v
	optionPattern  = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}(=-?[A-Za-z0-9_.]{1,64})?$`)
)

// ParseSpec reads a build's name. A version is a whole one, such as v1.14.37:
// "latest" or v1 would mean another program tomorrow.
func ParseSpec(s string) (Spec, error) {
	n := assay.ParseDriverName(s)
	if !namePattern.MatchString(n.Name) {
		return Spec{}, fmt.Errorf("driver %q: want NAME[@VERSION][:OPTION[=VALUE]...], a name of letters, digits, - and _", s)
	}
	target, _, optional := strings.Cut(s, ":")
	versioned := strings.Contains(target, "@")
	if versioned && !isVersion(n.Version) && (!namePattern.MatchString(n.Version) || floating.MatchString(n.Version)) {
		return Spec{}, fmt.Errorf("driver %q: want a full version, such as %s@v1.2.3 or %s@1.2.3", s, n.Name, n.Name)
	}
	var options []string
	if optional {
		options = strings.Split(n.Options, ":")
	}
	if err := checkOptions(options); err != nil {
		return Spec{}, fmt.Errorf("driver %q: %w", s, err)
	}
	return Spec{n.Name, n.Version, options}, nil
}

// floating matches what is no whole version, and would be read as a driver's name.
var floating = regexp.MustCompile(`^(latest$|v?[0-9])`)

func isVersion(text string) bool {
	return versionPattern.MatchString(text) || plainPattern.MatchString(text)
}

func checkOptions(options []string) error {
	names := map[string]bool{}
	for _, option := range options {
		if option != sqlite.Recommended && !optionPattern.MatchString(option) {
			return fmt.Errorf("compile option %q: want a name such as DQS=0 or OMIT_SHARED_CACHE, or "+sqlite.Recommended, option)
		}
		name, _, _ := strings.Cut(option, "=")
		if names[name] {
			return fmt.Errorf("compile option %s is given twice", name)
		}
		names[name] = true
	}
	for _, option := range sqlite.CompileOptions([]string{sqlite.Recommended}) {
		if name, _, _ := strings.Cut(option, "="); names[sqlite.Recommended] && names[name] {
			return fmt.Errorf("compile option %s is given twice: %s has it", name, sqlite.Recommended)
		}
	}
	return nil
}

// defines are the options as a C compiler takes them.
func (s Spec) defines() []string {
	var flags []string
	for _, option := range sqlite.CompileOptions(s.Options) {
		flags = append(flags, "-DSQLITE_"+option)
	}
	return flags
}
