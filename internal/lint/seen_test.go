package lint

import (
	"fmt"
	"slices"
	"testing"
)

// No findings where SQLite is plainly used, and nothing of it was judged, are no good news:
// where only the running program knows a DSN, a driver's version was not measured, or the
// build leaves the file out.
func TestNothingJudgedIsNotChecked(t *testing.T) {
	const head = "package app\n\nimport (\n\t\"database/sql\"\n\t\"os\"\n\n\t_ \"modernc.org/sqlite\"\n)\n\n"
	for source, want := range map[string]bool{
		head + "func open() { sql.Open(\"sqlite\", os.Getenv(\"DSN\")) }\n":                   false,
		head + "func open() { sql.Open(os.Getenv(\"DRIVER\"), \"app.db\") }\n":                false,
		head + "func open(dsn string) { sql.Open(\"sqlite\", dsn) }\n":                        false,
		head + "func open() { sql.Open(\"sqlite\", \"app.db?_pragma=temp_store(2)\") }\n":     false, // a folder has no version
		"//go:build sqlite\n\n" + head + "func open() { sql.Open(\"sqlite\", \"app.db\") }\n": false,
		"package app\n": true,
	} {
		dir := folder(t, map[string]string{"go.mod": "module example.test/app\n\ngo 1.26\n\nrequire modernc.org/sqlite v1.54.0\n\nreplace modernc.org/sqlite v1.54.0 => ./sqlite\n",
			"sqlite/go.mod": "module modernc.org/sqlite\n\ngo 1.26\n", "sqlite/sqlite.go": "package sqlite\n", "app.go": source, "doc.go": "package app\n"})
		result, err := Run(t.Context(), dir, []string{"./..."}, table(t))
		must(t, err)
		if result.Checked() != want || len(result.Findings) > 0 || (len(result.Broken) == 0) != want {
			t.Errorf("%s: got checked %v of %+v, want %v", source, result.Checked(), result, want)
		}
	}
}

// A file that only lacks tags shows that SQLite is used; one for another platform, one that no
// build has, and one that imports packages of the module do not.
func TestFilesLeftOut(t *testing.T) {
	const driver = "github.com/mattn/go-sqlite3"
	for _, c := range []struct {
		name, constraint, imported string
		seen                       int
	}{
		{"a.go", "sqlite", driver, 1}, {"a.go", "sqlite && !postgres", driver, 1}, {"a.go", "sqlite && !windows", driver, 1}, {"a_test.go", "sqlite", driver, 0},
		{"a.go", "ignore", driver, 0}, {"a.go", "tools", driver, 0}, {"a.go", "plan9", driver, 0}, {"a.go", "sqlite && wasm", driver, 0}, {"a_plan9.go", "sqlite", driver, 0}, {"a.go", "!unix", driver, 0},
		{"a.go", "sqlite", "example.org/sqlite-tools/internal/store", 0}, {"a.go", "sqlite", "example.org/sqlite-tools", 0}, {"a.go", "sqlite", "example.org/sqlite-tools2", 1},
	} {
		dir := folder(t, map[string]string{"go.mod": "module example.org/sqlite-tools\n\ngo 1.26\n", "doc.go": "package app\n",
			c.name: "//go:build " + c.constraint + "\n\npackage app\n\nimport _ \"" + c.imported + "\"\n"})
		result, err := Run(t.Context(), dir, []string{"./..."}, table(t))
		must(t, err)
		if result.Seen != c.seen || len(result.Broken) != c.seen {
			t.Errorf("%+v: got %+v", c, result)
		}
	}
}

func TestPythonNamesWhatIsNotJudged(t *testing.T) {
	needPython(t)
	for text, want := range map[string][]string{
		"from sqlalchemy.ext.asyncio import create_async_engine\ne = create_async_engine('sqlite+aiosqlite:///a.db')\n":          {"create_async_engine"},
		"from sqlalchemy.ext.asyncio import create_async_engine\ne = create_async_engine('postgresql+asyncpg://a')\n# sqlite":    nil,
		"import sqlalchemy\ne = sqlalchemy.create_engine('sqlite+pysqlcipher:///a.db')\n":                                        {"create_engine"},
		"class Settings(BaseSettings):\n  url: str = 'sqlite+aiosqlite:///a.db'\n":                                               {"an address of SQLite"},
		"url = os.getenv('URL', f'sqlite:///{x}')\n":                                                                             {"an address of SQLite"},
		"if url.startswith(('sqlite://', 'sqlite+aiosqlite://')) or 'sqlite://' in url:\n  x = url.removeprefix('sqlite:///')\n": nil,
		"url = url.replace('sqlite://', 'sqlite+aiosqlite://')\nname = url[len('sqlite:///'):]\n":                                nil,
		"url = (x or 'sqlite:///a.db').replace('sqlite://', 'file:')\n":                                                          {"an address of SQLite"},
		"from sqlalchemy import create_engine\ne = create_engine(url)  # sqlite\n":                                               {"create_engine"},
		"from sqlalchemy import create_engine\ne = create_engine(f'sqlite:///{x}?mode=ro')\n":                                    {"create_engine"},
		"from sqlalchemy import create_engine\ne = create_engine('sqlite:///a.db', connect_args=x)\n":                            {"create_engine"},
		"from sqlalchemy import create_engine\ne = create_engine('sqlite:///a.db', creator=x)\n":                                 {"create_engine"},
		"from sqlalchemy import engine_from_config\ne = engine_from_config({'sqlalchemy.url': 'sqlite:///a.db'})\n":              {"engine_from_config"},
		"app.config['SQLALCHEMY_DATABASE_URI'] = 'sqlite:///a.db?mode=ro'\n":                                                     {"SQLALCHEMY_DATABASE_URI"},
		"class Config:\n  SQLALCHEMY_DATABASE_URI = 'postgresql://a'  # no sqlite\n":                                             nil,
		"DATABASES = {'default': env.db(default='sqlite:///a.db')}\n":                                                            {"DATABASES"},
		"db = {'ENGINE': 'django.db.backends.sqlite3'}\ndb['OPTIONS'] = f()\nDATABASES = {'default': db}\n":                      {"DATABASES"},
		"def f():\n  db = {'ENGINE': 'django.db.backends.sqlite3'}\n  db['OPTIONS'] = f()\n  return {'default': db}\n":           {"DATABASES"},
		database(`"OPTIONS": json.loads(x)`):                                                                                     {"OPTIONS"},
		database(`"OPTIONS": {**x}`):                                                                                             {"OPTIONS"},
		"from sqlalchemy import create_engine\ne = create_engine(url)  # assay:ignore not-judged it is sqlite always\n":          nil,
	} {
		result, err := Configurations(t.Context(), folder(t, map[string]string{"a.py": text}), djangos())
		must(t, err)
		var got []string
		for _, u := range result.NotJudged {
			got = append(got, u.Parameter)
		}
		if !slices.Equal(got, want) || result.Checked() != (result.Seen == 0) {
			t.Errorf("%s: got %q of %+v, want %q", text, got, result, want)
		}
	}
}

// What tests configure is judged, and says nothing of what the program uses.
func TestSettingsOfTestsAreNotTheProgram(t *testing.T) {
	needPython(t)
	const changed = "db = {'ENGINE': 'django.db.backends.sqlite3'}\ndb['OPTIONS'] = f()\nDATABASES = {'default': db}\n"
	for _, c := range []struct {
		name    string
		checked bool
	}{{"tests/settings.py", false}, {"app/test_settings.py", false}, {"latest/settings.py", true}} {
		result, err := Configurations(t.Context(), folder(t, map[string]string{"settings.py": changed, c.name: database(`"NAME": "a.db"`)}), djangos())
		must(t, err)
		if result.Checked() != c.checked || result.Configurations != 2 {
			t.Errorf("%s: got checked %v of %+v, want %v", c.name, result.Checked(), result, c.checked)
		}
	}
}

// A program whose fields have many values, each made of others, is read to its end.
func TestFieldsOfEachOther(t *testing.T) {
	source := "package app\n\nimport (\n\t\"database/sql\"\n\n\t_ \"modernc.org/sqlite\"\n)\n\ntype s struct{ a, b, c, d, e, f, g, h string }\n\nfunc open(x s) {\n"
	for _, to := range "abcdefgh" {
		for _, from := range "abcdefgh" {
			source += fmt.Sprintf("\tx.%c = x.%c\n", to, from)
		}
	}
	dir := folder(t, map[string]string{"go.mod": "module example.test/app\n\ngo 1.26\n\nrequire modernc.org/sqlite v1.54.0\n\nreplace modernc.org/sqlite v1.54.0 => ./sqlite\n",
		"sqlite/go.mod": "module modernc.org/sqlite\n\ngo 1.26\n", "sqlite/sqlite.go": "package sqlite\n", "app.go": source + "\tsql.Open(\"sqlite\", x.a)\n}\n"})
	result, err := Run(t.Context(), dir, []string{"./..."}, table(t))
	must(t, err)
	if len(result.NotJudged) != 1 {
		t.Errorf("got %+v, want the DSN not judged", result)
	}
}

// What a helper of tests sets counts for nothing in the program.
func TestHelpersOfTests(t *testing.T) {
	dir := folder(t, map[string]string{"go.mod": "module example.test/app\n\ngo 1.26\n\nrequire modernc.org/sqlite v1.54.0\n\nreplace modernc.org/sqlite v1.54.0 => ./sqlite\n",
		"sqlite/go.mod": "module modernc.org/sqlite\n\ngo 1.26\n", "sqlite/sqlite.go": "package sqlite\n",
		"app.go":         "package app\n\nimport (\n\t\"database/sql\"\n\n\t_ \"modernc.org/sqlite\"\n)\n\ntype Profile struct{ DSN string }\n\nfunc Open(p Profile) { sql.Open(\"sqlite\", p.DSN) }\n",
		"test/helper.go": "package test\n\nimport (\n\t\"testing\"\n\n\t\"example.test/app\"\n)\n\nfunc Open(t *testing.T) { app.Open(app.Profile{DSN: \":memory:\"}) }\n"})
	result, err := Run(t.Context(), dir, []string{"./..."}, table(t))
	must(t, err)
	if result.Judged > 0 || len(result.NotJudged) != 1 || result.NotJudged[0].File != "app.go" {
		t.Errorf("got %d judged and %+v, want the DSN in app.go not judged", result.Judged, result.NotJudged)
	}
}

// Keys of a database beside its alias are another database to Django.
func TestDjangoKeysBesideAnAlias(t *testing.T) {
	needPython(t)
	const entry = `"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "a.db"}`
	for text, want := range map[string]int{
		"DATABASES = {" + entry + `, "OPTIONS": {"timeout": 90}}`:                        1,
		"DATABASES = {" + entry + `, "CONN_MAX_AGE": 60, "ATOMIC_REQUESTS": True}`:       2,
		"DATABASES = {" + entry + `, "replica": {"OPTIONS": {"timeout": 90}}}`:           0,
		`DATABASES = {"default": {"ENGINE": "django.db.backends.mysql"}, "OPTIONS": {}}`: 0,
		"DATABASES = {" + entry + "}\nDATABASES['OPTIONS'] = {'timeout': 90}":            1,
	} {
		result, err := Configurations(t.Context(), folder(t, map[string]string{"settings.py": text + "\n", "pyproject.toml": "[project]\ndependencies = [\"Django==5.0\"]\n"}), djangos())
		must(t, err)
		if len(result.Findings) != want || len(result.Broken) > 0 {
			t.Errorf("%s: got %+v, want %d findings", text, result, want)
		}
	}
}

func TestVersionsOfAProject(t *testing.T) {
	for text, want := range map[string][]string{
		"[project]\ndependencies = [\"gunicorn\", \"Django==5.0.14\"]\n":                           {"5.0.14"},
		"[project]\ndependencies = [\n  'django[argon2] == 5.0.14 ; python_version > \"3\"',\n]\n": {"5.0.14"},
		"[tool.poetry.dependencies]\ndjango = \"5.0.14\"\n":                                        {"5.0.14"},
		"[tool.poetry.dependencies]\ndjango = {version = \"==5.0.14\", extras = []}\n":             {"5.0.14"},
		"[project]\ndependencies = [\"Django>=5.0\", \"django-extra==1.0\"]\n":                     nil,
		"[tool.poetry.dependencies]\ndjango = \"^5.0\"\n":                                          nil,
	} {
		if got := packageVersions("pyproject.toml", text, "django"); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
