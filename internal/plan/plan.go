// Package plan decodes and validates plans and expands them to cells. A plan
// is the YAML in which users say what to measure; docs/plan-format.md is its
// contract.
//
// Decode reads a plan and reports all of its mistakes at once, each with
// file, line, column and, where one is close, a suggestion. Expand turns it
// into cases: every combination of target, profile, workload, operation and
// the other axes, with params and references resolved.
//
// The way through the package: yaml.go reads YAML, schema.go holds it against schema.yaml,
// and format.go has the structs that it is decoded into; document.go and check.go
// check what can be said without values of params; params.go, query.go,
// dataset.go and operation.go resolve one point of the params; expand.go and
// cases.go go through all points.
package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"assay"
)

// Plan is a decoded and valid plan.
type Plan struct {
	Name      string
	About     string
	Text      string // the YAML as it was read
	Seed      uint64
	Budget    time.Duration  // of measuring; zero: as long as it takes
	Precision float64        // target half-width of the confidence intervals of ratios, as a fraction
	Margin    float64        // of equivalence, as a fraction
	Launches  int            // at least, of every cell
	Timeout   time.Duration  // of one block or window
	Factors   bool           // afterwards, leave out the best profile's settings one at a time
	Drivers   []string       // NAME or NAME@VERSION
	Baseline  assay.Baseline // without a driver, the first is it
	Clients   []int
	Processes []int // worker processes that share the database, each with the clients
	Pools     []Pool
	Begins    []assay.Begin   // of transactions that change data; none: as by default
	Profiles  []assay.Profile // in the order of the file; the first is the twin's
	Workloads []Workload

	file   string // that the text was read from; a workload's file is relative to it
	replay bool   // what it recorded is done again
	// prepared has the settings of the file that a profile's key file gives, by
	// the profile's name.
	prepared map[string]map[string]string
	// drivers holds the drivers that a profile is for, by its name; a profile that is
	// not in it is for all.
	drivers map[string][]string
	// from is the profile whose operations and counts all profiles have; empty: each
	// has its own.
	from string
	// scale is by how much this plan's data and clients are those of another.
	scale Scale
	// uses are how the cells of a profile use their driver, by its name, where that is
	// not as the plan says.
	uses map[string]assay.Use
}

// Pool is a point of the pool axis. Zero Open means as many as clients;
// zero Idle means as many as Open.
type Pool struct{ Open, Idle int }

// Axis is a named axis with its values in the order of the file.
type Axis struct {
	Name   string
	Values []string
	quoted []string // those that are texts, also where they look like numbers
}

// Workload is a schema with data and the operations on it, with params
// unresolved.
type Workload struct {
	Name   string
	Params []Axis

	spec       *workload
	operations *dict[operation]
}

// Profile returns a profile by its name, with the settings that its file has
// before it is opened.
func (p *Plan) Profile(name string) (profile assay.Profile, file map[string]string, err error) {
	for _, profile := range p.Profiles {
		if profile.Name == name {
			return profile, fileSettings(profile, p.prepared[name]), nil
		}
	}
	return assay.Profile{}, nil, Unknown("profile", name, profileNames(p.Profiles))
}

// WithProfiles is the plan under another name and with another seed, with other
// profiles for all of its operations that the profile from is for. Counts that the
// plan gives by profile, and what is applied while the file is prepared, are those of
// the profile from. The text is the plan's own with a comment that lists the
// profiles: it can still be decoded, to the plan that it was made of. All are compared
// with the first.
func (p *Plan) WithProfiles(name, from string, profiles []assay.Profile, seed uint64) *Plan {
	other := *p
	other.Name, other.Seed, other.Profiles, other.Factors = name, seed, profiles, false
	other.drivers, other.Baseline.Profile, other.from = nil, profiles[0].Name, from
	other.prepared = map[string]map[string]string{}
	for _, profile := range profiles {
		other.prepared[profile.Name] = p.prepared[from]
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n%s\n", strings.TrimRight(p.Text, "\n"), assay.StageLine(name, seed))
	for _, profile := range profiles {
		fmt.Fprintf(&text, "#   %s:", profile.Name)
		for _, setting := range slices.Sorted(maps.Keys(profile.Settings)) {
			fmt.Fprintf(&text, " %s=%s", setting, profile.Settings[setting])
		}
		for _, statement := range profile.Prepare {
			fmt.Fprintf(&text, " %q;", statement)
		}
		fmt.Fprintln(&text)
	}
	other.Text = text.String()
	return &other
}

// Using is the plan with other uses of the driver, by profile.
func (p *Plan) Using(uses map[string]assay.Use) *Plan {
	other := *p
	other.uses = uses
	for _, profile := range slices.Sorted(maps.Keys(uses)) {
		other.Text += fmt.Sprintf("#   %s: %s\n", profile, uses[profile])
	}
	return &other
}

// Decode reads a plan; file is its name, for messages and for paths relative
// to it. The error is Errors, with all mistakes of the plan.
func Decode(file string, data []byte) (*Plan, error) {
	return decode(&Plan{Text: string(data), file: file})
}

// DecodeReplay reads a plan whose recording is done again, or of which only profiles are used:
// that needs no arguments, so that those which are still to be written are no mistakes, but NULL.
func DecodeReplay(file string, data []byte) (*Plan, error) {
	return decode(&Plan{Text: string(data), file: file, replay: true})
}

func decode(p *Plan) (*Plan, error) {
	m := p.mistakes()
	if d := m.document([]byte(p.Text)); d != nil {
		p.fill(m, d)
		if p.bounded(m) {
			p.meet(m) // Expand meets no mistake that is not reported here
		}
	}
	if err := m.err(); err != nil {
		return nil, err
	}
	return p, nil
}
