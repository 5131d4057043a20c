package lint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"assay/internal/lint/facts"
)

// measured are libraries as they might have been measured.
func measured() *facts.Table {
	defaults := map[string]string{"journal_mode": "wal", "cache_size": "-2000", "waits": "0", "begin": "deferred", "read_only": "0", "busy_timeout": "5000"}
	var all facts.Table
	for _, l := range []facts.Common{
		{Driver: facts.ActiveRecord, Version: "7.0", Beneath: "1.4", Effects: map[facts.Effect][]string{
			facts.Applied: {"timeout"}, facts.Ignored: {"journal_mode", "pragmas.cache_size", "retries", "default_transaction_mode"}, facts.Fails: {"busy_timeout"}}, Misspelled: []string{"timeout"}},
		{Driver: facts.ActiveRecord, Version: "7.0", Beneath: "1.7", Effects: map[facts.Effect][]string{
			facts.Applied: {"timeout", "default_transaction_mode"}, facts.Ignored: {"journal_mode", "pragmas.cache_size", "retries"}}, Misspelled: []string{"timeout"}},
		{Driver: facts.ActiveRecord, Version: "7.2", Beneath: "1.7", Effects: map[facts.Effect][]string{
			facts.Applied: {"timeout", "pragmas.cache_size", "pragmas.journal_mode"}, facts.Ignored: {"journal_mode"}}, Misspelled: []string{"pragmas.cache_size"}},
	} {
		l.Defaults = defaults
		all.Add(facts.Facts{Common: l})
	}
	return &all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func lockfile(rails, sqlite3 string) string {
	return "GEM\n  remote: https://example.test/\n  specs:\n    activerecord (" + rails + ")\n      activemodel (= 9)\n    sqlite3 (" + sqlite3 + "-x86_64-linux)\n"
}

func TestConfigurations(t *testing.T) {
	for name, c := range map[string]struct {
		rails, sqlite3, settings string
		want                     []string
	}{
		"ignored": {"7.0", "1.7", "journal_mode: truncate", []string{"3 ignored-option activerecord 7.0 with sqlite3 1.7: ignores journal_mode: truncate; " +
			"no key sets it at this version: run PRAGMA journal_mode = truncate on every new connection"}},
		"ignored, and another key works": {"7.2", "1.7", "journal_mode: truncate", []string{
			"3 ignored-option activerecord 7.2 with sqlite3 1.7: ignores journal_mode: truncate; write pragmas: {journal_mode: truncate}"}},
		"until a later version": {"7.0", "1.7", "pragmas: {cache_size: 9}", []string{"3 ignored-option activerecord 7.0 with sqlite3 1.7: ignores pragmas: {cache_size: 9} (activerecord 7.2 honours it); " +
			"no key sets it at this version: run PRAGMA cache_size = 9 on every new connection"}},
		"until a later driver": {"7.0", "1.4", "default_transaction_mode: immediate", []string{
			"3 ignored-option activerecord 7.0 with sqlite3 1.4: ignores default_transaction_mode: immediate (with the gem sqlite3 1.7 it takes effect); no key sets it at this version: leave it out"}},
		"drivers on both sides differ": {"7.0", "1.5", "default_transaction_mode: immediate", nil},
		"versions on both sides agree": {"7.1", "1.7", "journal_mode: truncate", []string{"3 ignored-option activerecord 7.1 with sqlite3 1.7: ignores journal_mode: truncate " +
			"(not measured itself; activerecord@7.0+1.7 before it and activerecord@7.2+1.7 after it do); no key sets it at this version: run PRAGMA journal_mode = truncate on every new connection"}},
		"versions on both sides differ": {"7.1", "1.7", "pragmas: {cache_size: 9}", nil},
		"refused": {"7.0", "1.4", "busy_timeout: 5", []string{
			"3 refused-option activerecord 7.0 with sqlite3 1.4: refuses busy_timeout: 5, so that no database can be opened; write timeout: 5"}},
		"misspelled":             {"7.0", "1.7", "time_out: 5", []string{"3 misspelled-option activerecord 7.0 with sqlite3 1.7: ignores time_out: 5; did you mean timeout?"}},
		"a misspelled place":     {"7.2", "1.7", "pragma: {cache_size: 9}", []string{"3 misspelled-option activerecord 7.2 with sqlite3 1.7: ignores pragma: {cache_size: 9}; did you mean pragmas.cache_size?"}},
		"not tried":              {"7.2", "1.7", "time_out: 5", nil},
		"the default":            {"7.0", "1.7", "journal_mode: WAL", nil},
		"WAL of who only reads":  {"7.0", "1.7", "readonly: true\n  journal_mode: truncate", []string{"4 ignored-option activerecord 7.0 with sqlite3 1.7: ignores journal_mode: truncate; leave it out: WAL is a property of the file, which a writer sets"}},
		"a symbol":               {"7.0", "1.7", "journal_mode: :wal", nil},
		"no retries":             {"7.0", "1.7", "retries: 0", nil},
		"from a template":        {"7.0", "1.7", "retries: <%= 5 %>", []string{"3 ignored-option activerecord 7.0 with sqlite3 1.7: ignores retries: ...; write timeout: MILLISECONDS"}},
		"takes effect":           {"7.0", "1.7", "timeout: 5000", nil},
		"of somebody else":       {"7.0", "1.7", "custom: 1", nil},
		"silenced":               {"7.0", "1.7", "journal_mode: truncate # assay:ignore ignored-option on purpose", nil},
		"silenced, no reason":    {"7.0", "1.7", "retries: 5 # assay:ignore ignored-option", []string{"3 ignored-option activerecord 7.0 with sqlite3 1.7: ignores retries: 5; write timeout: MILLISECONDS"}},
		"silenced, another rule": {"7.0", "1.7", "retries: 5 # assay:ignore refused-option so", []string{"3 ignored-option activerecord 7.0 with sqlite3 1.7: ignores retries: 5; write timeout: MILLISECONDS"}},
	} {
		dir := folder(t, map[string]string{"app/Gemfile.lock": lockfile(c.rails, c.sqlite3), "app/config/database.yml": "test:\n  adapter: sqlite3\n  " + c.settings + "\n"})
		result, err := Configurations(t.Context(), dir, measured())
		must(t, err)
		var got []string
		for _, f := range result.Findings {
			got = append(got, fmt.Sprintf("%d %s %s", f.Line, f.Rule, f.Message))
		}
		if !slices.Equal(got, c.want) || result.Configurations != 1 || len(result.Broken) > 0 {
			t.Errorf("%s: got\n%s\nwant\n%s\nof %d configurations, %v", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"), result.Configurations, result.Broken)
		}
	}
}

// What cannot be judged does not pass in silence.
func TestConfigurationsNotJudged(t *testing.T) {
	sqlite := "test:\n  adapter: sqlite3\n  retries: 5\n"
	for name, c := range map[string]struct {
		files              map[string]string
		unmeasured, broken string
		configurations     int
	}{
		"no lock file":  {map[string]string{"config/database.yml": sqlite}, "", "config/database.yml: activerecord has no version in Gemfile.lock beside the file or above it: its settings were not judged", 1},
		"from git":      {map[string]string{"config/database.yml": sqlite, "Gemfile.lock": "GIT\n  remote: https://example.test/me/rails.git\n  specs:\n    activerecord (7.0)\n"}, "", "config/database.yml: activerecord 7.0 from https://example.test/me/rails.git may change what activerecord does with it: its settings were not judged", 1},
		"from a folder": {map[string]string{"config/database.yml": sqlite, "Gemfile.lock": "PATH\n  remote: vendor/rails\n  specs:\n    activerecord (7.0)\n"}, "", "config/database.yml: activerecord 7.0 from vendor/rails may change what activerecord does with it: its settings were not judged", 1},
		"a gem changes it": {map[string]string{"config/database.yml": sqlite, "Gemfile.lock": lockfile("7.0", "1.7") + "    activerecord-enhancedsqlite3-adapter (0.8.0)\n"}, "",
			"config/database.yml: the gem activerecord-enhancedsqlite3-adapter may change what activerecord does with it: its settings were not judged", 1},
		"a file changes it": {map[string]string{"config/database.yml": sqlite, "Gemfile.lock": lockfile("7.0", "1.7"), "config/initializers/x.rb": "ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(X)"}, "",
			"config/database.yml: config/initializers/x.rb may change what activerecord does with it: its settings were not judged", 1},
		"never measured":                    {map[string]string{"config/database.yml": sqlite, "Gemfile.lock": lockfile("9.0", "1.7")}, "activerecord@9.0+1.7", "", 1},
		"measured on both sides, alike":     {map[string]string{"config/database.yml": "test:\n  adapter: sqlite3\n  timeout: 9\n", "Gemfile.lock": lockfile("7.1", "1.7")}, "", "", 1},
		"measured on both sides, not alike": {map[string]string{"config/database.yml": "test:\n  adapter: sqlite3\n  pragmas: {cache_size: 9}\n", "Gemfile.lock": lockfile("7.1", "1.7")}, "activerecord@7.1+1.7", "", 1},
		"no YAML":                           {map[string]string{"config/database.yml": "sqlite3: ["}, "", "config/database.yml: it is not YAML: [1:10] sequence end token ']' not found", 1},
		"another database":                  {map[string]string{"config/database.yml": "test:\n  adapter: postgresql\n"}, "", "", 0},
		"somebody else's":                   {map[string]string{"vendor/config/database.yml": sqlite, "node_modules/config/database.yml": sqlite, ".x/config/database.yml": sqlite}, "", "", 0},
		"of another format":                 {map[string]string{"config/databases.txt": sqlite}, "", "", 0},
	} {
		result, err := Configurations(t.Context(), folder(t, c.files), measured())
		must(t, err)
		unmeasured, broken := strings.Join(result.Unmeasured, " "), strings.Join(result.Broken, " ")
		if unmeasured != c.unmeasured || broken != c.broken || result.Configurations != c.configurations || len(result.Findings) > 0 {
			t.Errorf("%s: got %+v, want unmeasured %q, broken %q, %d configurations", name, result, c.unmeasured, c.broken, c.configurations)
		}
		if got, want := result.Checked(), c.configurations == 0 || broken == "" && !strings.Contains(unmeasured, "9.0"); got != want {
			t.Errorf("%s: something was checked: got %v, want %v", name, got, want)
		}
	}
	own := map[string]string{"config/database.yml": sqlite, "Gemfile.lock": "GIT\n  remote: https://example.test/rails/rails.git\n  specs:\n    activerecord (7.0)\n\nGEM\n  specs:\n    sqlite3 (1.7)\n"}
	if result, err := Configurations(t.Context(), folder(t, own), measured()); err != nil || len(result.Findings) != 1 || !result.Checked() {
		t.Errorf("its own repository: got %+v, %v, want a finding", result, err)
	}
	if _, err := Configurations(t.Context(), filepath.Join(t.TempDir(), "none"), measured()); err == nil {
		t.Error("a folder that does not exist is no error")
	}
}

// A setting that takes effect, with a value that SQLite does not know, is not judged.
func TestValuesNotKnown(t *testing.T) {
	needPython(t)
	rails := func(settings, version string) map[string]string {
		return map[string]string{"config/database.yml": "test:\n  adapter: sqlite3\n  " + settings + "\n", "Gemfile.lock": lockfile(version, "1.7")}
	}
	django := func(settings string) map[string]string {
		return map[string]string{"settings.py": database(settings), "requirements.txt": "Django==5.1\n"}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"a journal mode":  {rails("pragmas: {journal_mode: wall}", "7.2"), []string{"pragmas: {journal_mode: wall}"}},
		"how to begin":    {rails("default_transaction_mode: immediat", "7.0"), []string{"default_transaction_mode: immediat"}},
		"seconds":         {django(`"OPTIONS": {"timeout": "20s"}`), []string{`"OPTIONS": {"timeout": "20s"}`}},
		"how, for Django": {django(`"OPTIONS": {"transaction_mode": "IMMEDIAT"}`), []string{`"OPTIONS": {"transaction_mode": "IMMEDIAT"}`}},
		"all is known":    {django(`"OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": "PRAGMA synchronous = NORMAL"}`), nil},
	} {
		result, err := Configurations(t.Context(), folder(t, c.files), merged(measured(), djangos()))
		must(t, err)
		var got []string
		for _, u := range result.NotJudged {
			got = append(got, u.Parameter)
		}
		if !slices.Equal(got, c.want) || len(result.Findings) > 0 {
			t.Errorf("%s: got %q not judged and %v, want %q and nothing", name, got, result.Findings, c.want)
		}
	}
}

// merged has the facts of two tables.
func merged(a, b *facts.Table) *facts.Table {
	for _, f := range b.Versions(facts.Django) {
		a.Add(f)
	}
	return a
}

// A file that names SQLite, and no database that certainly has its adapter, is not judged.
func TestRailsAdapterNotKnown(t *testing.T) {
	for text, want := range map[string]int{
		"test:\n  adapter: <%= ENV.fetch('DB_ADAPTER', 'sqlite3') %>\n  timeout: 5\n":                           2,
		"test:\n  timeout: 5\n  url: sqlite3:db/test.sqlite3\n":                                                 3,
		"test:\n  <% if Rails.version > '8' %>\n  adapter: sqlite3\n  <% end %>\n":                              3,
		"# gem 'sqlite3'\ntest:\n  adapter: postgresql # not sqlite3\n":                                         0,
		"## gem 'sqlite3'\ntest:\n  adapter: postgresql ## not sqlite3\n":                                       0,
		"<%# was sqlite3,\n or sqlite3 %>\ntest:\n  adapter: postgresql\n":                                      0,
		"<%# what\n it is %>\ntest:\n  adapter: <%= ENV.fetch('DB_ADAPTER', 'sqlite3') %>\n  timeout: 5\n":      4,
		"test:\n  adapter: <%= x %> # assay:ignore not-judged the other team's\n  database: <%= x %>.sqlite3\n": -1,
	} {
		result, err := Configurations(t.Context(), folder(t, map[string]string{"config/database.yml": text, "Gemfile.lock": lockfile("7.0", "1.7")}), measured())
		must(t, err)
		line := 0
		for _, u := range result.NotJudged {
			line = u.Line
		}
		if line != max(want, 0) || result.Checked() != (want == 0) {
			t.Errorf("%q: got line %d, checked %v, want line %d", text, line, result.Checked(), want)
		}
	}
}

// A lock file is a regular file, or is refused at once: a device never ends, and a FIFO is
// waited for.
func TestLockFilesAreRegular(t *testing.T) {
	rails := map[string]string{"config/database.yml": "test:\n  adapter: sqlite3\n  retries: 5\n"}
	django := map[string]string{"settings.py": "DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'OPTIONS': {'x': 1}}}\n"}
	for lock, files := range map[string]map[string]string{"Gemfile.lock": rails, "requirements.txt": django, "requirements/base.txt": django, "poetry.lock": django,
		"uv.lock": django, "pdm.lock": django, "Pipfile.lock": django, "pyproject.toml": django} {
		if lock != "Gemfile.lock" {
			needPython(t)
		}
		for kind, place := range map[string]func(path string) error{
			"FIFO":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
			"large": func(path string) error {
				must(t, os.WriteFile(path, nil, 0o600))
				return os.Truncate(path, 1<<40)
			},
		} {
			dir := folder(t, files)
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, lock)), 0o755))
			must(t, place(filepath.Join(dir, lock)))
			result, err := Configurations(t.Context(), dir, djangos())
			if err != nil || len(result.Broken) != 2 || !slices.ContainsFunc(result.Broken, func(s string) bool {
				return strings.Contains(s, lock+" is not") || strings.Contains(s, lock+" has more")
			}) {
				t.Errorf("%s, a %s: got %v, %q; want it named as refused", lock, kind, err, result.Broken)
			}
		}
	}
}

func TestHasModule(t *testing.T) {
	dir := folder(t, map[string]string{"go.mod": "module x\n", "a/b/c": ""})
	if !HasModule(filepath.Join(dir, "a", "b")) {
		t.Error("got no module in a folder below go.mod")
	}
	if HasModule(t.TempDir()) {
		t.Error("got a module in an empty folder")
	}
}

// So is a database.yml, which is read through a link.
func TestConfigurationIsARegularFile(t *testing.T) {
	text := "test:\n  adapter: sqlite3\n  retries: 5\n"
	for kind, place := range map[string]func(path string) error{
		"FIFO":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"sparse": func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 10<<30)) },
		"link":   func(path string) error { return os.Symlink("../shared.yml", path) },
	} {
		dir := folder(t, map[string]string{"Gemfile.lock": lockfile("7.0", "1.7"), "shared.yml": text, "config/x": ""})
		must(t, place(filepath.Join(dir, "config", "database.yml")))
		result, err := Configurations(t.Context(), dir, measured())
		if linked := kind == "link"; err != nil || (len(result.Findings) == 1) != linked || (len(result.Broken) == 0) != linked || result.Checked() != linked {
			t.Errorf("a %s: got %+v, %v, want it read: %v", kind, result, err, linked)
		}
	}
}
