//go:build unix

package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/kit/sqlite"
)

// compareOptions returns a *failure that names each compile option which was
// asked for and is not in the build, as the engine itself says; nil where all
// are. A compiler takes whatever it is given, and a driver's own flags come
// after a user's.
func compareOptions(target assay.Target) error {
	has := map[string]string{}
	for _, option := range target.CompileOptions {
		name, value, _ := strings.Cut(strings.TrimPrefix(option, "SQLITE_"), "=")
		has[name] = value
	}
	var wrong []string
	for _, asked := range sqlite.CompileOptions(target.Options) {
		name, want, _ := strings.Cut(asked, "=")
		value, is := has[name]
		switch {
		case !is:
			wrong = append(wrong, fmt.Sprintf("compile option %s was asked for and is not in this build: it is misspelt, or %s %s does not know it or does not list it",
				asked, target.Engine, target.EngineVersion))
		case value != want && !(value == "" && want == "1") && !(value == "1" && want == ""):
			wrong = append(wrong, fmt.Sprintf("compile option %s was asked for and is %s in this build: the driver's own flags overrode it",
				asked, strings.TrimSuffix(name+"="+value, "=")))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &failure{assay.NotApplied, strings.Join(wrong, "; ")}
}

// joinFailures joins what two checks of the same kind found; nil where neither
// found anything.
func joinFailures(a, b error) error {
	var first, second *failure
	if !errors.As(a, &first) {
		return b
	}
	if !errors.As(b, &second) {
		return a
	}
	reasons := slices.Compact([]string{first.reason, second.reason})
	return &failure{assay.Worse(first.outcome, second.outcome), strings.Join(reasons, "; ")}
}
