package build

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/build/catalog"
	"assay/internal/sys/scratch"
)

// embedded holds archive/source.zip where the program was made by make build.
//
//go:embed all:archive
var embedded embed.FS

// Source says where the sources of worker programs are.
type Source struct {
	Dir string // an absolute path; holds kit/ and workers/
}

// FindSource finds the sources of workers. Where the environment variable
// ASSAY_SOURCE is set, it names the folder. Otherwise it is the folder of the
// executable, or its parent where the executable lies in bin/; or else the
// embedded archive, unpacked into cacheDir. An error says where was looked.
func FindSource(cacheDir string) (Source, error) {
	executable, err := os.Executable()
	if err == nil {
		executable, err = filepath.EvalSymlinks(executable)
	}
	if err != nil {
		return Source{}, fmt.Errorf("find worker sources beside the executable: %w", err)
	}
	archive, err := embedded.ReadFile("archive/source.zip")
	if err != nil {
		archive = nil // a program that was not made by make build
	}
	return findSource(os.Getenv("ASSAY_SOURCE"), executable, archive, cacheDir)
}

func findSource(variable, executable string, archive []byte, cacheDir string) (Source, error) {
	if variable != "" {
		return namedSource(variable)
	}
	dir := filepath.Dir(executable)
	places := []string{dir}
	if filepath.Base(dir) == "bin" {
		places = append(places, filepath.Dir(dir))
	}
	for _, place := range places {
		if holdsSource(place) {
			return Source{place}, nil
		}
	}
	if archive != nil {
		return unpack(archive, cacheDir)
	}
	return Source{}, fmt.Errorf("no worker sources: ASSAY_SOURCE is not set, %s has no kit/ and workers/, "+
		"and no archive is embedded; set ASSAY_SOURCE to a checkout of assay, or make the program with: make build",
		strings.Join(places, " and "))
}

func namedSource(dir string) (Source, error) {
	if !holdsSource(dir) {
		return Source{}, fmt.Errorf("ASSAY_SOURCE=%s has no kit/ and workers/: set it to a checkout of assay, or unset it", dir)
	}
	dir, err := filepath.Abs(dir)
	return Source{dir}, err
}

func holdsSource(dir string) bool {
	kit, err := os.Stat(filepath.Join(dir, "kit", "go.mod"))
	if err != nil || !kit.Mode().IsRegular() {
		return false
	}
	workers, err := os.Stat(filepath.Join(dir, "workers"))
	return err == nil && workers.IsDir()
}

// unpack writes the archive into a folder named by its digest, unless that is
// there already. The folder appears complete or not at all, also when two
// processes unpack at once.
func unpack(archive []byte, cacheDir string) (Source, error) {
	sum := sha256.Sum256(archive)
	dir, err := filepath.Abs(filepath.Join(cacheDir, "source", hex.EncodeToString(sum[:8])))
	if err != nil || holdsSource(dir) {
		return Source{dir}, err
	}
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return Source{}, fmt.Errorf("unpack worker sources: %w", err)
	}
	for _, entry := range files.File {
		if !filepath.IsLocal(filepath.FromSlash(entry.Name)) {
			return Source{}, fmt.Errorf("unpack worker sources: entry %q lies outside of the archive", entry.Name)
		}
	}
	partial, err := scratch.New(filepath.Dir(dir), "unpack-")
	if err != nil {
		return Source{}, fmt.Errorf("unpack worker sources: %w", err)
	}
	defer partial.Remove()
	made := filepath.Join(partial.Path, "made")
	if err := errors.Join(os.CopyFS(made, files), onlyOwnWrites(made)); err != nil {
		return Source{}, fmt.Errorf("unpack worker sources: %w", err)
	}
	if err := os.Rename(made, dir); err != nil && !holdsSource(dir) {
		return Source{}, fmt.Errorf("unpack worker sources: %w", err)
	}
	return Source{dir}, nil
}

// onlyOwnWrites takes the right to write what is in a folder from all but its owner,
// whatever the umask gave: later runs trust the folder by its name, and compile what is in it.
func onlyOwnWrites(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&^0o022)
	})
}

// Pack writes the sources of kit and of all workers as an archive. Equal
// sources give byte-equal archives.
func Pack(w io.Writer, s Source) error {
	all, err := s.all()
	if err != nil {
		return err
	}
	return all.zip(w)
}

// all are the sources of kit and of all workers.
func (s Source) all() (tree, error) {
	drivers, err := s.Drivers()
	if err != nil {
		return nil, err
	}
	all, err := s.kit()
	if err != nil {
		return nil, err
	}
	for _, d := range drivers {
		files, err := s.folder(d)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	all.sort()
	return all, nil
}

// unlinked are the folders of kit that no worker is made of: the suite that tests workers, and
// assay's own side of the wire.
var unlinked = []string{"kit/column/columntest/", "kit/postgres/cluster/", "kit/process/", "kit/workertest/"}

func (s Source) kit() (tree, error) {
	return readTree(s.Dir, "kit", func(f sourceFile) bool {
		return goSource(f) && !slices.ContainsFunc(unlinked, func(folder string) bool { return strings.HasPrefix(f.path, folder) })
	})
}

// worker are the files that a worker is made of.
func (s Source) worker(d Driver) (tree, error) {
	all, err := s.folder(d)
	return slices.DeleteFunc(all, func(f sourceFile) bool { return catalog.Holds(strings.TrimPrefix(f.path, "workers/"+d.Name+"/")) }), err
}

// folder is a worker with what the catalog has of it.
func (s Source) folder(d Driver) (tree, error) {
	keep := goSource
	if d.Prebuilt || d.Script {
		keep = anySource
	}
	return readTree(s.Dir, "workers/"+d.Name, keep)
}

// Catalog returns what is known of all drivers.
func (s Source) Catalog() ([]catalog.Driver, error) {
	return catalog.Read(filepath.Join(s.Dir, "workers"))
}
