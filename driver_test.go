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
	}
	for _, c := range []struct {
		name            string
		means, baseline []string // what it means only as a baseline
	}{
		{"mattn", []string{"older", "pinned", "unknown"}, []string{"DQS", "two options"}},
		{"mattn@v1.14.52", []string{"pinned"}, nil},
		{"mattn@v1.14.5", nil, nil}, // no prefix is a version
		{"mattn:DQS=0", []string{"DQS"}, nil},
		{"mattn:USE_ALLOCA:SQLITE_DQS=0", []string{"two options"}, nil}, // in any order, with SQLite's prefix
		{"mattn@v1.14.52:DQS=0", []string{"DQS"}, nil},
		{"mattn@v1.14.51:DQS=0", nil, nil},
		{"modernc", []string{"other"}, nil},
		{"modernc:DQS=0", nil, nil},
		{"mat", nil, nil}, // nor a name
		{"sqlite-c", []string{"floor", "mattn's", "planned"}, []string{"crawshaw's"}},
		{"sqlite-c@3.53.4", []string{"floor"}, nil},
		{"sqlite-c@mattn", []string{"mattn's", "planned"}, nil},
		{"sqlite-c@3.53.4+mattn", []string{"mattn's"}, nil},
		{"sqlite-c@crawshaw", nil, nil},
		{"sqlite-c@crawshaw:DQS=0", []string{"crawshaw's"}, nil},
		{"apsw", []string{"local"}, nil},
		{"apsw@3.50.1", nil, nil},
		{"", nil, nil},
	} {
		name := ParseDriverName(c.name)
		var means, baseline []string
		for _, key := range slices.Sorted(maps.Keys(cells)) {
			switch {
			case name.Means(cells[key]):
				means = append(means, key)
			case name.MeansBaseline(cells[key]):
				baseline = append(baseline, key)
			}
			if name.Means(cells[key]) && !name.MeansBaseline(cells[key]) {
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
		driver, profile := ParseBaseline(text)
		if got := [2]string{driver.String(), profile}; got != want {
			t.Errorf("ParseBaseline(%q): got %q, want %q", text, got, want)
		}
	}
}
