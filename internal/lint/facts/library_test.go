package facts

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Truths that are known from elsewhere: the release notes of Rails, of the gem
// sqlite3 and of Django, and SQLAlchemy's documentation.
func TestKnownTruthOfLibraries(t *testing.T) {
	for _, c := range []struct {
		library, version, driver, option string
		want                             Effect
	}{
		{ActiveRecord, "6.1.7.10", "1.4.2", "retries", Ignored},
		{ActiveRecord, "7.1.6", "1.7.3", "retries", Applied},
		{ActiveRecord, "7.1.6", "1.7.3", "pragmas.cache_size", Ignored},
		{ActiveRecord, "7.2.3.2", "2.7.4", "pragmas.cache_size", Applied},
		{ActiveRecord, "7.1.6", "1.4.2", "default_transaction_mode", Ignored},
		{ActiveRecord, "7.1.6", "1.7.3", "default_transaction_mode", Applied},
		{ActiveRecord, "7.1.6", "1.7.3", "journal_mode", Ignored},
		{SQLAlchemy, "2.0.41", "", "url.timeout", Applied},
		{SQLAlchemy, "2.0.41", "", "url._journal_mode", Ignored},
		{SQLAlchemy, "2.0.41", "", "url.mode", Ignored},
		{SQLAlchemy, "2.0.41", "", "uri.mode", Applied},
		{Django, "5.0.14", "", "OPTIONS.init_command", Fails},
		{Django, "5.1", "", "OPTIONS.init_command", Applied},
		{Django, "5.0.14", "", "OPTIONS.transaction_mode", Fails},
		{Django, "5.1", "", "OPTIONS.transaction_mode", Applied},
		{Django, "4.2", "", "OPTIONS.timeout", Applied},
		{Django, "4.2", "", "timeout", Ignored},
		{Django, "4.2", "", "CONN_MAX_AGE", Applied},
		{Django, "4.2", "", "NAME.mode", Literal},
		{Django, "4.2", "", "OPTIONS.charset", Fails},
		{Django, "4.2", "", "NAME:file.mode", Applied},
	} {
		judges := load(t, "").Judges(c.library, c.version, c.driver)
		if len(judges) != 1 {
			t.Errorf("%s@%s+%s has %d facts, want 1", c.library, c.version, c.driver, len(judges))
			continue
		}
		place, key, nested := strings.Cut(c.option, ".")
		if !nested {
			place, key = "", c.option
		}
		o, tried := Find(c.library, place, key)
		if got, _ := judges[0].Effect(o); !tried || got != c.want {
			t.Errorf("%s %s: got %q, want %q", judges[0].At().String(), c.option, got, c.want)
		}
	}
}

func TestJudges(t *testing.T) {
	var all Table
	for _, v := range []struct{ version, driver string }{{"7.0", "1.4"}, {"7.0", "1.7"}, {"7.10", "1.4"}, {"7.10", "2.0"}} {
		all.Add(Facts{Common: Common{Driver: ActiveRecord, Version: v.version, Beneath: v.driver}})
	}
	all.Add(Facts{Common: Common{Driver: "none", Version: "5.1"}})
	for _, c := range []struct{ name, version, driver, want string }{
		{ActiveRecord, "7.0", "1.4", "7.0+1.4"},
		{ActiveRecord, "7.0.0", "1.4.0", "7.0+1.4"},
		{ActiveRecord, "7.0", "1.5", "7.0+1.4 7.0+1.7"},
		{ActiveRecord, "7.2", "1.5", "7.0+1.4 7.0+1.7 7.10+1.4 7.10+2.0"},
		{ActiveRecord, "7.2", "2.0", ""},
		{ActiveRecord, "7.0", "", ""},
		{ActiveRecord, "6.9", "1.4", ""},
		{ActiveRecord, "7.11", "1.4", ""},
		{ActiveRecord, "7.2.0.rc1", "1.4", ""},
		{"none", "5.1.0", "", "5.1+"},
		{"none", "5.2", "", ""},
		{"nobody", "5.2", "", ""},
	} {
		var got []string
		for _, l := range all.Judges(c.name, c.version, c.driver) {
			got = append(got, l.Version+"+"+l.Beneath)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %s %s: got %v, want %s", c.name, c.version, c.driver, got, c.want)
		}
	}
}

// The probe takes a PRAGMA of an address with its value where facts have none.
func TestOptionWithAValue(t *testing.T) {
	for key, want := range map[string]written{
		"timeout": {InURL, "timeout", 5}, "_pragma=cache_size()": {InURL, "_pragma", "cache_size(5)"}, "_pragma=cache_size=": {InURL, "_pragma", "cache_size=5"},
	} {
		if diff := cmp.Diff(want, Option{Place: InURL, Key: key}.with(5)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", key, diff)
		}
	}
}

func TestMisspellings(t *testing.T) {
	all := Misspellings("time_out")
	for _, want := range []string{"timeout", "time-out", "time_outs", "tme_out", "tiime_out", "itme_out", "tim_e_out", "time_ou"} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is not in %v", want, all)
		}
	}
	for _, not := range []string{"time_out", "", "pool"} {
		if slices.Contains(all, not) {
			t.Errorf("%q is in %v", not, all)
		}
	}
}

// What was saved of a release that the program lacks comes back as it was.
func TestSavedLibrary(t *testing.T) {
	folder := t.TempDir()
	want := Facts{Common: Common{Driver: ActiveRecord, Version: "7.1.999", Beneath: "1.7.3", Engine: "3", On: "here",
		Defaults: map[string]string{"begin": "deferred"}, Effects: map[Effect][]string{Applied: {"timeout"}}, Misspelled: []string{"timeout"}}}
	if _, err := Save(folder, want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Facts{want}, load(t, folder).Judges(ActiveRecord, "7.1.999", "1.7.3")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

const actAsProbe = "ASSAY_TEST_ACTS_AS_PROBE"

// TestProbe is the program of TestMeasureLibrary, too: a library that honours
// timeout and pragmas.cache_size, and refuses retries.
func TestProbe(t *testing.T) {
	if os.Getenv(actAsProbe) == "" {
		t.Skip("a program of other tests")
	}
	var request struct{ Trials []trial }
	must(t, json.NewDecoder(os.Stdin).Decode(&request))
	fmt.Println(`{"version": "7.1.6", "engine": "3.40.1", "beside": {"ruby": "3.1", "sqlite3": "1.7.3"}}`)
	for _, trial := range request.Trials {
		connection := map[string]string{}
		for _, name := range trial.Observe {
			connection[name] = "0"
		}
		a := answer{Connections: []map[string]string{connection, connection}}
		for _, s := range trial.Settings {
			switch s.Place + "." + s.Key {
			case ".timeout":
				connection[Waits] = "1"
			case "pragmas.cache_size", "pragma.cache_size":
				connection["cache_size"] = fmt.Sprint(s.Value)
			case ".retries":
				a = answer{Refused: "no retries"}
			case ".read_only":
				a = answer{Refused: "not writable"}
			case "variables.busy_timeout": // of one connection only
				a.Connections[1] = map[string]string{Waits: "1"}
			}
		}
		must(t, json.NewEncoder(os.Stdout).Encode(a))
	}
	os.Exit(0)
}

func TestMeasureLibrary(t *testing.T) {
	t.Setenv(actAsProbe, "1")
	program, err := os.Executable()
	must(t, err)
	p := &probe{name: ActiveRecord, folder: t.TempDir(), command: []string{program, "-test.run=^TestProbe$"}}
	l, err := p.measure(t.Context())
	must(t, err)
	if l.At().String() != "activerecord@7.1.6+1.7.3" || !strings.HasSuffix(l.On, " ruby 3.1") || l.Defaults[Waits] != "0" {
		t.Errorf("got %s on %s with %v", l.At().String(), l.On, l.Defaults)
	}
	if want := []string{"pragmas.cache_size", "timeout"}; !slices.Equal(l.Effects[Applied], want) {
		t.Errorf("got %v applied, want %v", l.Effects[Applied], want)
	}
	if want := []string{"retries"}; !slices.Equal(l.Effects[Fails], want) {
		t.Errorf("got %v failing, want %v", l.Effects[Fails], want)
	}
	for option, want := range map[string]bool{"cache_size": true, "read_only": false, "variables.busy_timeout": false} {
		if got := slices.Contains(l.Effects[Ignored], option); got != want {
			t.Errorf("%s ignored: got %v, want %v", option, got, want)
		}
	}
	// pragma.cache_size takes effect: nothing can be said of misspellings.
	if want := []string{"timeout"}; !slices.Equal(l.Misspelled, want) {
		t.Errorf("got %v, want %v", l.Misspelled, want)
	}
	if o, effect, there := l.Meant("", "time_out"); !there || o.Key != "timeout" || effect != Ignored {
		t.Errorf("got %v %s %v, want timeout, which is ignored", o, effect, there)
	}
	if _, _, there := l.Meant("pragma", "cache_size"); there {
		t.Error("pragma.cache_size is taken for a misspelling")
	}
}

// What becomes of misspellings says what lint may say of them.
func TestNoteMisspelled(t *testing.T) {
	for name, c := range map[string]struct {
		keys, places             set
		ignored, place, refusing bool
	}{
		"ignored":                    {set{Ignored: true}, set{}, true, false, false},
		"key and place":              {set{Ignored: true}, set{Ignored: true}, true, false, false},
		"the place only":             {set{Ignored: true, Applied: true}, set{Ignored: true}, false, true, false},
		"refused, and ignored there": {set{Fails: true}, set{Ignored: true}, false, true, true},
		"some are refused":           {set{Fails: true, Ignored: true}, set{}, false, false, false},
		"nothing is known":           {set{Ignored: true, "": true}, set{"": true}, false, false, false},
	} {
		l := Facts{Common: Common{Driver: Django}}
		l.noteMisspelled("OPTIONS.timeout", c.keys, c.places)
		if got := [3]bool{len(l.Misspelled) == 1, len(l.MisspelledPlaces) == 1, len(l.MisspelledFails) == 1}; got != [3]bool{c.ignored, c.place, c.refusing} {
			t.Errorf("%s: got %v, want %v %v %v", name, got, c.ignored, c.place, c.refusing)
		}
		_, key, _ := l.Meant("OPTIONS", "time_out")
		_, place, _ := l.Meant("OPTION", "timeout")
		wantKey, wantPlace := Effect(""), Effect("")
		if c.refusing {
			wantKey = Fails
		}
		if c.ignored {
			wantKey = Ignored
		}
		if c.ignored || c.place {
			wantPlace = Ignored
		}
		if key != wantKey || place != wantPlace {
			t.Errorf("%s: got %q for a misspelled key and %q for a misspelled place, want %q and %q", name, key, place, wantKey, wantPlace)
		}
	}
}

func TestNoLibrary(t *testing.T) {
	for _, asked := range [][]string{{Django, "main", ""}, {ActiveRecord, "7.1.6", "main"}} {
		_, err := MeasureLibrary(t.Context(), asked[0], asked[1], asked[2], t.TempDir())
		if !errors.Is(err, ErrNoRelease) || !strings.Contains(err.Error(), `"main" is not the version of a release`) {
			t.Errorf("%q: got %v, want that main is no version", asked, err)
		}
	}
}

// What a user lacks is said in one line.
func TestInstall(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"no Python":       {"", "/python is not installed: apt-get install python3"},
		"no pip":          {"echo /usr/bin/python3: No module named pip; exit 1", "has no pip: apt-get install python3-pip"},
		"no such version": {"echo ERROR: Ignored; echo ERROR: Could not find; echo ERROR: No matching distribution found; exit 1", "pip has no django 9.9.9 for "},
		"anything else":   {"echo first; echo between; echo last; exit 3", "pip install django==9.9.9: exit status 3: first; last"},
		"all is well":     {"exit 0", ""},
	} {
		folder := t.TempDir()
		program := filepath.Join(folder, "python")
		if c.script != "" {
			must(t, os.WriteFile(program, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700))
		}
		t.Setenv("ASSAY_PYTHON", program)
		p := &probe{name: Django, folder: folder}
		err := p.install(t.Context(), filepath.Join(folder, "packages"), "9.9.9")
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: got %s, want %q", name, got, c.want)
		}
	}
}
