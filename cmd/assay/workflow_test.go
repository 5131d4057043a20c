//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"
)

// fenced matches a block of code in Markdown.
var fenced = regexp.MustCompile("(?ms)^```(sh|yaml)\n(.*?)^```$")

// shellLines are what the workflows of docs/gate.md have a shell run, by workflow.
func shellLines() (map[string][]string, error) {
	page, err := os.ReadFile("../../docs/gate.md")
	if err != nil {
		return nil, err
	}
	_, text, found := strings.Cut(string(page), "\n## On GitHub\n")
	if !found {
		return nil, fmt.Errorf("docs/gate.md has no workflow for GitHub")
	}
	all := map[string][]string{}
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		if block[1] == "sh" {
			all["shell"] = append(all["shell"], strings.Split(strings.TrimSpace(block[2]), "\n")...)
			continue
		}
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct{ Run string }
			}
			Gate struct{ Script []string }
		}
		if err := yaml.Unmarshal([]byte(block[2]), &workflow); err != nil {
			return nil, err
		}
		for _, step := range workflow.Jobs["gate"].Steps {
			if step.Run != "" {
				all["github"] = append(all["github"], step.Run)
			}
		}
		all["gitlab"] = append(all["gitlab"], workflow.Gate.Script...)
	}
	return all, nil
}

// workflow NAME runs the shell lines of a workflow in a copy of the folder app,
// which lies in a folder of that name. The shell ends at the first error and at a
// variable that is not set, as the services' own do not.
func workflow(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, len(args) == 1 && !neg, "workflow NAME")
	all, err := shellLines()
	ts.Check(err)
	folder := ts.MkAbs(filepath.Join(args[0], "app"))
	ts.Check(os.CopyFS(folder, os.DirFS(ts.MkAbs("app"))))
	for _, line := range all[args[0]] {
		ts.Check(ts.Exec("sh", "-euc", "cd '"+folder+"'\n"+line))
	}
}

func TestShellLinesAreFound(t *testing.T) {
	all, err := shellLines()
	if err != nil || len(all["github"]) != 3 || len(all["gitlab"]) != 2 || len(all["shell"]) != 1 {
		t.Errorf("got %q, %v; want three lines for GitHub, two for GitLab and one for a shell", all, err)
	}
}
