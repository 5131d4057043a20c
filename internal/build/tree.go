package build

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/sys/scratch"
)

// sourceFile is a source file; its path is relative and has slashes.
type sourceFile struct {
	path       string
	executable bool
	data       []byte
}

// tree is a set of source files, sorted by path. What is digested, compiled
// and packed is one tree, read once, so that a file that changes meanwhile
// cannot make them differ.
type tree []sourceFile

// readTree reads the files below root/folder for which keep says yes. Hidden
// files and folders are left out.
func readTree(root, folder string, keep func(sourceFile) bool) (tree, error) {
	var t tree
	start := filepath.Join(root, filepath.FromSlash(folder))
	err := filepath.WalkDir(start, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") && name != start {
			return skip(entry)
		}
		if entry.IsDir() {
			return nil
		}
		f, err := readFile(root, name)
		if err == nil && f.data != nil && keep(f) {
			t = append(t, f)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sources of %s: %w", folder, err)
	}
	t.sort()
	return t, nil
}

func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// readFile follows symbolic links to files. It returns nil data for whatever
// is no regular file.
func readFile(root, name string) (sourceFile, error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return sourceFile{}, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return sourceFile{}, err
	}
	relative, err := filepath.Rel(root, name)
	return sourceFile{filepath.ToSlash(relative), info.Mode()&0o111 != 0, data}, err
}

// goSource keeps what a Go module is compiled from. Tests, their data and
// compiled programs that lie around are left out.
func goSource(f sourceFile) bool {
	name := filepath.Base(f.path)
	program := f.executable && filepath.Ext(name) == ""
	return !program && !strings.HasSuffix(name, "_test.go") &&
		!strings.Contains("/"+f.path, "/testdata/")
}

func anySource(sourceFile) bool { return true }

func (t tree) sort() {
	slices.SortFunc(t, func(a, b sourceFile) int { return strings.Compare(a.path, b.path) })
}

// digest adds the tree to a hash; equal hashes mean equal trees.
func (t tree) digest(h hash.Hash) {
	for _, f := range t {
		fmt.Fprintf(h, "%q %t ", f.path, f.executable)
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(f.data))))
		h.Write(f.data)
	}
}

// sum is the digest of what is said of a tree and of the tree itself, in hex.
func (t tree) sum(format string, args ...any) string {
	h := sha256.New()
	fmt.Fprintf(h, format, args...)
	t.digest(h)
	return hex.EncodeToString(h.Sum(nil))
}

// write puts the files into a folder.
func (t tree) write(folder string) error {
	for _, f := range t {
		name := filepath.Join(folder, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.data, f.mode()); err != nil {
			return err
		}
	}
	return nil
}

func (f sourceFile) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// zip writes the tree as an archive that depends on nothing but the files.
func (t tree) zip(w io.Writer) error {
	archive := zip.NewWriter(w)
	for _, f := range t {
		header := &zip.FileHeader{Name: f.path, Method: zip.Deflate}
		header.SetMode(f.mode())
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

// building writes the files into a temporary folder of the cache, in which do
// makes the program and moves it to its place.
func (t tree) building(program string, do func(temp string) error) error {
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return fmt.Errorf("make the cache: %w", err)
	}
	temp, err := scratch.New(filepath.Dir(filepath.Dir(program)), "build-")
	if err != nil {
		return fmt.Errorf("make a folder to build in: %w", err)
	}
	defer temp.Remove()
	if err := t.write(temp.Path); err != nil {
		return fmt.Errorf("copy sources: %w", err)
	}
	return do(temp.Path)
}

// copied copies a folder of the cache into another one. Where it is not there yet, do makes it
// from the files, and says where.
func (t tree) copied(own, folder string, do func(temp string) (made string, err error)) error {
	if !intact(folder) {
		err := t.building(folder, func(temp string) error {
			made, err := do(temp)
			if err != nil {
				return err
			}
			return install(made, folder)
		})
		if err != nil {
			return err
		}
	}
	if err := os.CopyFS(own, os.DirFS(folder)); err != nil {
		return fmt.Errorf("copy what the worker needs: %w", err)
	}
	return nil
}
