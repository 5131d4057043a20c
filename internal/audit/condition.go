package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/published"
)

// Difference is one from the source's own condition: what fails under it does not refute the
// source.
type Difference struct {
	Name string // version, platform, cores, condition, or a coordinate
	Says string
	// Removable says that a run can be made without it.
	Removable bool
}

func inWords(all []Difference) string {
	var words []string
	for _, d := range all {
		words = append(words, d.Says)
	}
	return strings.Join(words, "; ")
}

const notStated = "not stated"

// differences returns the differences of the cells that are compared, but for those that are shown
// not to matter. There are none where a cell is missing.
func (f *Finding) differences(of cells) []Difference {
	if of.worth() == 0 {
		return nil
	}
	var all []Difference
	add := func(name, format string, args ...any) {
		d := Difference{Name: name, Says: fmt.Sprintf(format, args...)}
		d.Removable = name == "version" && len(f.Claim.Drivers()) > 0
		if f.Claim.Immaterial[name] == "" && !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	for _, words := range slices.Concat(f.Source.Conditions.Differs, f.Claim.Differs) {
		add("condition", "%s", words)
	}
	if f.Claim.Provenance == published.Inferred {
		add("condition", "the condition is not the source's")
	}
	for _, row := range []*analysis.Row{of.a[0], of.b[0]} {
		f.differsIn(row, add)
	}
	f.differsOn(of.report.Run.Host, max(of.a[0].Cell.AllClients(), of.b[0].Cell.AllClients()), add)
	return all
}

// differsIn tells how a cell differs. One client uses one connection of any pool.
func (f *Finding) differsIn(row *analysis.Row, add func(name, format string, args ...any)) {
	own := f.condition()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		is, has := row.Cell.Coordinate(name)
		if has && is != own[name] && !(name == "pool" && row.Cell.Clients == 1) {
			add(name, "%s %s, the source's %s", name, is, own[name])
		}
	}
	if is, own := row.Cell.DriverVersion, f.Source.Versions[row.Cell.Driver]; is != own {
		add("version", "%s %s, the source's %s", row.Cell.Driver, is, orNotStated(own))
	}
}

// condition has the source's values of coordinates.
func (f *Finding) condition() map[string]string {
	own := maps.Clone(f.Source.Conditions.Cell)
	if own == nil {
		own = map[string]string{}
	}
	maps.Copy(own, f.Claim.Conditions)
	return own
}

// differsOn tells how the machine differs. One client has a processor for itself on any machine
// with two.
func (f *Finding) differsOn(host map[string]string, clients int, add func(name, format string, args ...any)) {
	own := f.Source.Conditions
	if host["os"] != own.OS || host["arch"] != own.Arch {
		add("platform", "%s/%s, the source's %s/%s", orNotStated(host["os"]), orNotStated(host["arch"]), orNotStated(own.OS), orNotStated(own.Arch))
	}
	if clients > 1 && host["cores"] != own.Cores {
		add("cores", "cores %s, the source's %s", orNotStated(host["cores"]), orNotStated(own.Cores))
	}
}

// find returns the rows of one side of a comparison: under the source's own condition where the
// runs have that.
func (f *Finding) find(r *analysis.Result, side map[string]string) []*analysis.Row {
	plain := f.Claim.Cell(side)
	versioned := maps.Clone(plain)
	if version := f.Source.Versions[plain["driver"]]; version != "" && !strings.ContainsAny(version, " ") {
		versioned["driver"] += "@" + version
	}
	for _, cell := range []map[string]string{f.under(versioned), f.under(plain), versioned} {
		if rows := find(r, cell); len(rows) == 1 {
			return rows
		}
	}
	return find(r, plain)
}

// under is a cell with the source's values of coordinates that the claim does not choose.
func (f *Finding) under(cell map[string]string) map[string]string {
	own := f.condition()
	maps.Copy(own, cell)
	return own
}

// fewFailures is the share of requests whose failing changes no figure by more than itself: it is
// told beside the figure, which is of the others.
const fewFailures = 0.01

// outcome returns the outcome of a row, but for requests that failed now and then.
func outcome(row *analysis.Row) assay.Outcome {
	if share := failures(row); row.Outcome == assay.Failed && 0 < share && share <= fewFailures {
		return assay.OK
	}
	return row.Outcome
}

// countFew returns the row with the launches in which few requests failed: they have a partner as
// others have.
func countFew(row *analysis.Row) *analysis.Row {
	if outcome(row) == row.Outcome {
		return row
	}
	counted := *row
	counted.Trials = slices.Clone(row.Trials)
	for i := range counted.Trials {
		if t := &counted.Trials[i]; t.Outcome == assay.Failed {
			t.Outcome = assay.OK
		}
	}
	return &counted
}

// failures is the share of the row's requests that failed; 0 where it made none, or where a
// launch has no figures.
func failures(row *analysis.Row) float64 {
	figures := row.PerLaunch(assay.FailedOp)
	if len(figures) == 0 || len(row.Figures) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range figures {
		sum += v
	}
	return sum / float64(len(figures))
}
