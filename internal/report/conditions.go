package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
)

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
