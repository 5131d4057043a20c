//go:build unix

package runner

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"assay"
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

// checkpointWarning is about a log that was never begun anew and is shorter than
// wal_autocheckpoint.
func checkpointWarning(database string, settings []assay.Setting) []assay.Warning {
	limit := int64(0) // the lowest of all connections
	for _, s := range settings {
		if pages, err := strconv.ParseInt(s.Effective, 10, 64); s.Name == "wal_autocheckpoint" && err == nil && (limit == 0 || pages < limit) {
			limit = pages
		}
	}
	frames, restarts, ok := readLog(database + "-wal")
	if !ok || restarts > 0 || frames == 0 || frames >= limit {
		return nil
	}
	return []assay.Warning{{Code: "no-checkpoint",
		Evidence: fmt.Sprintf("the block and its warm-up wrote %d pages of log, and a checkpoint begins at %d (wal_autocheckpoint)", frames, limit),
		Advice:   "raise count: the figure has no checkpoint, and the only one is in close-ns"}}
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
