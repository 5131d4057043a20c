package assay

import (
	"maps"
	"slices"
	"testing"
)

func TestDriverName(t *testing.T) {
	for text, want := range map[string]DriverName{
		"mattn":                                {Name: "mattn"},
		"mattn@v1.14.52":                       {Name: "mattn", Version: "v1.14.52"},
		"sqlite-c@mattn":                       {Name: "sqlite-c", Version: "mattn"},
		"sqlite-c@mattn:DQS=0":                 {Name: "sqlite-c", Version: "mattn", Options: "DQS=0"},
		"mattn:DQS=0":                          {Name: "mattn", Options: "DQS=0"},
		"mattn@v1.14.52:DQS=0:OMIT_DEPRECATED": {Name: "mattn", Version: "v1.14.52", Options: "DQS=0:OMIT_DEPRECATED"},
	} {
		got := ParseDriverName(text)
		if got != want {
			t.Errorf("ParseDriverName(%q): got %+v, want %+v", text, got, want)
		}
		if got.String() != text {
			t.Errorf("%+v: got %q, want %q", got, got.String(), text)
		}
	}
	const text, want = "mattn:USE_ALLOCA:SQLITE_DQS=0", "mattn:DQS=0:USE_ALLOCA"
	if got := ParseDriverName(text).String(); got != want {
		t.Errorf("ParseDriverName(%q): got %q, want %q", text, got, want)
	}
}

// Every form of a driver's name, against every build that it could be of.
func TestDriverNameMeans(t *testing.T) {
	cells := map[string]Cell{
		"pinned":      {Driver: "mattn", DriverVersion: "v1.14.52"},
		"older":       {Driver: "mattn", DriverVersion: "v1.14.51"},
		"DQS":         {Driver: "mattn", DriverVersion: "v1.14.52", Options: "DQS=0"},
		"two options": {Driver: "mattn", DriverVersion: "v1.14.52", Options: "DQS=0:USE_ALLOCA"},
		"other":       {Driver: "modernc", DriverVersion: "v1.14.52"},
		"unknown":     {Driver: "mattn"}, // it never opened: its version is not known
		"floor":       {Driver: "sqlite-c", DriverVersion: "3.53.4"},
		"mattn's":     {Driver: "sqlite-c", DriverVersion: "3.53.4+mattn"},
		"crawshaw's":  {Driver: "sqlite-c", DriverVersion: "3.32.3+crawshaw", Options: "DQS=0"},
		"planned":     {Driver: "sqlite-c", DriverVersion: "mattn"}, // as a plan names it
		"local":       {Driver: "apsw", DriverVersion: "3.50.1+local"},
		"four":        {Driver: "apsw", DriverVersion: "3.46.0.0"},
	}
	for _, c := range []struct {
		name            string
		means, baseline []string // what it means only as a baseline
	}{
		{"mattn", []string{"older", "pinned", "unknown"}, []string{"DQS", "two options"}},
		{"mattn@v1.14.52", []string{"pinned"}, []string{"unknown"}},
		{"mattn@v1.14.5", nil, []string{"unknown"}}, // no prefix is a version
		{"mattn:DQS=0", []string{"DQS"}, nil},
		{"mattn:USE_ALLOCA:SQLITE_DQS=0", []string{"two options"}, nil}, // in any order, with SQLite's prefix
		{"mattn@v1.14.52:DQS=0", []string{"DQS"}, nil},
		{"mattn@v1.14.51:DQS=0", nil, nil},
		{"modernc", []string{"other"}, nil},
		{"modernc:DQS=0", nil, nil},
		{"mat", nil, nil}, // nor a name
		{"apsw@3.46.0", []string{"four"}, nil},
		{"apsw@3.46", []string{"four"}, nil},
		{"apsw@3.4", nil, nil},
		{"apsw@3.46.0.1", nil, nil},
		{"sqlite-c", []string{"floor", "mattn's", "planned"}, []string{"crawshaw's"}},
		{"sqlite-c@3.53.4", []string{"floor"}, nil},
		{"sqlite-c@mattn", []string{"mattn's", "planned"}, nil},
		{"sqlite-c@3.53.4+mattn", []string{"mattn's"}, []string{"planned"}},
		{"sqlite-c@crawshaw", nil, nil},
		{"sqlite-c@crawshaw:DQS=0", []string{"crawshaw's"}, nil},
		{"apsw", []string{"four", "local"}, nil},
		{"apsw@3.50.1", nil, nil},
		{"", nil, nil},
	} {
		name := ParseDriverName(c.name)
		var means, baseline []string
		for _, key := range slices.Sorted(maps.Keys(cells)) {
			switch {
			case name.Means(cells[key]):
				means = append(means, key)
			case name.Closest([]Cell{cells[key]}) == 0:
				baseline = append(baseline, key)
			}
			if name.Means(cells[key]) && name.Closest([]Cell{cells[key]}) < 0 {
				t.Errorf("%s means %s, but not as a baseline", c.name, key)
			}
		}
		slices.Sort(c.means)
		if !slices.Equal(means, c.means) || !slices.Equal(baseline, c.baseline) {
			t.Errorf("%s: got %q, as a baseline also %q; want %q and %q", c.name, means, baseline, c.means, c.baseline)
		}
	}
}

func TestParseBaseline(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                     {"", ""},
		"mattn":                {"mattn", ""},
		"mattn@v1.14.52/web":   {"mattn@v1.14.52", "web"},
		"mattn:DQS=0/as-meant": {"mattn:DQS=0", "as-meant"},
	} {
		b := ParseBaseline(text)
		if got := [2]string{b.Driver.String(), b.Profile}; got != want || b.String() != text {
			t.Errorf("ParseBaseline(%q): got %q, in writing %q; want %q", text, got, b, want)
		}
	}
}

// builds are cells of one operation: two versions of a driver, two builds of one version,
// and another driver, with two profiles.
func builds() []Cell {
	var all []Cell
	for _, profile := range []string{"p", "q"} {
		for _, name := range []string{"mattn@v1.14.37", "mattn@v1.14.52:DQS=0", "mattn@v1.14.52", "modernc@v1.61.1"} {
			n := ParseDriverName(name)
			all = append(all, Cell{Driver: n.Name, DriverVersion: n.Version, Options: n.Options, Profile: profile})
		}
	}
	return all
}

// A baseline is one cell, whichever builds stand beside it.
func TestBaselineOf(t *testing.T) {
	cells := builds()
	unopened := append(slices.Clone(cells[:2]), Cell{Driver: "mattn", Profile: "p"}) // it did not say its version
	without := slices.Clone(cells[2:])
	without[0].Without = "cache_size"
	for _, c := range []struct {
		baseline string
		profile  string
		cells    []Cell
		want     int
	}{
		{"mattn@v1.14.52", "p", cells, 2},
		{"mattn@v1.14.37", "q", cells, 4},
		{"mattn@v1.14.52:DQS=0", "q", cells, 5},
		{"mattn@v1.14.52/q", "p", cells, 6},
		{"mattn@v1.14.40", "p", cells, -1},
		{"mattn", "p", cells[1:], 1},         // the driver's own build before one with options
		{"mattn", "p", cells[1:2], 0},        // that where there is no other
		{"mattn@v1.14.52", "p", unopened, 2}, // and not the older version
		{"mattn@v1.14.52", "p", without, -1},
		{"mattn", "r", cells, -1},
	} {
		if got := ParseBaseline(c.baseline).Of(Cell{Driver: "modernc", Profile: c.profile}, c.cells); got != c.want {
			t.Errorf("%s of a cell with profile %s: got %d, want %d", c.baseline, c.profile, got, c.want)
		}
	}
}

// A baseline that is not measured gives way.
func TestBaselineWithin(t *testing.T) {
	for text, want := range map[string]string{"modernc/q": "modernc/q", "modernc/r": "modernc", "zombiezen/q": "mattn@v1.14.37/q", "mattn": "mattn", "": "mattn@v1.14.37"} {
		if got := ParseBaseline(text).Within(builds()).String(); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	if got := ParseBaseline("mattn/p").Within(nil); got != (Baseline{}) {
		t.Errorf("without cells: got %+v, want none", got)
	}
}

// Where a plan names a version of a driver beside the driver, the driver's name means the
// version that its worker has by itself.
func TestDriverNames(t *testing.T) {
	cells := builds()[:4]
	for _, c := range []struct{ names, of, selected []string }{
		{[]string{"mattn", "mattn@v1.14.37", "mattn:DQS=0", "modernc"}, []string{"mattn@v1.14.37", "mattn:DQS=0", "mattn", "modernc"}, []string{"mattn:DQS=0", "mattn"}},
		{[]string{"mattn@v1.14.37", "mattn"}, []string{"mattn@v1.14.37", "mattn@v1.14.52:DQS=0", "mattn", "modernc@v1.61.1"}, []string{"mattn@v1.14.52:DQS=0", "mattn"}},
		{[]string{"mattn@v1.14.37", "mattn@v1.14.52"}, []string{"mattn@v1.14.37", "mattn@v1.14.52:DQS=0", "mattn@v1.14.52", "modernc@v1.61.1"},
			[]string{"mattn@v1.14.37", "mattn@v1.14.52:DQS=0", "mattn@v1.14.52"}},
	} {
		names := ParseDriverNames(c.names)
		var of, selected []string
		for _, cell := range cells {
			of = append(of, names.Of(cell).String())
			if names.Select(ParseDriverName("mattn"), cell) {
				selected = append(selected, of[len(of)-1])
			}
		}
		if !slices.Equal(of, c.of) || !slices.Equal(selected, c.selected) {
			t.Errorf("%q: got the names %q, and of mattn %q; want %q and %q", c.names, of, selected, c.of, c.selected)
		}
	}
	names := ParseDriverNames([]string{"mattn", "mattn@v1.14.37"})
	for name, want := range map[string]bool{"mattn@v1.14.37": true, "mattn@v1.14.52": false, "mattn:DQS=0": false, "modernc": false} {
		if got := names.Select(ParseDriverName(name), cells[0]); got != want {
			t.Errorf("%s selects %s: got %t, want %t", name, cells[0].Target(), got, want)
		}
	}
}
