package lab

import (
	"slices"
	"testing"

	"assay"
)

// What is measured without each setting is the best build, not another one of its driver.
func TestWithoutEach(t *testing.T) {
	profile := assay.Profile{Name: "web", Settings: map[string]string{"synchronous": "normal", "cache_size": "-4096"}}
	var cases []assay.Case
	for _, name := range []string{"mattn", "mattn:DQS=0", "mattn@v1.14.50", "modernc"} {
		driver := assay.ParseDriverName(name)
		cases = append(cases, assay.Case{Profile: profile,
			Cell: assay.Cell{Driver: driver.Name, DriverVersion: driver.Version, Options: driver.Options, Profile: profile.Name}})
	}
	for build, want := range map[string][]string{
		"v1.14.50":       {"mattn@v1.14.50 without ", "mattn@v1.14.50 without cache_size", "mattn@v1.14.50 without synchronous"},
		"v1.14.52":       {"mattn without ", "mattn without cache_size", "mattn without synchronous"},
		"v1.14.52:DQS=0": {"mattn:DQS=0 without ", "mattn:DQS=0 without cache_size", "mattn:DQS=0 without synchronous"},
	} {
		name := assay.ParseDriverName("mattn@" + build)
		best := assay.Cell{Engine: "sqlite", Driver: name.Name, DriverVersion: name.Version, Options: name.Options, Profile: profile.Name}
		var got []string
		for _, c := range withoutEach(cases, best) {
			got = append(got, c.Cell.Target()+" without "+c.Cell.Without)
		}
		if !slices.Equal(got, want) {
			t.Errorf("best is %s: got %q, want %q", best.Target(), got, want)
		}
	}
}

// A profile of which no setting can be left out has no ablation: those of the file make
// another one.
func TestWithoutEachOfTheFile(t *testing.T) {
	settings := map[string]string{"page_size": "8192"}
	c := assay.Case{Cell: assay.Cell{Driver: "mattn", Profile: "pages"}, Profile: assay.Profile{Name: "pages", Settings: settings}}
	c.Dataset.FileSettings = settings
	best := assay.Cell{Engine: "sqlite", Driver: "mattn", DriverVersion: "v1.14.52", Profile: "pages"}
	if got := withoutEach([]assay.Case{c}, best); len(got) > 0 {
		t.Errorf("got %d cases, want none", len(got))
	}
}

// A trial of a floor is of the case whose driver's SQLite the floor is made of.
func TestTrialOfAFloor(t *testing.T) {
	trial := assay.Trial{Cell: assay.Cell{Driver: "sqlite-c", DriverVersion: "3.53.4+mattn", Profile: "web"}}
	for name, want := range map[string]bool{"sqlite-c@mattn": true, "sqlite-c@crawshaw": false, "mattn": false} {
		driver := assay.ParseDriverName(name)
		c := assay.Case{Cell: assay.Cell{Driver: driver.Name, DriverVersion: driver.Version, Options: driver.Options, Profile: "web"}}
		r := &run{chosen: selection{names: assay.NamesOf([]assay.Case{c})}}
		if got := r.of(trial, c); got != want {
			t.Errorf("%s: got %t, want %t", name, got, want)
		}
	}
}
