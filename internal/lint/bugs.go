package lint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/internal/advisories"

	"golang.org/x/mod/modfile"
)

// KnownBugs finds the lock files below a folder that pin a library whose engine has a
// known fault.
func KnownBugs(ctx context.Context, dir string) (Result, error) {
	result := Result{Findings: []Finding{}}
	root := tree(dir)
	err := root.walk(ctx, &result, func(name string, _ fs.DirEntry) error {
		lockedBugs(root, name, &result)
		return nil
	})
	result.sort()
	return result, err
}

// lockedBugs notes the known faults of the libraries that a lock file pins.
func lockedBugs(root tree, name string, result *Result) {
	pinned := pinnedBy(name)
	if pinned == nil {
		return
	}
	data, err := root.read(name, maxLock)
	var libraries map[string][]string
	if err == nil {
		libraries, err = pinned(data)
	}
	if err == nil {
		noteBugs(name, string(data), libraries, result)
	} else if !errors.Is(err, fs.ErrNotExist) {
		result.Broken = append(result.Broken, name+": "+err.Error())
	}
}

// pinnedBy returns what reads the versions of libraries in a file of that path; nil where
// it is no lock file.
func pinnedBy(name string) func([]byte) (map[string][]string, error) {
	registry, file := "", path.Base(name)
	inFolder := path.Join(path.Base(path.Dir(name)), file)
	switch {
	case file == "go.mod":
		return goModules
	case file == "package-lock.json", file == "npm-shrinkwrap.json":
		registry = "npm"
	case file == "Gemfile.lock":
		registry = "gem"
	case strings.Contains(inFolder, "requirements") && strings.HasSuffix(file, ".txt"), slices.Contains([]string{"poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock"}, file):
		registry = "pypi"
	default:
		return nil
	}
	return func(data []byte) (all map[string][]string, err error) {
		all = map[string][]string{}
		for _, name := range advisories.Packages(registry) {
			if all[registry+":"+name], err = versionsIn(file, data, name); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// versionsIn are the versions of a package that a lock file names.
func versionsIn(file string, data []byte, name string) (all []string, err error) {
	switch file {
	case "package-lock.json", "npm-shrinkwrap.json":
		all, err = npmVersions(data, name)
	case "Gemfile.lock":
		all = []string{lockedGems(string(data))[name]}
	default:
		all = packageVersions(file, string(data), name)
	}
	slices.Sort(all)
	return slices.Compact(all), err
}

// goModules are the modules that a go.mod requires, as it replaces them. One that is
// replaced by a folder has no version.
func goModules(data []byte) (map[string][]string, error) {
	mod, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, r := range mod.Require {
		all[r.Mod.Path] = []string{r.Mod.Version}
	}
	for _, r := range mod.Replace {
		if versions := all[r.Old.Path]; versions != nil && (r.Old.Version == "" || r.Old.Version == versions[0]) {
			delete(all, r.Old.Path)
			if r.New.Version != "" {
				all[r.New.Path] = []string{r.New.Version}
			}
		}
	}
	// zombiezen and glebarez are made of this module: its version decides.
	if all["modernc.org/sqlite"] != nil {
		delete(all, "zombiezen.com/go/sqlite")
		delete(all, "github.com/glebarez/go-sqlite")
	}
	return all, nil
}

const npmFolder = "node_modules/"

// npmVersions are the versions of a package that a package-lock.json installs, by whatever
// name.
func npmVersions(data []byte, name string) ([]string, error) {
	var lock struct {
		npmPackage
		Packages map[string]struct{ Name, Version string }
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, err
	}
	versions := lock.find(name)
	for folder, p := range lock.Packages {
		at := strings.LastIndex(folder, npmFolder)
		if at >= 0 && cmp.Or(p.Name, folder[at+len(npmFolder):]) == name { // others are the project's own
			versions = append(versions, p.Version)
		}
	}
	return versions, nil
}

// npmPackage is a package as lock files before npm 7 nest them.
type npmPackage struct {
	Version      string
	Dependencies map[string]npmPackage
}

func (p npmPackage) find(name string) (versions []string) {
	for dependency, of := range p.Dependencies {
		version := of.Version
		if other, renamed := strings.CutPrefix(version, "npm:"); renamed {
			at := strings.LastIndex(other, "@")
			dependency, version = other[:max(0, at)], other[at+1:]
		}
		if dependency == name {
			versions = append(versions, version)
		}
		versions = append(versions, of.find(name)...)
	}
	return versions
}

// lockFiles are the files that pin the libraries of an ecosystem, as package URLs name it: what
// was installed before what was asked for.
var lockFiles = map[string][]string{
	"pypi":  {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.txt", "pyproject.toml"},
	"npm":   {"npm-shrinkwrap.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "package.json"},
	"cargo": {"Cargo.lock", "Cargo.toml"},
}

// LockFiles are the names of all of them, and go.mod.
func LockFiles() []string {
	all := []string{"go.mod"}
	for _, names := range lockFiles {
		all = append(all, names...)
	}
	slices.Sort(all)
	return all
}

// Pin says where an application pins a library.
type Pin struct {
	File, Version string // the file's name, empty: nothing names it; one version, or what a line asks for
	Line          int
}

// included is the file of requirements that another one includes.
var included = regexp.MustCompile(`(?m)^(?:-r|-c|--requirement|--constraint)[ =]*([^\s#]+)`)

// FindPin finds where the files of a folder, which read returns by name, pin a library such as
// pypi:apsw. Without a version, the pin is the first line that asks for it, such as for a range.
func FindPin(library string, read func(name string) ([]byte, error)) (Pin, error) {
	ecosystem, plain, _ := strings.Cut(library, ":")
	name := regexp.QuoteMeta(plain)
	asks := regexp.MustCompile(`(?mi)^[^#\n]*?(?:^|["' \t\[.])(` + name + `(?:["']?[ \t]*(?:` +
		`=[ \t]*\{[^}\n]*\bgit[ \t]*=[^}\n]*\}|` + // name = { git = "https://...", rev = "1" }
		`[=:][ \t]*\{[^}\n]*?\bversion[ \t]*=[ \t]*["'][^"'\n]*["']|` + // name = { version = ">=1" }
		`[=:][ \t]*["'][^"'\n]*["']|` + // name = "^1", "name": "^1"
		`(?:\[[^\]\n]*\][ \t]*)?[=<>~!^@][^"';#\n]*|\r?$)|` + // name[extra]>=1,<2, name @ https://..., name
		`\][ \t]*\n[^\[]*))`) // [dependencies.name]
	foreign := regexp.MustCompile(`(?mi)^name = "` + name + `"\r?\n(?:(?:[^\[\n]|\[[^\[\n]).*\n|\n)*?` + // of a package in TOML
		`(?:source = ("git[^"\n]*"|\{ *(?:git|url|path)[^}\n]*\})|resolved_reference = ("[^"\n]*"))|` +
		`node_modules/` + name + `": *\{[^{}]*?"resolved": *("(?:git|file)[^"\n]*")`)
	var asked Pin
	files := slices.Clone(lockFiles[ecosystem])
	for i := 0; i < len(files); i++ {
		file := files[i]
		data, err := read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Pin{}, err
		}
		if strings.HasSuffix(file, ".txt") {
			for _, match := range included.FindAllSubmatch(data, -1) {
				if other := path.Join(path.Dir(file), string(match[1])); filepath.IsLocal(other) && !slices.Contains(files, other) {
					files = slices.Insert(files, i+1, other)
				}
			}
		}
		versions, err := versionsIn(file, data, plain)
		if err != nil {
			return Pin{}, fmt.Errorf("%s: %w", file, err)
		}
		if len(versions) > 0 {
			pin := Pin{file, strings.Join(versions, " and "), lineWith(string(data), plain, versions[0])}
			if source := foreign.FindSubmatch(data); source != nil {
				pin.Version += " of " + string(bytes.Join(source[1:], nil))
			}
			return pin, nil
		}
		if at := asks.FindSubmatchIndex(data); at != nil && asked.File == "" {
			asked = Pin{file, strings.Join(strings.Fields(strings.TrimRight(string(data[at[2]:at[3]]), " \t\r\n,")), " "), 1 + bytes.Count(data[:at[2]], []byte("\n"))}
		}
	}
	return asked, nil
}

// noteBugs judges libraries at the versions that a file pins.
func noteBugs(file, text string, libraries map[string][]string, result *Result) {
	for _, library := range slices.Sorted(maps.Keys(libraries)) {
		for _, version := range libraries[library] {
			b, known := advisories.Pinned(library, version)
			if version == "" || !known && b.Engine == "" && len(advisories.Of(b)) == 0 {
				continue
			}
			_, name, isPackage := strings.Cut(library, ":")
			if !isPackage {
				name = library
			}
			line := lineWith(text, name, strings.TrimPrefix(version, "v"))
			if !known {
				b.Engine, b.EngineVersion = "", ""
			}
			for _, bug := range advisories.Of(b) {
				if bug.Attached { // few programs attach databases, and a lock file does not tell
					continue
				}
				result.Findings = append(result.Findings, Finding{KnownBug.ID, KnownBug.Severity, file, line, 1,
					fmt.Sprintf("%s %s has %s: %s", name, version, b.Name(bug), bug.Sentence()), bug.URL})
			}
			if b.Engine != "" && !b.Decided() || !known && library != "go.etcd.io/bbolt" {
				result.NotJudged = append(result.NotJudged, Unjudged{file, line, 1, name, version, "known-bug", "which SQLite this version has is not known"})
			}
		}
	}
}

// lineWith is the line that has both words, or else the first that has the first one, or 1.
func lineWith(text, name, version string) int {
	found, n := 1, 0
	for line := range strings.Lines(text) {
		n++
		if !strings.Contains(line, name) {
			continue
		}
		if strings.Contains(line, version) {
			return n
		}
		if found == 1 {
			found = n
		}
	}
	return found
}
