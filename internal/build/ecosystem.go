package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

// Ecosystem says where a driver's library is published, as package URLs name it.
type Ecosystem string

// The ecosystems.
const (
	Go    Ecosystem = "go"
	PyPI  Ecosystem = "pypi"
	NPM   Ecosystem = "npm"
	Cargo Ecosystem = "cargo"
)

// ecosystem says how a build takes another version of a library, and what its versions are.
type ecosystem struct {
	manifest string // the file of a worker's folder that names packages at versions
	lock     string // the file that is of these versions only; empty: there is none
	section  string // after which the packages are named; empty: the manifest has nothing else
	named    *regexp.Regexp
	whole    string // the manifest of one package and its version; empty: the version is replaced
	exact    string // what stands before a version that is to be this one
	version  *regexp.Regexp
	example  string
	absent   *regexp.Regexp // what its tool says where nobody published a version
	order    func(a, b string) int
}

var (
	fullVersion = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,20}(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$`)
	ecosystems  = map[Ecosystem]ecosystem{
		Go: {manifest: "go.mod", version: versionPattern, example: "v1.2.3", order: semver.Compare},
		PyPI: {manifest: "requirements.txt", named: regexp.MustCompile(`(?m)^([A-Za-z0-9][A-Za-z0-9._-]*)==([0-9][0-9A-Za-z.]*)`), whole: "%s==%s\n",
			version: regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9}){0,4}((a|b|rc)[0-9]{1,9})?(\.post[0-9]{1,9})?(\.dev[0-9]{1,9})?$`), example: "1.2.3",
			absent: regexp.MustCompile(`No matching distribution found`), order: comparePython},
		NPM: {manifest: "package.json", lock: "package-lock.json", section: `"dependencies"`, named: regexp.MustCompile(`"([^"]+)"\s*:\s*"([0-9][^"]*)"`),
			version: fullVersion, example: "1.2.3", absent: regexp.MustCompile(`ETARGET|No matching version found`), order: compareSemantic},
		Cargo: {manifest: "Cargo.toml", lock: "Cargo.lock", section: "[dependencies]", exact: "=",
			named:   regexp.MustCompile(`(?m)^([A-Za-z0-9_-]+)\s*=\s*(?:\{[^}\n]*?\bversion\s*=\s*)?"(=?[0-9][^"]*)"`),
			version: fullVersion, example: "1.2.3", absent: regexp.MustCompile(`failed to select a version for the requirement`), order: compareSemantic},
	}
)

// Compare orders versions, older ones first.
func (e Ecosystem) Compare(a, b string) int { return ecosystems[e].order(a, b) }

// IsVersion reports whether a text is a whole version.
func (e Ecosystem) IsVersion(text string) bool {
	own, known := ecosystems[e]
	return known && own.version.MatchString(text)
}

// early matches what makes a version one before a release.
var early = regexp.MustCompile(`^v?[0-9.]+(-|\.?(a|b|rc|dev)[0-9])`)

// Released reports whether a version is none before a release.
func (e Ecosystem) Released(version string) bool { return !early.MatchString(version) }

func compareSemantic(a, b string) int { return semver.Compare("v"+a, "v"+b) }

// pythonPart matches a number of a version, or what makes a release an early or a late one.
var pythonPart = regexp.MustCompile(`[0-9]+|[a-z]+`)

// comparePython orders versions of Python's packages: 1.0 is 1.0.0, and 1.0.dev1, 1.0a1,
// 1.0b1, 1.0rc1, 1.0 and 1.0.post1 follow each other.
func comparePython(a, b string) int {
	x, y := pythonPart.FindAllString(a, -1), pythonPart.FindAllString(b, -1)
	for i := range max(len(x), len(y)) {
		if c := cmp.Compare(pythonRank(x, i), pythonRank(y, i)); c != 0 {
			return c
		}
	}
	return 0
}

// endingZeros are the parts that pip adds or leaves out: 3.46.0 and 3.46.0.0 are one version.
var endingZeros = regexp.MustCompile(`(\.0+)+$`)

// pythonRank is the place of a part of a version among others.
func pythonRank(parts []string, i int) float64 {
	if i >= len(parts) {
		return 0
	}
	if at := slices.Index([]string{"dev", "a", "b", "rc"}, parts[i]); at >= 0 {
		return float64(at) - 4
	}
	if parts[i] == "post" {
		return 0.5
	}
	number, _ := strconv.ParseFloat(parts[i], 64) // it is digits
	return number
}

// library finds the library that a worker's lock files pin: the package with the worker's
// name, or py before it, or else the only one.
func (d *Driver) library() {
	for name, e := range ecosystems {
		text, err := os.ReadFile(filepath.Join(d.Dir, e.manifest))
		if err != nil || e.named == nil {
			continue
		}
		packages := e.packages(string(text))
		at := slices.IndexFunc(packages, func(p [2]string) bool { return p[0] == d.Name || p[0] == "py"+d.Name })
		if at < 0 && len(packages) == 1 {
			at = 0
		}
		if at >= 0 {
			d.Ecosystem, d.Package, d.Pinned = name, packages[at][0], strings.TrimPrefix(packages[at][1], e.exact)
		}
	}
}

// packages are the names and versions that a manifest has.
func (e ecosystem) packages(manifest string) (all [][2]string) {
	for _, at := range e.found(manifest) {
		all = append(all, [2]string{manifest[at[2]:at[3]], manifest[at[4]:at[5]]})
	}
	return all
}

// found are the places of names and versions in a manifest.
func (e ecosystem) found(manifest string) [][]int {
	start := max(0, strings.Index(manifest, e.section))
	all := e.named.FindAllStringSubmatchIndex(manifest[start:], -1)
	for _, places := range all {
		for i := range places {
			places[i] += start
		}
	}
	return all
}

// asked is the version of its library that a script's worker is asked to install; empty: none is.
// After its @ there can be the name of another driver, too.
func (d Driver) asked(version string) string {
	if d.Package == "" || d.Ecosystem == Go || !isVersion(version) {
		return ""
	}
	return version
}

// checkVersion refuses what is no version of the library.
func (d Driver) checkVersion(version string) error {
	switch {
	case version == "":
		return nil
	case d.Package == "":
		return &SpecError{fmt.Errorf("it is of no registry, so it has no versions: ask for %s", d.Name)}
	case !d.Ecosystem.IsVersion(version):
		return &SpecError{fmt.Errorf("%q is not a version of %s: want a full one, such as %s@%s", version, d.Package, d.Name, ecosystems[d.Ecosystem].example)}
	}
	return nil
}

// workerAt are a worker's files for the version of its library that a spec asks for: what that
// needs is resolved anew, as for one who installs it today. The pinned version is no other one,
// and leaves the spec. All spellings of a version become one.
func (s Source) workerAt(d Driver, spec *Spec) (tree, error) {
	files, err := s.worker(d)
	if err != nil || spec.Version == "" || !d.Prebuilt && d.asked(spec.Version) == "" {
		return files, err
	}
	if err := d.checkVersion(spec.Version); err != nil {
		return nil, err
	}
	if d.Ecosystem.Compare(spec.Version, d.Pinned) == 0 {
		spec.Version = ""
		return files, nil
	}
	if d.Ecosystem == PyPI {
		spec.Version = endingZeros.ReplaceAllString(spec.Version, "")
	}
	e := ecosystems[d.Ecosystem]
	folder := "workers/" + d.Name + "/"
	var changed tree
	for _, f := range files {
		switch f.path {
		case folder + e.lock:
			continue
		case folder + e.manifest:
			f.data = e.at(string(f.data), d.Package, spec.Version)
		}
		changed = append(changed, f)
	}
	return changed, nil
}

// at is a manifest with a package at a version.
func (e ecosystem) at(manifest, name, version string) []byte {
	if e.whole != "" {
		return fmt.Appendf(nil, e.whole, name, version)
	}
	for _, at := range e.found(manifest) {
		if manifest[at[2]:at[3]] == name {
			return []byte(manifest[:at[4]] + e.exact + version + manifest[at[5]:])
		}
	}
	return []byte(manifest)
}

// unpublished makes an installer's error one of the version that was asked for, where it says
// that there is none.
func (b *Builder) unpublished(ctx context.Context, d Driver, version string, err error) error {
	absent := ecosystems[d.Ecosystem].absent
	failed, is := errors.AsType[*commandError](err)
	if !is || version == "" || absent == nil || !absent.MatchString(failed.said) || errors.Is(err, ErrUnreachable) {
		return err
	}
	all, problem := b.Versions(ctx, d)
	if problem != nil {
		return &SpecError{err}
	}
	at, found := slices.BinarySearchFunc(all, version, d.Ecosystem.Compare)
	if found && strings.Contains(failed.said, "version "+version+" is yanked") {
		return &SpecError{fmt.Errorf("%s %s was withdrawn", d.Package, version)}
	}
	if found {
		return &SpecError{fmt.Errorf("%s %s is published, and not for this machine: %w", d.Package, version, err)}
	}
	return &SpecError{fmt.Errorf("there is no %s %s; the nearest are %s", d.Package, version, strings.Join(all[max(0, at-2):min(len(all), at+2)], ", "))}
}

// Versions are the published versions of a driver's library, older ones first.
func (b *Builder) Versions(ctx context.Context, d Driver) ([]string, error) {
	var said string
	var err error
	switch {
	case d.Ecosystem == "":
		return nil, &SpecError{fmt.Errorf("driver %s has no versions: no registry has its library", d.Name)}
	case d.Ecosystem == Go:
		var out []byte
		out, err = run(ctx, d.Dir, []string{"GOWORK=off", "GOFLAGS=-mod=readonly"}, "list", "-m", "-versions", d.Package)
		said = strings.TrimPrefix(string(out), d.Package)
	default:
		said, err = installerSays(ctx, d.Dir, "versions", d.Package)
	}
	if err != nil {
		return nil, fmt.Errorf("list the versions of %s: %w", d.Package, err)
	}
	all := slices.DeleteFunc(strings.Fields(said), func(version string) bool { return !d.Ecosystem.IsVersion(version) })
	slices.SortFunc(all, d.Ecosystem.Compare)
	return slices.Compact(all), nil
}
