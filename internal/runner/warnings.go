//go:build unix

package runner

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/advisories"
)

// deferredWork says what work of an engine the block left to its end: the first checkpoint of a log,
// and the first flush of a table in memory. It is found in the files before they are closed.
func (in *instance) deferredWork(op assay.Operation) []assay.Warning {
	if !op.Changes {
		return nil
	}
	if op.KV() {
		return memtableWarning(in.logs, storeLogs(in.path))
	}
	return checkpointWarning(in.path, in.settings)
}

// The header of SQLite's write-ahead log and of its frames
// (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
const (
	walMagic       = 0x377f0682 // or the next number
	walHeader      = 32
	walFrameHeader = 24
)

// checkpointWarning is about a log that was never begun anew and is shorter than the lowest
// wal_autocheckpoint of all connections; with 0 no checkpoint begins by itself.
func checkpointWarning(database string, settings []assay.Setting) []assay.Warning {
	known, limit := false, int64(math.MaxInt64)
	for _, s := range settings {
		if pages, err := strconv.ParseInt(s.Effective, 10, 64); s.Name == "wal_autocheckpoint" && err == nil {
			known, limit = true, min(limit, cmp.Or(pages, math.MaxInt64))
		}
	}
	frames, restarts, ok := readLog(database + "-wal")
	if !ok || restarts > 0 || frames == 0 || !known || frames >= limit {
		return nil
	}
	begins, remedy := fmt.Sprintf("a checkpoint begins at %d (wal_autocheckpoint)", limit), "raise count"
	if limit == math.MaxInt64 {
		begins, remedy = "none begins by itself (wal_autocheckpoint 0)", "set wal_autocheckpoint"
	}
	return []assay.Warning{{Code: "no-checkpoint",
		Evidence: fmt.Sprintf("the block and its warm-up wrote %d pages of log, and %s", frames, begins),
		Advice:   remedy + ": the figure has no checkpoint, and the only one is in close-ns"}}
}

// readLog reads how many frames a log has, and how often it was begun anew.
func readLog(path string) (frames, restarts int64, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return 0, 0, false
	}
	defer file.Close()
	var header [walHeader]byte
	info, err := file.Stat()
	if _, short := file.ReadAt(header[:], 0); err != nil || short != nil {
		return 0, 0, false
	}
	number := func(at int) int64 { return int64(binary.BigEndian.Uint32(header[at:])) }
	if number(0)&^1 != walMagic {
		return 0, 0, false
	}
	return (info.Size() - walHeader) / (number(8) + walFrameHeader), number(12), true
}

// storeLog is the name of the log of a table in memory, which begins anew with each table: of
// LevelDB, RocksDB and Pebble, of Badger, and of LotusDB.
var storeLog = regexp.MustCompile(`^[0-9]+(\.log|\.mem|\.SEG\.[0-9]+)$`)

// storeLogs are the names of a store's logs.
func storeLogs(folder string) []string {
	var names []string
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error { // none is told where they cannot be read
		if err == nil && storeLog.MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
		return nil
	})
	return names
}

// memtableWarning is about a store whose logs are those that it was opened with: no table in
// memory was full.
func memtableWarning(before, after []string) []assay.Warning {
	fresh := func(name string) bool { return !slices.Contains(before, name) }
	if len(before) == 0 || len(after) == 0 || slices.ContainsFunc(after, fresh) {
		return nil
	}
	return []assay.Warning{{Code: "memtable-not-filled",
		Evidence: "no table in memory was full during the block and its warm-up: the store began no new log",
		Advice:   "raise count: the figure has no flush and no compaction, which B+ trees pay for in each block"}}
}

// defaultCache is SQLite's page cache without any setting: cache_size -2000,
// in KiB (https://www.sqlite.org/pragma.html#pragma_cache_size).
const defaultCache = 2000 << 10

// programWarnings are about a driver that is to be chosen with caution, and about two builds
// of one driver, which can differ through the order of their functions alone.
func (j *job) programWarnings() (all []assay.Warning) {
	if j.program.Caution != "" {
		all = append(all, assay.Warning{Code: "caution", Evidence: j.Cell.Driver + " is " + j.program.Caution,
			Advice: "prefer another driver where it is fast enough"})
	}
	if fixed := j.program.FixedLayout; fixed != "" {
		all = append(all, assay.Warning{Code: "layout",
			Evidence: "two builds of " + j.Cell.Driver + " are compared, and the layout of " + fixed + " is the same in all launches",
			Advice:   "a difference of a few percent, up to ten, can be the layout alone"})
	}
	return all
}

// knownBugs says which faults the build has, of those that neither its settings nor the
// operation rule out.
func knownBugs(target assay.Target, settings []assay.Setting, op assay.Operation) []assay.Warning {
	journal := slices.IndexFunc(settings, func(s assay.Setting) bool { return s.Name == "journal_mode" })
	var all []assay.Warning
	for _, bug := range advisories.OfTarget(target) {
		if bug.Attached || bug.Nested && !op.MayNest() || bug.WAL && journal >= 0 && settings[journal].Effective != "wal" { // no plan attaches databases
			continue
		}
		all = append(all, assay.Warning{Code: "known-bug", Evidence: fmt.Sprintf("%s %s: %s", target.Engine, target.EngineVersion, bug.Sentence()),
			Advice: "use a build with " + strings.Join(bug.Fixed, " or ") + " or newer: " + bug.URL})
	}
	return all
}

// cacheWarning says where settings of the cache cannot matter.
func (j *job) cacheWarning() []assay.Warning {
	info, err := os.Stat(j.data.Path)
	if err != nil || info.Size() > defaultCache {
		return nil
	}
	requested := j.Profile.Requested()
	var tuned []string
	for _, name := range []string{"cache_size", "mmap_size"} {
		if _, asked := requested[name]; asked {
			tuned = append(tuned, name)
		}
	}
	if len(tuned) == 0 {
		return nil
	}
	return []assay.Warning{{Code: "inside-default-cache",
		Evidence: fmt.Sprintf("the data are %d KB, and SQLite's default cache holds %d KB: %s cannot matter",
			info.Size()/1000, defaultCache/1000, strings.Join(tuned, " and ")),
		Advice: "measure on a table larger than the cache"}}
}

// storageWarning says why no setting makes commits survive a power cut here.
func (in *instance) storageWarning(op assay.Operation) []assay.Warning {
	if !op.Changes || in.r.storage.loss == "" {
		return nil
	}
	return []assay.Warning{{Code: "storage-loses-syncs",
		Evidence: "whatever the settings are, synced commits need not survive a power cut: " + in.r.storage.loss,
		Advice:   "set XDG_CACHE_HOME to a folder on a local disk"}}
}

// clockWarning is about times that the system cannot confirm.
func (in *instance) clockWarning(j *job) []assay.Warning {
	if !in.unconfirmed(j) {
		return nil
	}
	return []assay.Warning{{Code: "unconfirmed-clock",
		Evidence: "calls took much longer than the worker says, and its threads have ended: its clock is slow, or they waited for a processor",
		Advice:   "measure again on a quieter machine; in the worker, the threads of clients should live until close"}}
}

// beginKey is how a DSN says how transactions begin, by the keys of Go's drivers and of other
// languages' libraries.
var beginKey = regexp.MustCompile(`(?i)\b(_txlock|(default_)?transaction_mode|isolation_level)=\w+`)

// BeginWarning says where a DSN asks for a way to begin transactions: that is not what is
// measured.
func BeginWarning(c assay.Case) []assay.Warning {
	asked := beginKey.FindString(c.Profile.Raw[c.Cell.Driver])
	if asked == "" || c.Cell.Begin != "" || !c.Operation.Transacts() {
		return nil
	}
	return []assay.Warning{{Code: "begin-immediate",
		Evidence: fmt.Sprintf("the DSN has %s, and every transaction begins with BEGIN IMMEDIATE whatever it says", asked),
		Advice:   "to compare ways to begin transactions, give the plan begin: [deferred, immediate]"}}
}

// Inspect opens the first case as a run would, and returns a trial without
// figures: what was issued, and every setting on every connection. Where it
// does not open, the trial's outcome and reason say why.
func (r *Runner) Inspect(ctx context.Context) (assay.Trial, error) {
	if len(r.groups) == 0 { // the target cannot run the case, and said why
		return r.unmeasured[0], nil
	}
	m := r.groups[0].members[0]
	j := m.first
	want := j.method.connections(j)
	if want.readers == 0 && !j.singleConnection() { // an operation that only changes data: show both kinds
		want.readers, want.idle = 1, 1
	}
	if err := r.traceGroup(ctx, r.groups[0]); err != nil { // what a store does not read back shows in a trace
		return assay.Trial{}, err
	}
	in, err := r.start(ctx, m, 0, want)
	if err != nil {
		t := newTrial(m, j, 0)
		return t, end(&t, err)
	}
	t := in.trial(j, 0)
	t.Settings = in.all
	in.recordSyncs(&t, j)
	stopped := in.stop(ctx)
	in.kill()
	err = end(&t, in.applied, stopped)
	return t, err
}
