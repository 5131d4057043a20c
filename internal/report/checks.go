package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
)

type extent struct {
	check assay.Check
	words string
}

// extents are the extents of checks, the smallest first, with what each
// compared with the expected answers.
var extents = []extent{
	{assay.CheckRows, "only the number of rows of each operation"},
	{assay.CheckAnswers, "the number of rows of each operation, and the answers of reading operations to one client, at some positions before measuring and at random positions of the measured part after it; over HTTP each answer; what several clients answered at the same time was counted and not compared, except over HTTP"},
	{assay.CheckSample, "the number of rows of each operation; the answers of reading operations at some positions before measuring; after it, all clients ran a random sample of the measured part again at the same time, and each answer of it was compared; of what the timed operations themselves answered, the rows were counted"},
	{assay.CheckKeys, "the number of rows of each operation; in a mix, the answers of its reading operations at some positions before measuring, and of workers that tell what measured clients answer, those behind the block that no change alters; after the block a sample of the keys, of tables the keys of rows: each held a value that was written to it; the newest where one client wrote last, and of several that clients wrote at the same time any"},
	{assay.CheckState, "the number of rows of each operation; in a mix, the answers of its reading operations at some positions before measuring, and of workers that tell what measured clients answer, those behind the block that no change alters; after the block all that the plan's check reads, or the whole store"},
}

// unchecked says of what nothing is known that was compared.
const unchecked = "not compared after it was measured in each launch: the right answers took too long, or an earlier version did not record it"

// addChecks says once how much of the answers was checked, in each launch, and what was not.
// Runs of earlier versions did not record it.
func (r *Report) addChecks(d *doc.Document) {
	type subject struct{ operation, driver string }
	drivers := map[assay.Check]map[string][]string{} // by operation
	extentsOf := map[string]int{}
	late := map[subject]bool{}
	var operations []string
	for row := range r.Rows() {
		if checked, measured := leastCheck(row.Trials); measured && checked == assay.CheckUnknown {
			late[subject{row.Cell.Operation, row.Cell.Driver}] = true
		}
	}
	for row := range r.Rows() {
		name, driver := row.Cell.Operation, row.Cell.Driver
		checked, measured := leastCheck(row.Trials)
		if !measured || late[subject{name, driver}] || slices.Contains(drivers[checked][name], driver) {
			continue
		}
		if drivers[checked] == nil {
			drivers[checked] = map[string][]string{}
		}
		if drivers[checked][name] == nil {
			extentsOf[name]++
		}
		drivers[checked][name] = append(drivers[checked][name], driver)
		if !slices.Contains(operations, name) {
			operations = append(operations, name)
		}
	}
	if len(operations)+len(late) == 0 {
		return
	}
	d.Add(doc.Paragraph, "Answers checked:")
	for _, e := range extents {
		var names []string
		for _, name := range operations {
			switch of := drivers[e.check][name]; {
			case len(of) > 0 && extentsOf[name] > 1:
				names = append(names, fmt.Sprintf("%s (%s)", name, strings.Join(of, ", ")))
			case len(of) > 0:
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			d.Add(doc.Item, "%s: %s", strings.Join(names, ", "), e.words)
		}
	}
	var left []string
	for s := range late {
		left = append(left, fmt.Sprintf("%s (%s)", s.operation, s.driver))
	}
	if slices.Sort(left); len(left) > 0 {
		d.Add(doc.Item, "%s: %s", strings.Join(left, ", "), unchecked)
	}
}

// leastCheck is the smallest extent of those launches that ended well; measured is false where
// none did.
func leastCheck(trials []analysis.Trial) (check assay.Check, measured bool) {
	least := len(extents)
	for _, trial := range trials {
		if trial.Outcome == assay.OK {
			least = min(least, slices.IndexFunc(extents, func(e extent) bool { return e.check == trial.Checked }))
		}
	}
	if least < 0 || least == len(extents) {
		return assay.CheckUnknown, least < 0
	}
	return extents[least].check, true
}

// addConditions shows all that is known of each target with each profile: where
// the compile options and the settings are what a plan is about, a reader wants
// to see them whole.
func (r *Report) addConditions(d *doc.Document) {
	shown := map[[2]string]bool{}
	for row := range r.Rows() {
		key := [2]string{row.Driver, row.Cell.Profile}
		if !readWhole(row) || shown[key] {
			continue
		}
		if len(shown) == 0 {
			d.Add(doc.Heading, "Conditions")
		}
		shown[key] = true
		d.Add(doc.Subheading, "%s (%s)", row.Driver, row.Cell.Profile)
		*d = append(*d, doc.Block{Kind: doc.Table, Grid: r.conditions(row)})
	}
}

// readWhole reports whether everything that a PRAGMA shows was read back, or a
// server's settings were.
func readWhole(r *analysis.Row) bool {
	return slices.ContainsFunc(r.Settings, func(s assay.Setting) bool {
		return s.Name == "application_id" || s.Name == "synchronous_commit"
	})
}

func (r *Report) conditions(row *analysis.Row) *doc.Grid {
	g := &doc.Grid{Header: []string{"condition", "requested", "effective"}, Right: make([]bool, 3)}
	add := func(name, requested, effective string) {
		g.Rows = append(g.Rows, []string{wording.Clean(name), cmp.Or(wording.Clean(requested), "-"), cmp.Or(wording.Clean(effective), "-")})
	}
	for _, t := range r.Run.Targets {
		if t.Name() != row.Cell.Target() || t.Build != row.Cell.Build {
			continue
		}
		add("driver", "", t.Name())
		add(t.Engine, "", t.EngineVersion)
		for _, name := range slices.Sorted(maps.Keys(t.Facts)) {
			add(name, "", t.Facts[name])
		}
		if len(t.CompileOptions) > 0 {
			add("compile options", strings.Join(t.Options, " "), strings.Join(t.CompileOptions, " "))
		}
	}
	for _, s := range analysis.JoinConnections(row.Settings) {
		add(s.Name, wording.Setting(s.Name, s.Requested), wording.Setting(s.Name, s.Effective))
	}
	return g
}
