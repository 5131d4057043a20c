package analysis

import (
	"slices"
	"testing"

	"assay"
)

// The code of a program stands for what the worker did where its target says how to
// write all of it; otherwise there is none.
func TestCode(t *testing.T) {
	const open, with, execute = `connection = connect({{dsn}})`, `connection = connect({{dsn}}, {{options}})`, `connection.run({{sql}})`
	issued := func(all ...string) (settings []assay.Setting) {
		for _, text := range all {
			settings = append(settings, assay.Setting{Name: "setting of " + text, Requested: "something", Issued: text})
		}
		return settings
	}
	for name, test := range map[string]struct {
		facts    map[string]string
		dsn      string
		each     []string
		want     []string
		settings []assay.Setting
	}{
		"both": {
			map[string]string{"open": open, "execute": execute}, "file:{{path}}", []string{"PRAGMA a = 1", `PRAGMA b = 'x"y'`},
			[]string{`connection = connect("file:app.db")`, `connection.run("PRAGMA a = 1; PRAGMA b = 'x\"y'")`}, nil,
		},
		"options": {
			map[string]string{"open": open, "open_with": with, "execute": execute}, "{{path}}?a=1", []string{"PRAGMA b = 1"},
			[]string{`connection = connect("app.db?a=1", readonly: true, timeout: 5)`, `connection.run("PRAGMA b = 1")`},
			issued("a=1", "PRAGMA b = 1", "readonly: true", "", "timeout: 5"),
		},
		"no options": {map[string]string{"open": open, "open_with": with}, "{{path}}", nil, []string{`connection = connect("app.db")`}, issued("PRAGMA a = 1")},
		"what a trace saw is no option": {map[string]string{"open": open, "open_with": with}, "{{path}}", nil, []string{`connection = connect("app.db")`},
			[]assay.Setting{{Name: SyncBeforeAck, Connection: "trace", Issued: "3 commits: 42 pwrite64", Effective: "no"}}},
		"where the database is is no option": {map[string]string{"open": open, "open_with": with}, "{{path}}", nil, []string{`connection = connect("app.db")`},
			[]assay.Setting{{Name: "memory", Requested: "0", Issued: "the file"}}},
		"no place for options":   {map[string]string{"open": open}, "{{path}}", nil, []string{`connection = connect("app.db")`}, issued("not in the URI")},
		"no SQL to run":          {map[string]string{"open": open}, "{{path}}", nil, []string{`connection = connect("app.db")`}, nil},
		"nothing of SQL":         {map[string]string{"open": open}, "{{path}}", []string{"PRAGMA a = 1"}, nil, nil},
		"no place for the SQL":   {map[string]string{"open": open, "execute": "run()"}, "{{path}}", []string{"PRAGMA a = 1"}, nil, nil},
		"no place for the DSN":   {map[string]string{"open": "connect()", "execute": execute}, "{{path}}", nil, nil, nil},
		"nothing of the program": {map[string]string{"api": "go"}, "{{path}}", nil, nil, nil},
		"no DSN":                 {map[string]string{"open": open}, "", nil, nil, nil},
		"a mark within the DSN":  {map[string]string{"open": open}, "<{{dsn}}&>", nil, []string{`connection = connect("<{{dsn}}&>")`}, nil},
		"what Ruby replaces":     {map[string]string{"open": open}, "#{x}", nil, []string{`connection = connect("\u0023{x}")`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			row := &Row{Measured: Measured{Cell: assay.Cell{Driver: "one", Build: "b1"}, DSN: test.dsn, Each: test.each, Settings: test.settings}}
			target := assay.Target{Driver: "one", Build: "b1", Facts: test.facts}
			others := []assay.Target{
				{Driver: "two", Build: "b1", Facts: map[string]string{"open": "of another driver {{dsn}}"}},
				{Driver: "one", Build: "b2", Facts: map[string]string{"open": "of another build {{dsn}}"}},
			}
			if got := NewConnection(row).Code(append(others, target)); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := NewConnection(row).Code(others); got != nil {
				t.Errorf("of other targets: got %q, want none", got)
			}
		})
	}
}

// What a program writes is nothing in which the measured targets differ.
func TestCodeIsNoDifference(t *testing.T) {
	targets := []assay.Target{
		{Driver: "one", Facts: map[string]string{"api": "same", "open": "a {{dsn}}", "open_with": "a {{dsn}} {{options}}", "execute": "b {{sql}}"}},
		{Driver: "two", Facts: map[string]string{"api": "same", "open": "c {{dsn}}"}},
	}
	for _, d := range differences(targets, nil, naming{}) {
		if slices.Contains(aboutPrograms, d.Name) {
			t.Errorf("got %+v, want no difference", d)
		}
	}
}
