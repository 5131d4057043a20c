package analysis

import (
	"testing"

	"assay"

	"github.com/google/go-cmp/cmp"
)

// What can explain a ratio between drivers of several languages: that clients take
// turns is told, and what only drivers of one language report is no difference.
func TestDifferencesOfLanguages(t *testing.T) {
	targets := []assay.Target{
		{Driver: "mattn", DriverVersion: "v1", Build: "a", Engine: "sqlite", EngineVersion: "3.1", Facts: map[string]string{"api": "database/sql", "cgo": "true", "go": "go1"}},
		{Driver: "modernc", DriverVersion: "v1", Build: "b", Engine: "sqlite", EngineVersion: "3.1", Facts: map[string]string{"api": "database/sql", "cgo": "false", "go": "go1"}},
		{Driver: "node", DriverVersion: "v1", Build: "c", Engine: "sqlite", EngineVersion: "3.1", Facts: map[string]string{"api": "node:sqlite", "clients": "take turns"}},
	}
	api := Difference{"engine", "api", []Holders{{"database/sql", []string{"mattn"}}, {"node:sqlite", []string{"node"}}}}
	turns := Difference{"engine", "clients", []Holders{{"take turns", []string{"node"}}}}
	cgo := Difference{"engine", "cgo", []Holders{{"false", []string{"modernc"}}, {"true", []string{"mattn"}}}}
	for name, c := range map[string]struct {
		of   []assay.Target
		want []Difference
	}{
		"Go and Node.js": {[]assay.Target{targets[0], targets[2]}, []Difference{api, turns}},
		"Go alone":       {targets[:2], []Difference{cgo}},
	} {
		var rows []*Row
		var cells []*cell
		for _, target := range c.of {
			m := Measured{Cell: assay.Cell{Driver: target.Driver, DriverVersion: target.DriverVersion, Build: target.Build, Engine: "sqlite"}}
			rows, cells = append(rows, &Row{Driver: target.Driver, Measured: m}), append(cells, &cell{Measured: m})
		}
		if diff := cmp.Diff(c.want, (&Table{Rows: rows}).explain(targets, newNaming(targets, cells))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
