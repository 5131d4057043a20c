package build

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

const kitModule = "assay/kit"

// goMod holds what builds need to know of a go.mod file.
type goMod struct {
	module   string
	language string // the go line
	requires map[string]string
}

// parseGoMod reads a go.mod file. It does so without the go command, so that
// drivers can be listed where Go is not installed.
func parseGoMod(data []byte) (goMod, error) {
	file, err := modfile.ParseLax("go.mod", data, nil)
	if err != nil {
		return goMod{}, err
	}
	if file.Module == nil || file.Module.Mod.Path == "" {
		return goMod{}, errors.New("no module line")
	}
	mod := goMod{module: file.Module.Mod.Path, requires: map[string]string{}}
	if file.Go != nil {
		mod.language = file.Go.Version
	}
	for _, r := range file.Require {
		mod.requires[r.Mod.Path] = r.Mod.Version
	}
	return mod, nil
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

// onlyDriver returns a go.mod that requires kit and the modules of a driver,
// and nothing else: what the driver needs is resolved anew. Kept lines would
// mix one version of the driver with what another was made with. With a checkout,
// the version is what lies there.
func (m goMod) onlyDriver(modules []string, checkout Checkout) []byte {
	text := fmt.Appendf(nil, "module %s\n\ngo %s\n\nrequire %s %s\n\nreplace %s => ../../kit\n",
		m.module, m.language, kitModule, cmp.Or(m.requires[kitModule], "v0.0.0"), kitModule)
	for _, module := range modules {
		text = fmt.Appendf(text, "\nrequire %s\n", strings.Replace(module, "@", " ", 1))
	}
	if checkout.Dir != "" {
		text = fmt.Appendf(text, "\nreplace %s => %s\n", checkout.Module, modfile.AutoQuote(checkout.Dir))
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
		case semver.Compare(got, want) < 0:
			lines = append(lines, fmt.Sprintf("%s is %s, the driver needs at least %s", module, got, want))
		}
	}
	slices.Sort(lines)
	return lines
}
