// Package scaffold writes the first files of a new worker: those of one that
// passes its tests, under another name.
package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// examples are the workers that new ones are copies of, by language.
var examples = map[string]string{"go": "modernc", "python": "apsw", "node": "better-sqlite3", "rust": "rusqlite"}

// named are the forms in which files write the name of their worker, by the end of the file's name.
var named = map[string][]string{
	".go":   {`"%s"`, "Worker %s "},
	".mod":  {"assay/workers/%s\n"},
	".py":   {"name = \"%s\"\n"},
	".js":   {"name: \"%s\",\n"},
	".rs":   {"Worker %s "},
	".toml": {`"worker-%s"`},
	".lock": {`"worker-%s"`},
}

// ofDriver are files about one driver, which say nothing of another.
var ofDriver = []string{"driver.yaml", "emit.tmpl"}

// Languages returns the languages that have an example, sorted.
func Languages() []string { return slices.Sorted(maps.Keys(examples)) }

// Example is the worker that new ones in a language are made after; empty where
// there is none.
func Example(language string) string { return examples[language] }

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

// Write makes workers/NAME in a checkout of assay as a copy of another worker, and
// returns its folder. It changes nothing that is there.
func Write(checkout, name, like string) (string, error) {
	dir := filepath.Join(checkout, "workers", name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the worker's folder: %w", err)
	}
	if err := write(filepath.Join(checkout, "workers", like), dir); err != nil {
		return "", errors.Join(fmt.Errorf("write worker %s: %w", name, err), os.RemoveAll(dir))
	}
	return dir, nil
}

// write copies a worker into the folder of another, without folders and what is known of its driver.
func write(from, dir string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() || slices.Contains(ofDriver, entry.Name()) {
			continue
		}
		if err := copyFile(filepath.Join(from, entry.Name()), filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file of one worker to another under its name; a symbolic link stays one.
func copyFile(from, to string) error {
	if target, err := os.Readlink(from); err == nil {
		return os.Symlink(target, to)
	}
	name := filepath.Base(filepath.Dir(to))
	if filepath.Base(to) == "README.md" {
		return os.WriteFile(to, fmt.Appendf(nil, "# %s: what it drives, in one line for assay drivers\n", name), 0o644)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	for _, form := range named[filepath.Ext(from)] {
		old, fresh := fmt.Sprintf(form, filepath.Base(filepath.Dir(from))), fmt.Sprintf(form, name)
		text = bytes.ReplaceAll(text, []byte(old), []byte(fresh))
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}
