// Package scaffold writes the first files of a new worker: those of one that
// passes its tests, under another name.
package scaffold

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// example is a worker that new ones are made after.
type example struct {
	name  string
	files []string // that are copied; symbolic links to the library are made anew
	named []string // the forms in which they write its name
	about string   // the README; %s is the name
}

var examples = map[string]example{
	"go": {name: "modernc", files: []string{"go.mod", "go.sum", "main.go", "main_test.go"},
		named: []string{`"%s"`, "Worker %s ", "assay/workers/%s\n"}},
	"python": {name: "apsw", files: []string{"main.py", "requirements.txt"}, named: []string{"name = \"%s\"\n"},
		about: "# %s: what it drives, in one line for assay drivers\n\nA worker in Python, on the library in `workers/lib/python`.\n"},
	"node": {name: "better-sqlite3", files: []string{"main.js", "package.json", "package-lock.json"}, named: []string{"name: \"%s\",\n"},
		about: "# %s: what it drives, in one line for assay drivers\n\nA worker in JavaScript, on the library in `workers/lib/node`.\n"},
	"rust": {name: "rusqlite", files: []string{"main.rs", "Cargo.toml", "Cargo.lock"}, named: []string{"NAME: &'static str = \"%s\"", `"worker-%s"`},
		about: "# %s: what it drives, in one line for assay drivers\n\nA worker in Rust, on the library in `workers/lib/rust`.\n"},
}

// Languages returns the languages that a worker can be written in, sorted.
func Languages() []string { return slices.Sorted(maps.Keys(examples)) }

// Example is the worker that new ones in a language are made after; empty where
// there is none.
func Example(language string) string { return examples[language].name }

// Checkout is the checkout of assay that a folder lies in.
func Checkout(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, "workers", "lib")); err == nil && info.IsDir() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not in a checkout of assay, where a new worker is written: change into one", dir)
		}
	}
}

// Write makes workers/NAME in a checkout of assay and returns its folder. It
// changes nothing that is there.
func Write(checkout, name, language string) (string, error) {
	e, ok := examples[language]
	if !ok {
		return "", fmt.Errorf("language %q: want one of %s", language, strings.Join(Languages(), ", "))
	}
	dir := filepath.Join(checkout, "workers", name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the worker's folder: %w", err)
	}
	if err := e.write(filepath.Join(checkout, "workers", e.name), dir, name); err != nil {
		return "", errors.Join(fmt.Errorf("write worker %s: %w", name, err), os.RemoveAll(dir))
	}
	return dir, nil
}

func (e example) write(from, dir, name string) error {
	for _, file := range e.files {
		text, err := os.ReadFile(filepath.Join(from, file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(e.renamed(string(text), name)), 0o644); err != nil {
			return err
		}
	}
	if e.about == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), fmt.Appendf(nil, e.about, name), 0o644); err != nil {
		return err
	}
	return linkAlike(from, dir)
}

// renamed has the new name wherever a file says the example's.
func (e example) renamed(text, name string) string {
	for _, form := range e.named {
		text = strings.ReplaceAll(text, fmt.Sprintf(form, e.name), fmt.Sprintf(form, name))
	}
	return text
}

// linkAlike makes the symbolic links of one worker in the folder of another.
func linkAlike(from, dir string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		target, err := os.Readlink(filepath.Join(from, entry.Name()))
		if err != nil {
			continue // a file of the example's own
		}
		if err := os.Symlink(target, filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}
