//go:build unix

package runner

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"assay"
)

// minFetched is how many bytes an operation fetches from storage at least
// where the cache was cold: less than one page in ten operations is none.
const minFetched = 400

// wasCold is a failure where hardly anything was read from storage: the data
// were in some cache all the same, or the worker had read them when it opened.
func (t *tally) wasCold() error {
	if t.total.Counters.Fetched >= minFetched*t.total.Executed {
		return nil
	}
	return &failure{assay.NotApplied, fmt.Sprintf("a cold cache was asked for, and %d operations read %d bytes from storage: the data were in memory",
		t.total.Executed, t.total.Counters.Fetched)}
}

// dropCache takes the files of a database, which were synced, out of the
// system's page cache.
func dropCache(path string) error {
	return filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return dropFile(path)
	})
}
