package assay

import "testing"

func TestDriverName(t *testing.T) {
	for text, want := range map[string]DriverName{
		"mattn":                                {Name: "mattn"},
		"mattn@v1.14.52":                       {Name: "mattn", Version: "v1.14.52"},
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

func TestDriverNameMeans(t *testing.T) {
	cell := Cell{Driver: "mattn", DriverVersion: "v1.14.52", Options: "DQS=0"}
	for text, want := range map[string]bool{
		"mattn:DQS=0":          true,
		"mattn@v1.14.52:DQS=0": true,
		"mattn@v1.14.51:DQS=0": false,
		"mattn@v1.14.52":       false, // another build: the options are the driver's own
		"modernc:DQS=0":        false,
	} {
		if got := ParseDriverName(text).Means(cell); got != want {
			t.Errorf("%s means %s: got %v, want %v", text, cell.Target(), got, want)
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
