package lint

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/internal/lint/facts"
)

// database is a settings.py with one database of SQLite.
func database(rest string) string {
	return `DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", ` + rest + "}}\n"
}

func TestDjangoSettings(t *testing.T) {
	needPython(t)
	wants := map[string]string{
		database(`"NAME": BASE_DIR / "db.sqlite3"`):                                              "1",
		database(`"CONN_MAX_AGE": 600, "OPTIONS": {"timeout": 20, 'init_command': "PRAGMA a;"}`): "1\n1:66 \"CONN_MAX_AGE\": 600\n1:99 \"OPTIONS\": {\"timeout\": 20}\n1:114 \"OPTIONS\": {\"init_command\": \"PRAGMA a;\"}",
		database(`"OPTIONS": {"cache_size": -2000, "x": None, "y": True, "z": z}`):               "1\n1:78 \"OPTIONS\": {\"cache_size\": -2000}\n1:99 \"OPTIONS\": {\"x\": None}\n1:110 \"OPTIONS\": {\"y\": True}\n1:121 \"OPTIONS\": {\"z\": ...}",
		database(`"NAME": "file:a.db?mode=ro&_pragma=journal_mode(WAL)"`):                        "1\n1:66 \"NAME\": \"file:...?mode=ro\"\n1:66 \"NAME\": \"file:...?_pragma=journal_mode(WAL)\"",
		database(`"NAME": "a.db?mode=ro"`):                                                       `1` + "\n" + `1:66 "NAME": "...?mode=ro"`,
		database(`"NAME": f"file:{BASE}/a.db?mode=" + mode`):                                     `1` + "\n" + `1:66 "NAME": "file:...?mode=..."`,
		database(`"NAME": f"{BASE}/a.db?mode=ro"`):                                               "1", // it may begin with file:
		database(`"NAME": "file:a.db?mode=ro&" + more`):                                          "1",
		database(`"NAME": "file:a?mode=memory&cache=shared"`):                                    "1",
		database(`"NAME": ":memory:?mode=ro"`):                                                   "1",
		database(`"HOST": "", "TEST": {"NAME": "x"}, "OPTIONS": {**more}`):                       "1",
		database(`**more`):             "0",
		database(`"OPTIONS": options`): "1",
		"options = {'timeout': 5}\n" + database(`"OPTIONS": options`):                                                        `1` + "\n" + `1:12 "OPTIONS": {"timeout": 5}`,
		"options = {'timeout': 5}\n" + database(`"OPTIONS": options`) + "print(options)\n":                                   "1",
		"OPTIONS = OPTIONS\n" + database(`"OPTIONS": OPTIONS`):                                                               "1",
		"engine = 'django.db.backends.' + 'sqlite3'\nDATABASES: dict = dict(a=dict(ENGINE=engine, OPTIONS=dict(timeout=9)))": `1` + "\n" + `2:67 "OPTIONS": {"timeout": 9}`,
		"class Dev:\n    " + database(`"timeout": 5`):                                                                        `1` + "\n" + `2:70 "timeout": 5`,
		`settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "timeout": 5}})`:                  `1` + "\n" + `1:83 "timeout": 5`,
		strings.ReplaceAll(database(`"timeout": 5`), "sqlite3", "postgresql"):                                                "0",
		strings.ReplaceAll(database(`"timeout": 5`), "DATABASES", "OTHERS"):                                                  `1` + "\n" + `1:63 "timeout": 5`,
		"LITE = {'ENGINE': 'django.db.backends.sqlite3', 'timeout': 5}\nDATABASES = {'a': PG if x else LITE, 'b': {**LITE}}": `1` + "\n" + `1:49 "timeout": 5`,
		"LITE = {'ENGINE': 'django.db.backends.sqlite3', 'timeout': 5}\nLITE.update(x)":                                      "0",
		"def f():\n  return {'ENGINE': 'django.db.backends.sqlite3', 'timeout': 5}":                                          `1` + "\n" + `2:51 "timeout": 5`,
		"assert f() == {'ENGINE': 'django.db.backends.sqlite3', 'timeout': 5}":                                               "0",
		"if f() == {'ENGINE': 'django.db.backends.sqlite3', 'timeout': 5}: pass":                                             "0",
		"want = {'ENGINE': 'django.db.backends.sqlite3', 'timeout': 5}\nself.assertEqual(f(), want)":                         "0",
		"want = {'ENGINE': 'django.db.backends.sqlite3', 'timeout': 5}\nassert want == f()":                                  "0",
		"want = {'ENGINE': 'django.db.backends.sqlite3', 'timeout': 5}\nif want['ENGINE'] == x: pass":                        `1` + "\n" + `1:49 "timeout": 5`,
		"self.assertEqual(f(), {'ENGINE': 'django.db.backends.sqlite3', 'timeout': 5})":                                      "0",
		`DATABASES = {"default": {"ENGINE": env("DB", "django.db.backends.sqlite3"), "timeout": 5}}`:                         "0",
		`DATABASES = {"default": env.db()}`:                                                                                  "0",
		database(`"timeout": 5`) + `DATABASES["default"]["ENGINE"] = other`:                                                  "0",
		database(`"timeout": 5`) + `DATABASES["default"]["OPTIONS"] = other`:                                                 "0",
		database(`"timeout": 5`) + `DATABASES["default"][key] = other`:                                                       "0",
		database(`"timeout": 5`) + `DATABASES["default"]["CONN_MAX_AGE"] = 60`:                                               `1` + "\n" + `1:66 "timeout": 5`,
		database(`"timeout": 5`) + `DATABASES["default"].update(env.db())`:                                                   "0",
		database(`"timeout": 5`) + `DATABASES["default"]["ATOMIC_REQUESTS"] = True`:                                          `1` + "\n" + `1:66 "timeout": 5`,
	}
	var files []source
	for text := range wants {
		files = append(files, source{"settings.py", text})
	}
	all, err := parsePython(t.Context(), files)
	must(t, err)
	for i, f := range files {
		got := fmt.Sprint(all[i].Databases)
		for _, w := range all[i].settings {
			got += fmt.Sprintf("\n%d:%d %s", w.at.Line, w.at.Column, w.shown)
		}
		if want := wants[f.text]; got != want || all[i].Problem != "" {
			t.Errorf("%s: got\n%s\nwant\n%s\n%s", f.text, got, want, all[i].Problem)
		}
	}
}

// No file of settings ends the program that reads them all.
func TestHostileSettings(t *testing.T) {
	needPython(t)
	var files []source
	for _, value := range []string{strings.Repeat("-", 100_000) + "1", strings.Repeat("[", 100_000), strings.Repeat("{**", 90) + "{}" + strings.Repeat("}", 90),
		strings.Repeat("1+", 50_000) + "1", "a" + strings.Repeat("[0]", 50_000), "0x" + strings.Repeat("f", 5000), `'\ud800'`, "b'x'", "1e999", "{[]: 1}", "dict(**x)"} {
		files = append(files, source{"a.py", database(`"OPTIONS": {"timeout": ` + value + "}")}, source{"b.py", "OPTIONS = " + value + "\n" + database(`"OPTIONS": OPTIONS`)})
	}
	files = append(files, source{"c.py", database(`"timeout": 5`)})
	all, err := parsePython(t.Context(), files)
	must(t, err)
	if last := all[len(all)-1]; len(last.settings) != 1 || last.Problem != "" {
		t.Errorf("got %+v of the last file, want one setting", last)
	}
}

func FuzzPython(f *testing.F) {
	f.Add(database(`"NAME": f"file:{x}?mode=ro", "OPTIONS": {"timeout": 5, **more}`))
	f.Add("from sqlalchemy import create_engine\ncreate_engine('sqlite:///a.db?mode=ro', connect_args={'timeout': 5})")
	f.Fuzz(func(t *testing.T, text string) {
		needPython(t)
		if !utf8.ValidString(text) {
			t.Skip("JSON has no such text")
		}
		all, err := parsePython(t.Context(), []source{{"a.py", text}})
		must(t, err)
		for _, w := range all[0].settings {
			if w.at.Line < 1 || w.at.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+strings.Count(text, "\f")+1 || w.at.Column < 1 {
				t.Errorf("%s is at %d:%d", w.shown, w.at.Line, w.at.Column)
			}
		}
	})
}

// djangos are two versions of Django as they might have been measured.
func djangos() *facts.Table {
	defaults := map[string]string{"journal_mode": "delete", "busy_timeout": "5000", "begin": "deferred", "kept": "0", "cache_size": "-2000", "read_only": "0"}
	var all facts.Table
	all.Add(facts.Facts{Common: facts.Common{Driver: facts.Django, Version: "4.2", Defaults: defaults, MisspelledPlaces: []string{"OPTIONS.timeout"}, MisspelledFails: []string{"OPTIONS.timeout"},
		Misspelled: []string{"CONN_MAX_AGE"}, Effects: map[facts.Effect][]string{
			facts.Applied: {"OPTIONS.timeout", "CONN_MAX_AGE", "NAME:file.mode"},
			facts.Ignored: {"timeout", "init_command", "transaction_mode", "conn_max_age", "OPTIONS.isolation_level", "NAME:file._pragma=journal_mode()"},
			facts.Fails:   {"OPTIONS.init_command", "OPTIONS.transaction_mode", "OPTIONS.journal_mode", "OPTIONS.charset", "OPTIONS.connect_timeout"},
			facts.Literal: {"NAME.mode"}}}})
	all.Add(facts.Facts{Common: facts.Common{Driver: facts.Django, Version: "5.1", Defaults: defaults, Effects: map[facts.Effect][]string{
		facts.Applied: {"OPTIONS.timeout", "OPTIONS.init_command", "OPTIONS.transaction_mode"},
		facts.Ignored: {"timeout", "init_command", "journal_mode"},
		facts.Fails:   {"OPTIONS.journal_mode"}}}})
	return &all
}

func TestDjango(t *testing.T) {
	needPython(t)
	cases := map[string]struct{ version, want string }{
		`"OPTIONS": {"timeout": 20}`:                  {"4.2", ""},
		`"timeout": 20`:                               {"4.2", `ignored-option django 4.2: ignores "timeout": 20; write "OPTIONS": {"timeout": 20}`},
		`"timeout": 5.0`:                              {"4.2", ""}, // so long it waits by itself
		`"conn_max_age": 60`:                          {"4.2", `ignored-option django 4.2: ignores "conn_max_age": 60; write "CONN_MAX_AGE": 60`},
		`"conn_max_age": 0`:                           {"4.2", ""},
		`"OPTIONS": {"isolation_level": None}`:        {"4.2", ""},
		`"OPTIONS": {"isolation_level": "IMMEDIATE"}`: {"4.2", `ignored-option django 4.2: ignores "OPTIONS": {"isolation_level": "IMMEDIATE"}; no key sets it at this version: leave it out`},
		`"OPTIONS": {"transaction_mode": "IMMEDIATE"}`: {"4.2", `refused-option django 4.2: refuses "OPTIONS": {"transaction_mode": "IMMEDIATE"}, so that no database can be opened (django 5.1 honours it); ` +
			`no key sets it at this version: leave it out`},
		`"OPTIONS": {"init_command": "PRAGMA x"}`: {"4.2", `refused-option django 4.2: refuses "OPTIONS": {"init_command": "PRAGMA x"}, so that no database can be opened (django 5.1 honours it); ` +
			`no key does it at this version: run its SQL on every new connection`},
		`"OPTIONS": {"time_out": 9}`:                             {"4.2", `refused-option django 4.2: refuses "OPTIONS": {"time_out": 9}, so that no database can be opened; did you mean "OPTIONS": {"timeout": ...}?`},
		`"OPTIONS": {"charset": "utf8mb4"}`:                      {"4.2", `refused-option django 4.2: refuses "OPTIONS": {"charset": "utf8mb4"}, so that no database can be opened; no key sets it at this version: leave it out`},
		`"OPTIONS": {"connect_timeout": 10}`:                     {"4.2", `refused-option django 4.2: refuses "OPTIONS": {"connect_timeout": 10}, so that no database can be opened; write "OPTIONS": {"timeout": SECONDS}`},
		`"OPTION": {"timeout": 9}`:                               {"4.2", `misspelled-option django 4.2: ignores "OPTION": {"timeout": 9}; did you mean "OPTIONS": {"timeout": ...}?`},
		`"CONN_MAXAGE": 9`:                                       {"4.2", `misspelled-option django 4.2: ignores "CONN_MAXAGE": 9; did you mean "CONN_MAX_AGE": ...?`},
		`"OPTIONS": {"time_out": 9.0}`:                           {"5.1", ""}, // no experiment
		`"OPTIONS": {"init_command": x}`:                         {"5.1", ""},
		`"init_command": "` + strings.Repeat("x", 99) + `"`:      {"5.1", `ignored-option django 5.1: ignores "init_command": "` + strings.Repeat("x", 57) + `..."; write "OPTIONS": {"init_command": "` + strings.Repeat("x", 57) + `..."}`},
		`"OPTIONS": {"journal_mode": "wal"}`:                     {"5.1", `refused-option django 5.1: refuses "OPTIONS": {"journal_mode": "wal"}, so that no database can be opened; write "OPTIONS": {"init_command": "PRAGMA journal_mode = wal"}`},
		`"journal_mode": "delete"`:                               {"5.1", ""},
		`"OPTIONS": {"journal_mode": "delete"}`:                  {"5.1", `refused-option django 5.1: refuses "OPTIONS": {"journal_mode": "delete"}, so that no database can be opened; write "OPTIONS": {"init_command": "PRAGMA journal_mode = delete"}`},
		`"NAME": "file:a.db?mode=ro", "journal_mode": "wal"`:     {"5.1", `ignored-option django 5.1: ignores "journal_mode": "wal"; leave it out: WAL is a property of the file, which a writer sets`},
		`"NAME": "a.db?mode=ro"`:                                 {"4.2", `ignored-option django 4.2: takes "NAME": "...?mode=ro" for a part of the file's name; write "NAME": "file:...?mode=ro"`},
		`"NAME": "file:a.db?_pragma=journal_mode(WAL)"`:          {"4.2", `ignored-option django 4.2: ignores "NAME": "file:...?_pragma=journal_mode(WAL)"; no key sets it at this version: run PRAGMA journal_mode = WAL on every new connection`},
		`"timeout": 19`:                                          {"5.0", `ignored-option django 5.0: ignores "timeout": 19 (not measured itself; django@4.2 before it and django@5.1 after it do); write "OPTIONS": {"timeout": 19}`},
		`"OPTIONS": {"init_command": ""}`:                        {"5.0", ""}, // they differ
		`"timeout": 21, # assay:ignore ignored-option so` + "\n": {"4.2", ""},
	}
	names, files := map[string]string{}, map[string]string{}
	for settings, c := range cases {
		name := fmt.Sprintf("project%d", len(names))
		names[name] = settings
		files[name+"/requirements.txt"] = "Django==" + c.version + "\n"
		files[name+"/app/settings.py"] = database(settings)
	}
	result, err := Configurations(t.Context(), folder(t, files), djangos())
	if err != nil || result.Configurations != len(cases) || len(result.Broken) > 0 {
		t.Fatalf("got %d configurations, %v, %v, want %d and nothing broken", result.Configurations, result.Broken, err, len(cases))
	}
	got := map[string]string{}
	for _, f := range result.Findings {
		name, _, _ := strings.Cut(f.File, "/")
		got[names[name]] += f.Rule + " " + f.Message
	}
	for settings, c := range cases {
		if got[settings] != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", settings, got[settings], c.want)
		}
	}
}
