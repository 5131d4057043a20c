package repo_test

import (
	"os"
	"path/filepath"
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

// The playbook of Ansible is read as such, and runs commands that there are.
func TestPlaybook(t *testing.T) {
	b := newBench(t)
	text, err := os.ReadFile(filepath.Join("deploy", "ansible", "measure.yml"))
	must(t, err)
	var plays []struct {
		Tasks []struct {
			Command struct {
				Cmd, Argv, Creates string
			} `yaml:"ansible.builtin.command"`
		}
	}
	must(t, yaml.Unmarshal(text, &plays))
	var known []string
	for _, task := range plays[0].Tasks {
		c := task.Command
		words := strings.Fields(strings.TrimPrefix(c.Cmd, "./"))
		if c.Argv != "" { // an expression: the words in quotes
			words = []string{"assay"}
			for i, part := range strings.Split(c.Argv, "'") {
				if i%2 == 1 && !strings.ContainsAny(part, "/-.") || part == "--store" {
					words = append(words, part)
				}
			}
		}
		if len(words) > 0 {
			known = append(known, strings.Join(words[:2], " "))
			b.knows(t, words)
		}
	}
	if want := []string{"assay run", "assay runs", "assay runs"}; !slices.Equal(known, want) {
		t.Errorf("got the commands %q, want %q", known, want)
	}
}

// knows demands that assay has a command, with its flags.
func (b bench) knows(t *testing.T, words []string) {
	t.Helper()
	called := words[1:2]
	if words[1] == "runs" {
		called = words[1:3]
	}
	help := b.run(t, "bin/assay help "+strings.Join(called, " "), command{})
	if words[0] != "assay" || !strings.Contains(help, "assay "+strings.Join(called, " ")) {
		t.Errorf("%s: no command of assay", strings.Join(words, " "))
	}
	for _, flag := range slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, "--") }) {
		if !strings.Contains(help, flag+" ") {
			t.Errorf("assay %s has no %s", words[1], flag)
		}
	}
}
