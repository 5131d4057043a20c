package lint

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Lock files of many kinds: a fault is found where the version has it for sure, nothing
// where it has it not, and what nobody knows is listed as not judged.
func TestKnownBugsInLockFiles(t *testing.T) {
	const wal, savepoint, windows, last = "https://www.sqlite.org/wal.html#walresetbug", "https://www.sqlite.org/releaselog/3_50_2.html", "https://github.com/ncruces/go-sqlite3/releases/tag/v0.35.3",
		"https://github.com/etcd-io/bbolt/blob/main/CHANGELOG/CHANGELOG-1.3.md"
	const withdrawn = "https://www.sqlite.org/changes.html"
	goMod := func(lines string) string { return "module x\n\ngo 1.24\n\n" + lines }
	for name, c := range map[string]struct {
		file, text string
		found      []string
		line       int
		notJudged  int
	}{
		"mattn, affected":          {"go.mod", goMod("require github.com/mattn/go-sqlite3 v1.14.22\n"), []string{savepoint, wal}, 5, 0},
		"mattn, fixed":             {"go.mod", goMod("require github.com/mattn/go-sqlite3 v1.14.53\n"), nil, 0, 0},
		"mattn, never looked at":   {"go.mod", goMod("require github.com/mattn/go-sqlite3 v1.10.0\n"), nil, 0, 1},
		"modernc, if it attaches":  {"go.mod", goMod("require modernc.org/sqlite v1.54.0\n"), nil, 0, 0},
		"modernc, backport":        {"go.mod", goMod("require modernc.org/sqlite v1.39.0\n"), nil, 0, 1},
		"zombiezen, affected":      {"go.mod", goMod("require zombiezen.com/go/sqlite v1.4.2\n"), []string{savepoint, wal}, 5, 0},
		"zombiezen on a newer one": {"go.mod", goMod("require (\n\tzombiezen.com/go/sqlite v1.4.2\n\tmodernc.org/sqlite v1.62.0 // indirect\n)\n"), nil, 0, 0},
		"replaced by a newer one":  {"go.mod", goMod("require github.com/mattn/go-sqlite3 v1.14.22\nreplace github.com/mattn/go-sqlite3 => github.com/mattn/go-sqlite3 v1.14.53\n"), nil, 0, 0},
		"replaced by a folder":     {"go.mod", goMod("require github.com/mattn/go-sqlite3 v1.14.22\nreplace github.com/mattn/go-sqlite3 => ../fork\n"), nil, 0, 0},
		"ncruces for Windows":      {"go.mod", goMod("require github.com/ncruces/go-sqlite3 v0.35.0\n"), []string{windows}, 5, 0},
		"bbolt":                    {"go.mod", goMod("require go.etcd.io/bbolt v1.3.6\n"), []string{last}, 5, 0},
		"bbolt, fixed":             {"go.mod", goMod("require go.etcd.io/bbolt v1.5.0\n"), nil, 0, 0},
		"another module":           {"go.mod", goMod("require example.com/sqlite v1.4.2\n"), nil, 0, 0},
		"apsw, affected":           {"requirements.txt", "django==5.2\napsw==3.49.2.0\n", []string{savepoint, wal}, 2, 0},
		"apsw, backport":           {"requirements.txt", "apsw==3.50.7.0\n", nil, 0, 0},
		"apsw, older backport":     {"requirements-dev.txt", "apsw==3.44.6.0\n", nil, 0, 0},
		"npm, affected":            {"package-lock.json", `{"packages": {"": {}, "node_modules/better-sqlite3": {"version": "12.6.2"}}}`, []string{wal}, 1, 0},
		"npm, fixed":               {"package-lock.json", `{"packages": {"node_modules/better-sqlite3": {"version": "12.11.1"}}}`, nil, 0, 0},
		"npm, never looked at":     {"package-lock.json", `{"packages": {"node_modules/better-sqlite3": {"version": "5.0.0"}}}`, nil, 0, 1},
		"npm, withdrawn":           {"package-lock.json", `{"packages": {"node_modules/sqlite3": {"version": "6.0.1"}}}`, []string{withdrawn}, 1, 0},
		"npm, older, another name": {"package-lock.json", `{"dependencies": {"db": {"version": "npm:better-sqlite3@12.6.2"}}}`, []string{wal}, 1, 0},
		"npm, the project itself":  {"package-lock.json", `{"packages": {"": {"name": "better-sqlite3", "version": "12.6.2"}}}`, nil, 0, 0},
		"npm, not by that name":    {"package-lock.json", `{"dependencies": {"better-sqlite3": {"version": "npm:other@12.6.2"}}}`, nil, 0, 0},
		"npm, by another name":     {"npm-shrinkwrap.json", `{"packages": {"node_modules/db": {"name": "better-sqlite3", "version": "12.6.2"}}}`, []string{wal}, 1, 0},
		"npm, nested":              {"package-lock.json", `{"dependencies": {"app": {"version": "1.0.0", "dependencies": {"better-sqlite3": {"version": "12.6.2"}}}}}`, []string{wal}, 1, 0},
		"apsw, in a folder":        {"requirements/prod.txt", "apsw==3.49.2.0\n", []string{savepoint, wal}, 1, 0},
		"mattn, at a commit":       {"go.mod", goMod("require github.com/mattn/go-sqlite3 v1.14.23-0.20240901000000-abcdefabcdef\n"), nil, 0, 1},
		"gem, affected":            {"Gemfile.lock", "GEM\n  remote: x\n  specs:\n    sqlite3 (1.7.3)\n", []string{savepoint, wal}, 4, 0},
		"gem, newer, affected":     {"Gemfile.lock", "GEM\n  remote: x\n  specs:\n    sqlite3 (2.7.3-x86_64-linux-gnu)\n", []string{wal}, 4, 0},
		"gem, fixed":               {"Gemfile.lock", "GEM\n  remote: x\n  specs:\n    sqlite3 (2.9.6)\n", nil, 0, 0},
		"gem, never looked at":     {"Gemfile.lock", "GEM\n  remote: x\n  specs:\n    sqlite3 (9.9.9)\n", nil, 0, 1},
		"gem, of git":              {"Gemfile.lock", "GIT\n  remote: x\n  specs:\n    sqlite3 (1.7.3)\n", nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(c.file)), 0o755))
			must(t, os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644))
			result, err := KnownBugs(t.Context(), dir)
			must(t, err)
			var found []string
			for _, f := range result.Findings {
				found = append(found, f.Docs)
				if f.Rule != KnownBug.ID || f.Line != c.line || f.File != c.file {
					t.Errorf("got %+v, want rule %s at %s:%d", f, KnownBug.ID, c.file, c.line)
				}
			}
			if !slices.Equal(found, c.found) || len(result.NotJudged) != c.notJudged || len(result.Broken) > 0 {
				t.Errorf("found %v, not judged %+v, broken %v; want %v, %d, none", found, result.NotJudged, result.Broken, c.found, c.notJudged)
			}
		})
	}
}
