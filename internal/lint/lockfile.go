package lint

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/internal/lint/facts"
)

// release is the version of a library that a lock file names, and that of the
// driver beneath it; empty where it names none.
type release struct {
	version, driver string
	changed         string   // what may change the library's adapter of SQLite
	refused         []string // why lock files were not read
}

// is reports whether facts are of this release: 2.0 is 2.0.0.
func (r release) is(l facts.Facts) bool {
	return facts.Compare(r.version, l.Version) == 0 && facts.Compare(r.driver, l.Beneath) == 0
}

// title is the library at its release, in a sentence.
func (r release) title(library string) string {
	if r.driver == "" {
		return library + " " + r.version
	}
	return library + " " + r.version + " with sqlite3 " + r.driver
}

// lockNames are the files that name a library's version.
func lockNames(library string) string {
	if library == facts.ActiveRecord {
		return "Gemfile.lock"
	}
	return "requirements.txt or pyproject.toml (with ==), poetry.lock, uv.lock, pdm.lock or Pipfile.lock"
}

// locked finds the release of a library in the lock file nearest to a folder, in
// it or above it.
func locked(root tree, dir, library string) release {
	var refused []string
	for {
		r := lockedIn(root, dir, library)
		refused = append(refused, r.refused...)
		if r.version != "" || r.changed != "" || dir == "." {
			r.refused = refused
			return r
		}
		dir = path.Dir(dir)
	}
}

func lockedIn(root tree, dir, library string) release {
	if library != facts.ActiveRecord {
		return lockedPackage(root, dir, library)
	}
	data, err := root.read(path.Join(dir, "Gemfile.lock"), maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return release{}
	}
	if err != nil {
		return release{refused: []string{err.Error()}}
	}
	gems := lockedGems(string(data))
	return release{version: gems[facts.ActiveRecord], driver: gems["sqlite3"], changed: cmp.Or(forked(string(data)), changedAdapter(root, dir, gems))}
}

// changedAdapter names a gem, or a file of the application, that may change what
// ActiveRecord does with its configuration of SQLite; empty: there is none.
func changedAdapter(root tree, dir string, gems map[string]string) string {
	for _, gem := range slices.Sorted(maps.Keys(gems)) {
		if gem != "sqlite3" && strings.Contains(gem, "sqlite") || gem == "litestack" {
			return "the gem " + gem
		}
	}
	for _, pattern := range []string{"config/*.rb", "config/initializers/*.rb", "lib/*.rb", "lib/*/*.rb"} {
		for _, file := range root.glob(dir, pattern) {
			data, err := root.read(file, maxFile)
			if err == nil && bytes.Contains(data, []byte("SQLite3Adapter")) {
				return file
			}
		}
	}
	return ""
}

var (
	gemLine = regexp.MustCompile(`^    ([a-z0-9_-]+) \(([0-9][^-)]*)`)
	// own are the repositories of the gems themselves.
	own = map[string]*regexp.Regexp{facts.ActiveRecord: regexp.MustCompile(`[/:]rails/rails(\.git)?/?$`), "sqlite3": regexp.MustCompile(`[/:]sparklemotion/sqlite3-ruby(\.git)?/?$`)}
)

// lockedGem is a gem in a Gemfile.lock, and the section and the address that it is from.
type lockedGem struct{ name, version, section, remote string }

func gemsOf(text string) (all []lockedGem) {
	section, remote := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line != "" && line[0] != ' ' {
			section = line
		}
		if at, ok := strings.CutPrefix(line, "  remote: "); ok {
			remote = at
		}
		if match := gemLine.FindStringSubmatch(line); match != nil {
			all = append(all, lockedGem{match[1], match[2], section, remote})
		}
	}
	return all
}

// lockedGems are the versions in a Gemfile.lock, of gems from a server, or from their own
// repository.
func lockedGems(text string) map[string]string {
	gems := map[string]string{}
	for _, g := range gemsOf(text) {
		if (g.section == "GEM" || g.section == "GIT" && own[g.name] != nil && own[g.name].MatchString(g.remote)) && gems[g.name] == "" {
			gems[g.name] = g.version
		}
	}
	return gems
}

// forked names what has ActiveRecord or sqlite3 from a repository or a folder that is not its
// own: that need not be what its version says.
func forked(text string) string {
	for _, g := range gemsOf(text) {
		if pattern := own[g.name]; pattern != nil && (g.section == "PATH" || g.section == "GIT" && !pattern.MatchString(g.remote)) {
			return fmt.Sprintf("%s %s from %s", g.name, g.version, g.remote)
		}
	}
	return ""
}

// lockedPackage is the version of a package for Python that the files of a folder
// name; empty where they name none, or several.
func lockedPackage(root tree, dir, name string) release {
	var r release
	found := map[string]bool{}
	for _, pattern := range []string{"requirements*.txt", "requirements/*.txt", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "pyproject.toml"} {
		if pattern == "pyproject.toml" && len(found) > 0 { // lock files say which it became
			break
		}
		for _, file := range root.glob(dir, pattern) {
			data, err := root.read(file, maxLock)
			if err != nil {
				r.refused = append(r.refused, err.Error())
				continue
			}
			for _, version := range packageVersions(path.Base(file), string(data), name) {
				found[version] = true
			}
		}
	}
	if len(found) == 1 {
		r.version = slices.Collect(maps.Keys(found))[0]
	}
	return r
}

var (
	requirement = regexp.MustCompile(`(?mi)^[ \t]*([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?[ \t]*==[ \t]*([0-9][0-9a-z.]*)[ \t]*(?:[;#\\\r]|$)`)
	lockedEntry = regexp.MustCompile(`(?m)^name = "([^"]+)"\r?\nversion = "([^"]+)"`)
	project     = regexp.MustCompile(`(?mi)^[ \t]*["']?([a-z0-9][a-z0-9._-]*)["']?[ \t]*=[ \t]*(?:\{[^}\n]*\bversion[ \t]*=[ \t]*)?["']={0,2}[ \t]*([0-9][0-9a-z.]*)["']|["']([a-z0-9][a-z0-9._-]*)(?:\[[^\]]*\])?[ \t]*==[ \t]*([0-9][0-9a-z.]*)[ \t]*["';]`)
	// patterns are those of other files.
	patterns = map[string]*regexp.Regexp{
		"pyproject.toml": project, "Cargo.toml": project,
		"package.json":   regexp.MustCompile(`"([^"]+)"\s*:\s*"([0-9][^"\s]*)"`),
		"Pipfile.lock":   regexp.MustCompile(`(?s)"([a-zA-Z0-9._-]+)": \{[^{}]*?"version": "==([^"]+)"`),
		"yarn.lock":      regexp.MustCompile(`(?m)^"?(@?[^@"\s]+)@[^\n]*:\r?\n +version:? "?([^"\s]+)`),
		"pnpm-lock.yaml": regexp.MustCompile(`(?m)^  '?/?(@?[^@'(\s:]+?)[@/]([0-9][^:_('\s]*)`),
		"bun.lock":       regexp.MustCompile(`": \["(@?[^@"]+)@([0-9][^"]*)"`),
	}
)

// packageVersions are the versions of a package that a file names: several where
// they depend on the system or on Python's version.
func packageVersions(file, text, name string) []string {
	pattern := patterns[file]
	if strings.HasSuffix(file, ".txt") {
		pattern = requirement
	}
	var all []string
	for _, match := range cmp.Or(pattern, lockedEntry).FindAllStringSubmatch(text, -1) {
		for i := 1; i+1 < len(match); i += 2 {
			if strings.EqualFold(match[i], name) {
				all = append(all, match[i+1])
			}
		}
	}
	return all
}
