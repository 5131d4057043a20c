// Package dataset makes what a run needs before anything is measured: the
// data as a SQLite file, the traces of arguments, and the expected answers.
// All of it follows from the specification alone and is kept in a cache, in a
// folder per dataset.
//
// # How values are drawn
//
// Every value can be computed from its position alone, in any language. All
// arithmetic is on unsigned 64-bit numbers that wrap around; ^ is exclusive
// or, >> shifts to the right. With G = 0x9e3779b97f4a7c15 and splitmix64's
//
//	mix(z): z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
//	        z = (z ^ z>>27) * 0x94d049bb133111eb
//	        z ^ z>>31
//
// and fnv, the 64-bit FNV-1a hash, the words x0, x1, x2, ... of a value are
//
//	key   = mix(mix(mix(seed + G) ^ fnv(stream)) + G*(column+1))
//	state = mix(key + G*(row+1))
//	xi    = mix(state + G*(i+1))
//
// which is splitmix64 started at state. The stream is "operation/NAME" or, for the choice
// of a part, "mix/NAME". Columns and rows count from 0; the columns of an operation are the
// arguments of all of its steps, in order. high(a*b) is the upper half of the 128-bit
// product, fraction(x) is (x>>11) / 2^53.
//
//	uniform  From + high(x1 * (To-From+1))
//	zipf     From + fnv(rank as 8 bytes, little-endian) mod (To-From+1), where
//	         rank is drawn from fraction(x1) by YCSB's ZipfianGenerator
//	key      SQL with the number i that Draw gives, plus 1, for :i: seq From + row
//	         mod (To-From+1); uniform, zipf as above; latest To + g - rank, where g
//	         is how many keys the mix has added before
//	expression, row: what SQL gives, run with package seeded's functions
//	same     what the argument Of has
//	part     the part into whose share of the weights high(x1 * total) falls
//
// Zipf depends on the platform's power function, whose last bit may
// differ between architectures; everything else is equal everywhere.
package dataset

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"assay"
	"assay/internal/sys/scratch"
)

// formatVersion is part of every key of the cache: it changes whenever other
// values would be drawn or other files written for the same specification.
const formatVersion = 2

const (
	dataName = "data.db"
	// recordedName is of the copy of Dataset.Recorded.
	recordedName = "recorded.db"
	sumName      = "data.sha256"
	workPrefix   = ".making-"
)

// Cache is a folder of prepared datasets. Several processes may use it at the
// same time.
type Cache struct {
	Dir string // made where it is missing
	// Progress, where it is not nil, is called while a table is loaded, with
	// the rows loaded so far and the rows wanted.
	Progress func(table string, done, rows int)
	// Timeout is of one statement of a schema, or that loads rows; 0: none.
	Timeout time.Duration
}

// ErrTimeout says that a statement took longer than Cache.Timeout.
var ErrTimeout = errors.New("the statement took longer than the time limit")

// Data is a prepared dataset. Its file is closed, has journal mode delete or,
// where its file settings say so, wal, was checked for integrity, and is never changed again.
type Data struct {
	Path   string // of the SQLite file, read-only
	Digest string // SHA-256 of the file and of what is recorded, hex
	Spec   assay.Dataset
	// drawn is the file that arguments are drawn from: the same rows in the order that
	// they had before Spec.Prepare, as an index changes the order in which SQLite reads
	// a table.
	drawn string
	// recorded is a file that arguments are drawn from as the schema recorded; empty: none.
	recorded string
	// kept is a private copy in which Try does operations and undoes them; empty: each
	// one has a copy of its own.
	kept      string
	sequences map[string]assay.Operation // with the types of their answers
}

// Size is the file's, in bytes; 0 where it cannot be looked at: reading it will say why.
func (d *Data) Size() int64 {
	info, err := os.Stat(d.Path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Prepare finds or makes the dataset's file. It appears whole or not at all;
// when two processes make the same one, the first to finish wins. A cached
// file that was damaged is made again. A user's own file is copied and
// checked on every call, as it may have changed.
func (c Cache) Prepare(ctx context.Context, ds assay.Dataset) (*Data, error) {
	statements := ds.Prepare
	ds.Prepare = nil
	data, err := c.make(ds, func(path string) (string, error) { return source(ctx, ds, path) }, func(path string) error { return c.build(ctx, ds, path) })
	if err == nil && len(statements) > 0 {
		return c.Derive(ctx, data, statements)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare the data of workload %q: %w", ds.Workload, err)
	}
	return data, nil
}

// Derive finds or makes a copy of prepared data on which statements were run that
// change no row.
func (c Cache) Derive(ctx context.Context, base *Data, statements []string) (*Data, error) {
	ds := base.Spec
	ds.Prepare = statements
	data, err := c.make(ds, func(string) (string, error) {
		return digest("derived", sqlite3.SQLITE_VERSION, base.Digest, statements)
	}, func(path string) error {
		if err := copyFile(ctx, base.Path, path); err != nil {
			return err
		}
		return c.write(ctx, ds, path)
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the data of workload %q: %w", ds.Workload, err)
	}
	data.drawn, data.recorded = base.drawn, base.recorded
	return data, nil
}

// make finds a dataset by the key that source returns, or has it built. Source may
// put at the path what build begins with.
func (c Cache) make(ds assay.Dataset, source func(path string) (key string, err error), build func(path string) error) (*Data, error) {
	work, err := scratch.New(c.Dir, workPrefix)
	if err != nil {
		return nil, err
	}
	defer work.Remove()
	made := filepath.Join(work.Path, "made")
	if err := os.Mkdir(made, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(made, dataName)
	key, err := source(path)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(c.Dir, key)
	data, err := find(folder, ds)
	if !errors.Is(err, os.ErrNotExist) {
		return data, err
	}
	if err := build(path); err != nil {
		return nil, err
	}
	return install(made, folder, ds)
}

// source returns the key of the cache: a digest of the specification or, for
// a user's own file, of the copy that is made of it at path.
func source(ctx context.Context, ds assay.Dataset, path string) (string, error) {
	recorded, err := copyRecorded(ctx, ds, path)
	if err != nil {
		return "", err
	}
	if ds.File == "" {
		ds.Recorded = recorded
		ds.Workload = "" // a name only: the same data under two names is one file
		return digest("data", sqlite3.SQLITE_VERSION, ds)
	}
	if err := Snapshot(ctx, ds.File, path); err != nil {
		return "", err
	}
	sum, err := fileSum(path)
	if err != nil {
		return "", err
	}
	if recorded == "" {
		return digest("file", sqlite3.SQLITE_VERSION, sum, ds.FileSettings)
	}
	return digest("file", sqlite3.SQLITE_VERSION, sum, ds.FileSettings, recorded)
}

// copyRecorded copies what is recorded beside the data, for its owner alone, and returns
// its digest; empty where nothing is.
func copyRecorded(ctx context.Context, ds assay.Dataset, path string) (sum string, err error) {
	if ds.Recorded == "" {
		return "", nil
	}
	path = filepath.Join(filepath.Dir(path), recordedName)
	if err := Snapshot(ctx, ds.Recorded, path); err != nil {
		return "", err
	}
	if err := os.Chmod(path, 0o400); err != nil {
		return "", err
	}
	return fileSum(path)
}

// contentSum is the digest of the data in a folder, with what is recorded beside them.
func contentSum(folder string) (string, error) {
	sum, err := fileSum(filepath.Join(folder, dataName))
	if err != nil {
		return "", err
	}
	recorded, err := fileSum(filepath.Join(folder, recordedName))
	if errors.Is(err, os.ErrNotExist) {
		return sum, nil
	}
	if err != nil {
		return "", err
	}
	return digest("recorded", sum, recorded)
}

// find returns the data in a folder. os.ErrNotExist says that there is none,
// or none that is still what it was when it was made.
func find(folder string, ds assay.Dataset) (*Data, error) {
	path := filepath.Join(folder, dataName)
	want, err := os.ReadFile(filepath.Join(folder, sumName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	sum, err := contentSum(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err == nil && sum == string(want) {
		data := &Data{Path: path, Digest: sum, Spec: ds, drawn: path}
		if ds.Recorded != "" {
			data.recorded = filepath.Join(folder, recordedName)
		}
		return data, nil
	}
	if err := os.RemoveAll(folder); err != nil {
		return nil, fmt.Errorf("remove damaged data: %w", err)
	}
	return nil, os.ErrNotExist
}

// install moves a finished folder to its place. Where another process
// was faster its folder, which has the same content, is taken.
func install(made, folder string, ds assay.Dataset) (*Data, error) {
	path := filepath.Join(made, dataName)
	sum, err := contentSum(made)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o444); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(made, sumName), []byte(sum), 0o444); err != nil {
		return nil, err
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return nil, err
	}
	renamed := os.Rename(made, folder)
	data, err := find(folder, ds)
	if renamed != nil && err != nil {
		return nil, renamed
	}
	return data, err
}

// Copy makes a private, writable copy of the data at dst, which must not
// exist. Bytes may be copied here, where a live database must not be: the
// cached file is closed, no journal or log belongs to it, and nobody writes
// to it. The copy is synced, so that the first sync of a measured database
// does not pay for it.
func (d *Data) Copy(dst string) error { return d.copyWithin(context.Background(), dst) }

func (d *Data) copyWithin(ctx context.Context, dst string) error {
	if err := copyFile(ctx, d.Path, dst); err != nil {
		return err
	}
	for _, path := range []string{dst, filepath.Dir(dst)} {
		if err := syncPath(path); err != nil {
			return fmt.Errorf("sync %s: %w", path, err)
		}
	}
	return nil
}

// KeepCopy makes a private copy at dst, in which Try does from now on what changes
// data, and undoes it: copying large data for each operation takes longer than the
// operations. Nothing else may change it while an operation is tried.
func (d *Data) KeepCopy(ctx context.Context, dst string) error {
	err := d.copyWithin(ctx, dst)
	if err == nil {
		d.kept = dst
	}
	return err
}

// copiedAtOnce is how many bytes are copied before a context is looked at again.
const copiedAtOnce = 64 << 20

// copyFile copies with copy_file_range where the system has it: io.CopyN uses
// it between two files.
func copyFile(ctx context.Context, src, dst string) error {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	for n := int64(copiedAtOnce); n == copiedAtOnce && err == nil; {
		if err = ctx.Err(); err == nil {
			n, err = io.CopyN(out, in, copiedAtOnce)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, out.Close()); err != nil {
		_ = os.Remove(dst)
		return fmt.Errorf("copy %s to %s: %w", src, dst, err)
	}
	return nil
}

func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// scratch makes a folder in the cache for files that are thrown away, or moved
// to their place when they are whole.
func (d *Data) scratch() (*scratch.Folder, error) {
	return scratch.New(filepath.Dir(filepath.Dir(d.Path)), workPrefix)
}

func fileSum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// digest returns the SHA-256 of values in hex, as they are in JSON.
func digest(values ...any) (string, error) {
	text, err := json.Marshal(append([]any{formatVersion}, values...))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
