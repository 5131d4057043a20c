package file

import (
	"os"
	"path/filepath"
)

// Same reports whether two paths lead to one file, which may be missing.
func Same(a, b string) bool {
	first, errFirst := os.Stat(a)
	second, errSecond := os.Stat(b)
	if errFirst == nil && errSecond == nil {
		return os.SameFile(first, second)
	}
	return Target(a) == Target(b)
}

// OfDatabase are the files of an SQLite database, which may be missing: its own, its logs,
// and the index of one.
func OfDatabase(path string) []string {
	path = Target(path)
	return []string{path, path + "-wal", path + "-shm", path + "-journal"}
}

// maxLinks is how many links in a row Target follows to a missing file: a link can lead
// to itself.
const maxLinks = 40

// Target is the absolute path of the file that a path leads to, without links. The file
// may be missing.
func Target(path string) string {
	for range maxLinks {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
			break
		}
		next, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(filepath.Dir(path), next)
		}
		path = next
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(folder, filepath.Base(path))
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path // the working folder is gone
}
