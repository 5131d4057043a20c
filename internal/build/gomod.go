package build

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
)

const kitModule = "assay/kit"

// goMod is what builds need to know of a go.mod file.
type goMod struct {
	module   string
	language string // the go line
	requires map[string]string
}

// parseGoMod reads a go.mod file. It does so without the go command, so that
// drivers can be listed where Go is not installed.
func parseGoMod(data []byte) (goMod, error) {
	mod := goMod{requires: map[string]string{}}
	block := ""
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0] == ")":
			block = ""
		case len(words) == 2 && words[1] == "(":
			block = words[0]
		case block != "":
			mod.add(block, words)
		default:
			mod.add(words[0], words[1:])
		}
	}
	if mod.module == "" {
		return goMod{}, fmt.Errorf("no module line")
	}
	return mod, nil
}

func (m *goMod) add(verb string, words []string) {
	for i, word := range words {
		if plain, err := strconv.Unquote(word); err == nil {
			words[i] = plain
		}
	}
	switch {
	case verb == "module" && len(words) == 1:
		m.module = words[0]
	case verb == "go" && len(words) == 1:
		m.language = words[0]
	case verb == "require" && len(words) == 2:
		m.requires[words[0]] = words[1]
	}
}

// provider returns the required module that an imported package is in, or
// nothing.
func (m goMod) provider(path string) string {
	found := ""
	for module := range m.requires {
		if (path == module || strings.HasPrefix(path, module+"/")) && len(module) > len(found) {
			found = module
		}
	}
	return found
}

// onlyDriver returns a go.mod that requires kit and the driver at a version,
// and nothing else: what the driver needs is resolved anew. Kept lines would
// mix one version of the driver with what another was made with. With a folder,
// the version is what lies there.
func (m goMod) onlyDriver(module, version, folder string) []byte {
	text := fmt.Appendf(nil, "module %s\n\ngo %s\n\nrequire (\n\t%s %s\n\t%s %s\n)\n\nreplace %s => ../../kit\n",
		m.module, m.language, kitModule, cmp.Or(m.requires[kitModule], "v0.0.0"), module, version, kitModule)
	if folder != "" {
		text = fmt.Appendf(text, "\nreplace %s => %s\n", module, modfile.AutoQuote(folder))
	}
	return text
}

// sameVersion lists modules that must be resolved to the very version that a
// driver asks for. The libc of modernc.org is made together with the code
// that calls it.
var sameVersion = []string{"modernc.org/libc"}

// moved compares what a driver's go.mod requires with what was resolved, and
// returns a line for each module that does not fit. Modules that did not get
// into the program are left out.
func (m goMod) moved(resolved map[string]string) []string {
	var lines []string
	for module, want := range m.requires {
		got, ok := resolved[module]
		switch {
		case !ok || got == want:
		case slices.Contains(sameVersion, module):
			lines = append(lines, fmt.Sprintf("%s is %s, the driver was made with %s", module, got, want))
		case compareVersions(got, want) < 0:
			lines = append(lines, fmt.Sprintf("%s is %s, the driver needs at least %s", module, got, want))
		}
	}
	slices.Sort(lines)
	return lines
}

// compareVersions orders module versions by the rules of semantic versioning.
func compareVersions(a, b string) int {
	aRelease, aPre := splitVersion(a)
	bRelease, bPre := splitVersion(b)
	if c := slices.CompareFunc(aRelease, bRelease, compareIdentifiers); c != 0 {
		return c
	}
	if len(aPre) == 0 || len(bPre) == 0 { // a release is newer than what led to it
		return cmp.Compare(len(bPre), len(aPre))
	}
	return slices.CompareFunc(aPre, bPre, compareIdentifiers)
}

func splitVersion(v string) (release, pre []string) {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "+")
	v, rest, found := strings.Cut(v, "-")
	if found {
		pre = strings.Split(rest, ".")
	}
	return strings.Split(v, "."), pre
}

// compareIdentifiers orders numbers by value and before all others. Versions
// have no leading zeros, so the longer number is the higher one.
func compareIdentifiers(a, b string) int {
	aNumber, bNumber := isNumber(a), isNumber(b)
	switch {
	case aNumber && bNumber:
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case aNumber:
		return -1
	case bNumber:
		return 1
	}
	return cmp.Compare(a, b)
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }
