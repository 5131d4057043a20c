//go:build unix

package runner

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"assay"
	"assay/internal/dataset"
)

// Files are the copies of users' own files, by the file's absolute path and
// the file settings. A file may change at any time, and all cells of a run are
// to have the same state of it: so it is copied once.
type Files map[string]*dataset.Data

// Digests returns the digest of each copy.
func (f Files) Digests() map[string]string {
	digests := map[string]string{}
	for key, data := range f {
		digests[key] = data.Digest
	}
	return digests
}

func fileKey(ds assay.Dataset) string {
	key, err := filepath.Abs(ds.File)
	if err != nil {
		key = ds.File // the working folder is gone
	}
	for _, name := range slices.Sorted(maps.Keys(ds.FileSettings)) {
		key += " " + name + "=" + ds.FileSettings[name]
	}
	return key
}

// data prepares a dataset, or takes the copy that there is.
func (r *Runner) data(ctx context.Context, ds assay.Dataset) (*dataset.Data, error) {
	if ds.File == "" {
		return r.config.Data.Prepare(ctx, ds)
	}
	statements := ds.Prepare
	ds.Prepare = nil
	key := fileKey(ds)
	if r.config.Files[key] == nil {
		data, err := r.config.Data.Prepare(ctx, ds)
		if err != nil {
			return nil, err
		}
		r.config.Files[key] = data
	}
	if len(statements) == 0 {
		return r.config.Files[key], nil
	}
	return r.config.Data.Derive(ctx, r.config.Files[key], statements)
}
