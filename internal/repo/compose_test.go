package repo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// composed is what the tests read of a compose file.
type composed struct {
	Services map[string]struct {
		Image, Command string
		Volumes        []string
		DependsOn      map[string]any `yaml:"depends_on"`
	}
	Volumes map[string]any
}

// The compose files of docs/team.md have what they name, and run commands that there are.
func TestComposeFiles(t *testing.T) {
	b := newBench(t)
	services := map[string]bool{}
	for _, text := range fenced(documents(t)["docs/team.md"], "yaml") {
		var file composed
		if err := yaml.Unmarshal([]byte(text), &file); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for name, s := range file.Services {
			services[name] = true
			if s.Image == "" {
				t.Errorf("%s has no image", name)
			}
			for _, volume := range s.Volumes {
				from, _, _ := strings.Cut(volume, ":")
				if _, there := file.Volumes[from]; !there && !strings.ContainsAny(from[:1], "./") {
					t.Errorf("%s mounts the volume %s, which there is not", name, from)
				}
			}
			for other := range s.DependsOn {
				if _, there := file.Services[other]; !there {
					t.Errorf("%s depends on %s, which there is not", name, other)
				}
			}
			if words := strings.Fields(s.Command); len(words) > 0 {
				b.knows(t, words)
			}
		}
	}
	for _, want := range []string{"results", "serve"} {
		if !services[want] {
			t.Errorf("no compose file has %s", want)
		}
	}
}

// knows demands that assay has a command, with its flags.
func (b bench) knows(t *testing.T, words []string) {
	t.Helper()
	help := b.run(t, "bin/assay help "+words[1], command{})
	if words[0] != "assay" || !strings.Contains(help, "assay "+words[1]) {
		t.Errorf("%s: no command of assay", strings.Join(words, " "))
	}
	for _, flag := range slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, "--") }) {
		if !strings.Contains(help, flag+" ") {
			t.Errorf("assay %s has no %s", words[1], flag)
		}
	}
}
