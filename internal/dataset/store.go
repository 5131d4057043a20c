package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"assay/internal/dataset/seeded"
	"assay/kit/column"
	"assay/kit/kv"
)

// Store is the data of a key-value workload as one engine keeps them: a folder
// that a worker has filled and closed, and that is never changed again.
type Store struct {
	Path string // of the folder
}

// Records returns the path of a column file with the keys and values of the
// data, in the order in which they are to be loaded.
func (d *Data) Records(ctx context.Context) (_ string, err error) {
	session, done, err := seeded.Connect(ctx, ":memory:", d.Spec.Seed)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, done()) }()
	count := 0
	record := func(int) ([]any, error) { return nil, nil }
	for _, table := range d.Spec.Tables {
		if table.Name != kv.Table {
			continue
		}
		rows, err := session.ForEach(ctx, table.Select, recordsOf(table))
		if err != nil {
			return "", fmt.Errorf("the records: %w; the SQL is:\n%s", err, table.Select)
		}
		defer rows.Close()
		next, err := rowReader(rows)
		if err != nil {
			return "", err
		}
		count, record = table.Rows, func(int) ([]any, error) {
			row, err := next()
			if err != nil {
				return nil, err
			}
			var value []byte
			for _, field := range row[1:] {
				part, _ := field.([]byte)
				value = append(value, part...)
			}
			return []any{row[0], value}, nil
		}
	}
	trace, err := d.columns(ctx, "records", []column.Type{column.Blob, column.Blob}, count, record)
	if err != nil {
		return "", fmt.Errorf("the records: %w", err)
	}
	return trace.Path, nil
}

// besideSum is added to the name of a file or folder of the cache: there lies
// its digest.
const besideSum = ".sha256"

// Store finds the data as an engine keeps them, or has them made: fill puts
// the records of a column file into a new store at path, and closes it. build
// names the worker program and the settings of its files: another one may keep them
// otherwise. A store that
// is no longer what it was is made again.
func (d *Data) Store(ctx context.Context, build string, fill func(path, records string) error) (*Store, error) {
	return d.filled("store-"+build, func(path string) error {
		records, err := d.Records(ctx)
		if err != nil {
			return err
		}
		return fill(path, records)
	})
}

// filled finds a folder beside the data, or has fill make it.
func (d *Data) filled(name string, fill func(path string) error) (*Store, error) {
	path := filepath.Join(filepath.Dir(d.Path), name)
	sum, err := folderSum(path)
	want, wantErr := os.ReadFile(path + besideSum)
	if err == nil && wantErr == nil && sum == string(want) {
		return &Store{path}, nil
	}
	work, err := d.scratch()
	if err != nil {
		return nil, err
	}
	defer work.Remove()
	made := filepath.Join(work.Path, "data")
	if err := fill(made); err != nil {
		return nil, err
	}
	return &Store{path}, installStore(made, path)
}

// installStore moves a filled store to its place. One that another process put
// there meanwhile holds the same data.
func installStore(made, path string) error {
	sum, err := folderSum(made)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove a damaged store: %w", err)
	}
	if err := os.Rename(made, path); err != nil {
		return err
	}
	return os.WriteFile(path+besideSum, []byte(sum), 0o444)
}

// folderSum digests the names and contents of all files of a folder.
func folderSum(folder string) (string, error) {
	hash := sha256.New()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		sum, err := fileSum(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		fmt.Fprintf(hash, "%q %s\n", name, sum)
		return err
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// Copy makes a private, writable copy of the store at dst, which must not
// exist. Holes stay holes: some engines reserve gigabytes of them. All of it is
// synced, so that the first sync of a measured store does not pay for it.
func (s *Store) Copy(dst string) error {
	err := mirror(s.Path, dst, copySparse)
	if err != nil {
		return fmt.Errorf("copy the store: %w", err)
	}
	return syncFolders(dst)
}

// mirror does something with each file of a tree, and with where it lies in another one, whose
// folders it makes.
func mirror(src, dst string, each func(path, target string) error) error {
	return filepath.WalkDir(src, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(src, path)
		target := filepath.Join(dst, name)
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is no file", path)
		}
		return each(path, target)
	})
}

// syncFolders syncs a folder, all folders in it, and the one it is in.
func syncFolders(folder string) error {
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return syncPath(path)
	})
	return errors.Join(err, syncPath(filepath.Dir(folder)))
}

// chunk is how much is copied at once, and how long a hole is at least.
const chunk = 64 << 10

// copySparse copies a file, except for its holes and zeros, and syncs it.
func copySparse(src, dst string) error {
	info, err := os.Stat(src)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return err
	}
	return equalize(src, dst)
}
