//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"assay"
	"assay/internal/dataset"
	"assay/internal/sys/file"
	"assay/internal/sys/hostlock"
	"assay/internal/sys/scratch"
	"assay/kit/wire"
)

// Workspace is the folder in which the databases of one run lie. It is locked
// while the run goes on, so that a later run can tell what was left behind by
// one that was killed.
type Workspace struct {
	Dir     string
	scratch *scratch.Folder
	copies  *dataset.Copies
}

const workPrefix = "run-"

// NewWorkspace makes a workspace below dir, after removing those of runs that
// ended without removing theirs.
func NewWorkspace(dir, runID string) (*Workspace, error) {
	if !assay.ValidRunID(runID) {
		return nil, fmt.Errorf("folder for databases: %q is not a run ID", runID)
	}
	folder, err := scratch.Named(dir, workPrefix, runID)
	if err != nil {
		return nil, fmt.Errorf("folder for databases: %w", err)
	}
	w := &Workspace{Dir: folder.Path, scratch: folder}
	w.copies = &dataset.Copies{Folder: w.folder, Limit: freeSpace(w.Dir) / idleShare}
	return w, nil
}

// idleShare is the part of the free space that copies may take which wait for
// another launch.
const idleShare = 4

// freeSpace returns how many bytes the disk of a folder has left; 0 where it cannot
// be told.
func freeSpace(dir string) int64 {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0
	}
	return int64(fs.Bavail) * int64(fs.Bsize)
}

// takeTurn waits until no other assay measures on this machine. Where its lock cannot be
// opened, as in a container without /tmp, the turns are those of the cache folder.
func (r *Runner) takeTurn(ctx context.Context) (io.Closer, error) {
	waiting := func() { r.progress(Waiting, "another assay that measures on this machine", 0) }
	if r.config.HostLock != "" {
		if taken, err := hostlock.Take(ctx, r.config.HostLock, waiting); err == nil || ctx.Err() != nil {
			return taken, err
		}
	}
	return hostlock.Take(ctx, filepath.Join(filepath.Dir(r.config.Work.Dir), "measuring.lock"), waiting)
}

// check says why nothing can be measured in the workspace any more: it is gone,
// or nothing can be written to it. It writes about as much as a small database.
func (w *Workspace) check() error {
	file, err := os.CreateTemp(w.Dir, "check-")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, checkedBytes))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

const checkedBytes = 1 << 20

func (w *Workspace) folder() (string, error) { return os.MkdirTemp(w.Dir, "instance-") }

// Close removes the workspace.
func (w *Workspace) Close() error { return w.scratch.Remove() }

// copyData makes the instance's folder with its copy of the data, or takes one
// over that an instance of an earlier launch had.
func (in *instance) copyData(j *job) (err error) {
	take := in.r.config.Work.copies.New
	if in.reuse = j.engine.traits().reusable && reusable(in.jobs); in.reuse {
		take = in.r.config.Work.copies.Take
	}
	if in.copied, err = take(j.source); err != nil {
		return err
	}
	in.dir, in.path = in.copied.Dir, in.copied.Path()
	return nil
}

// reusable reports whether another launch may have an instance's copy of the
// data: nothing that is measured changes it, and nothing asks for data that no
// cache has seen.
func reusable(jobs []*job) bool {
	return !slices.ContainsFunc(jobs, func(j *job) bool {
		return j.Operation.Changes || j.Operation.Cold || j.Operation.Call()
	})
}

// leave gives the copy back, or removes it with its folder.
func (in *instance) leave() error {
	dir, copied := in.dir, in.copied
	in.dir, in.copied = "", nil
	if copied != nil && in.reuse {
		return in.r.config.Work.copies.Give(copied)
	}
	return os.RemoveAll(dir)
}

// rawDSN puts the database's path into a DSN: escaped where it is a URI.
func (in *instance) rawDSN(raw string) string {
	path := in.address()
	if strings.HasPrefix(raw, "file:") {
		path = escaped(path)
	}
	return strings.ReplaceAll(raw, "{{path}}", path)
}

// escaped is a path as a file: URI has it.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// quoted is a path as a text between quotes has it in SQL.
func quoted(path string) string { return strings.ReplaceAll(path, "'", "''") }

// withoutPath puts {{path}} back for the database's path, however it is
// written.
func (in *instance) withoutPath(text string) string {
	for _, path := range []string{escaped(in.address()), quoted(in.address()), in.address()} {
		text = strings.ReplaceAll(text, path, "{{path}}")
	}
	return text
}

// withPath puts the database's path into SQL.
func (in *instance) withPath(statements []string) []string {
	path := quoted(in.address())
	out := make([]string, len(statements))
	for i, text := range statements {
		out[i] = strings.ReplaceAll(text, "{{path}}", path)
	}
	return out
}

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
	if ds.Recorded != "" {
		key += " recorded=" + ds.Recorded
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

// allPages is the name by which a worker has prepared the reading of all pages.
const allPages = "all pages"

// fillCaches reads all pages of the data on every instance before its operations are verified
// and measured. Otherwise it would depend on these what SQLite has in its cache: a scan fills
// it, and points that are read at random take longer than windows last.
func (l *jointLaunch) fillCaches(ctx context.Context) error {
	errs := l.r.time.inParallel(l.r.random, len(l.instances), func(i int) error {
		in := l.instances[i]
		if len(in.pages) == 0 || !l.lives(in) || l.r.over() {
			return nil
		}
		return whileResumed(ctx, in, func() error { return in.readAllPages(ctx) })
	})
	for i, err := range errs {
		if err == nil {
			continue
		}
		if err := l.giveUp(l.instances[i].member, l.instances[i], whileReading(err)); err != nil {
			return err
		}
	}
	return nil
}

// whileReading says of a failure what was being done: it is not one of the operation whose
// outcome it becomes.
func whileReading(err error) error {
	if f, is := errors.AsType[*failure](err); is {
		return &failure{f.outcome, "read all of the data before windows: " + f.reason}
	}
	return err
}

// lives reports whether an instance has anything left to be measured.
func (l *jointLaunch) lives(in *instance) bool {
	for _, j := range in.jobs {
		if !l.has(j, in.twin) {
			return true
		}
	}
	return false
}

// readAllPages has each client read all pages, which its connection's cache keeps if there is room.
func (in *instance) readAllPages(ctx context.Context) error {
	op := assay.Operation{Name: allPages, Statement: string(wire.Each)} // which every worker has, and which leaves nothing compiled
	for _, query := range in.pages {
		op.Steps = append(op.Steps, assay.Step{SQL: query, Query: true, Rows: 1, Returns: []assay.Type{"int"}})
	}
	clients := in.first.Cell.Clients
	if _, err := in.prepare(ctx, allPages, op, &dataset.Trace{}, clients); err != nil {
		return err
	}
	_, err := in.warm(ctx, wire.Measure{Operation: allPages, Operations: int64(clients)})
	return err
}

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
		return file.DropPages(path)
	})
}
