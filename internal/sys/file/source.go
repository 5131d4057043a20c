package file

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// MaxModule is the size above which a go.mod or go.work is not read.
const MaxModule = 4 << 20

// maxGo is the size above which another file that the go command reads whole is refused.
const maxGo = 1 << 30

// goFiles are names, and goExtensions ends of names, of the files that the go command
// reads in a folder. It waits for a FIFO, and reads a device to its end.
var (
	goFiles      = []string{"go.mod", "go.sum", "go.work", "go.work.sum", "modules.txt"}
	goExtensions = []string{".go", ".s", ".S", ".sx", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".m", ".f", ".F", ".for", ".f90", ".syso", ".swig", ".swigcxx"}
)

// CheckGo refuses a folder of Go source, and the local modules that it is built with,
// where what the go command reads is not a regular file, or is too large for one.
func CheckGo(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	root := moduleRoot(dir)
	if root == "" {
		return nil
	}
	return (&goModules{}).check(root)
}

// moduleRoot is the folder, at dir or above it, whose go.work or go.mod the go command
// reads; empty where there is none.
func moduleRoot(dir string) string {
	for _, name := range []string{"go.work", "go.mod"} {
		for folder := dir; ; folder = filepath.Dir(folder) {
			if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
				return folder
			}
			if folder == filepath.Dir(folder) {
				break
			}
		}
	}
	return ""
}

// goModules are the folders of modules that were checked.
type goModules struct{ seen []string }

func (m *goModules) check(root string) error {
	real := Target(root) // WalkDir does not enter a link, and links spell one folder in endless ways
	if slices.Contains(m.seen, real) {
		return nil
	}
	m.seen = append(m.seen, real)
	if err := filepath.WalkDir(real, func(name string, entry fs.DirEntry, err error) error {
		return checkGoEntry(real, name, entry, err)
	}); err != nil {
		return err
	}
	for _, path := range local(root) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, filepath.FromSlash(path))
		}
		if err := m.check(path); err != nil {
			return err
		}
	}
	return nil
}

func checkGoEntry(root, name string, entry fs.DirEntry, err error) error {
	base := filepath.Base(name)
	switch {
	case err != nil:
		return nil // the go command tells what it cannot read
	case entry.IsDir() && name != root && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
		return fs.SkipDir
	case entry.IsDir() || !slices.Contains(goFiles, base) && !slices.Contains(goExtensions, filepath.Ext(base)):
		return nil
	}
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return nil // a link to nowhere, or to a folder
	}
	if err := isRegular(name, info); err != nil {
		return err
	}
	limit := int64(maxGo)
	if slices.Contains([]string{"go.mod", "go.work"}, base) {
		limit = MaxModule
	}
	return isWithin(name, info.Size(), limit)
}

// local are the folders of modules that a module or a workspace takes from this machine.
func local(root string) (all []string) {
	var replaced []*modfile.Replace
	name := filepath.Join(root, "go.mod")
	if text, err := Read(name, MaxModule); err == nil {
		if mod, err := modfile.Parse(name, text, nil); err == nil {
			replaced = mod.Replace
		}
	}
	name = filepath.Join(root, "go.work")
	if text, err := Read(name, MaxModule); err == nil {
		if work, err := modfile.ParseWork(name, text, nil); err == nil {
			for _, u := range work.Use {
				all = append(all, u.Path)
			}
			replaced = append(replaced, work.Replace...)
		}
	}
	for _, r := range replaced {
		if r.New.Version == "" {
			all = append(all, r.New.Path)
		}
	}
	return all
}
