package build

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// toolchain is the Go version and the settings that change what it makes.
type toolchain map[string]string

var toolchainVariables = []string{"GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM", "GOARM64",
	"GOEXPERIMENT", "GOFLAGS", "CGO_ENABLED", "CC", "CXX", "CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS"}

// findToolchain asks the go command, in the folder of a worker because a
// go.mod can choose another toolchain.
func findToolchain(ctx context.Context, dir string) (toolchain, error) {
	out, err := once("go env "+toolchainLines(dir), func() (string, error) {
		out, err := run(ctx, dir, []string{"GOWORK=off"}, append([]string{"env", "-json"}, toolchainVariables...)...)
		return string(out), err
	})
	if err != nil {
		return nil, err
	}
	tools := toolchain{}
	if err := json.Unmarshal([]byte(out), &tools); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	tools["GOFLAGS"] = withoutOwnFlags(tools["GOFLAGS"])
	if compiler := strings.Fields(tools["CC"]); tools["CGO_ENABLED"] == "1" && len(compiler) > 0 {
		said, err := once(tools["CC"]+" --version", func() (string, error) {
			out, err := exec.CommandContext(ctx, compiler[0], append(compiler[1:], "--version")...).Output()
			return string(out), err
		})
		if err == nil { // without a compiler, what needs none is built
			tools["CC --version"], _, _ = strings.Cut(said, "\n")
		}
	}
	return tools, nil
}

// toolchainLines are the lines of a worker's go.mod that choose a toolchain.
func toolchainLines(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return dir // to the go command it is an error, or another folder's go.mod
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if word, _, _ := strings.Cut(line, " "); word == "go" || word == "toolchain" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// ownFlags holds the flags that a build of a worker sets itself. A user's are dropped:
// they would change nothing but the digest of the build.
var ownFlags = []string{"mod", "modfile", "buildvcs", "trimpath"}

func withoutOwnFlags(flags string) string {
	kept := slices.DeleteFunc(strings.Fields(flags), func(flag string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		return slices.Contains(ownFlags, name)
	})
	return strings.Join(kept, " ")
}

// environment returns what the go command runs with in a worker's folder: no
// workspace, and the user's flags except for those about go.mod.
func (t toolchain) environment(mode string) []string {
	return []string{"GOWORK=off", "GOFLAGS=" + strings.TrimSpace("-mod="+mode+" "+t["GOFLAGS"])}
}

func (t toolchain) lines() []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		lines = append(lines, name+"="+t[name])
	}
	return lines
}

// answers are what tools of this machine said of themselves. A run asks for each driver, and
// they say the same as long as the program runs.
var answers sync.Map // by the question with the environment

// once returns the answer to a question, which ask finds out where the environment is one that
// it was not asked in. An error is not kept.
func once(question string, ask func() (string, error)) (string, error) {
	key := strings.Join(append(os.Environ(), question), "\x00")
	if said, known := answers.Load(key); known {
		return said.(string), nil
	}
	said, err := ask()
	if err == nil {
		answers.Store(key, said)
	}
	return said, err
}
