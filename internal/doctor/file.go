package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"assay/kit/sqlite"
)

const (
	// walFloor is what a log grows to by itself: checkpoints begin at so many pages
	// (usualCheckpoint, unless the application sets wal_autocheckpoint) and wait for
	// readers, so that it has walShare times these.
	walFloor        = 16 << 20
	walShare        = 4
	usualCheckpoint = 1000
	// freeFloor and freeShare say which free space is worth a word.
	freeFloor = 1 << 20
	freeShare = 0.2
	// usualPage is SQLite's page size since 2016.
	usualPage = 4096
)

func (p *patient) journal(ctx context.Context) error {
	wal, err := sqlite.IsWAL(p.Path)
	if err != nil {
		return err
	}
	if !wal {
		p.add("journal-mode", "readers and writers block each other, and each commit syncs the file itself",
			"the file is not in WAL mode", p.sqlite3("PRAGMA journal_mode = WAL"))
		return nil
	}
	info, err := os.Stat(p.Path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	size, err := p.number(ctx, "PRAGMA page_size")
	if err != nil {
		return err
	}
	checkpoint := p.checkpoint()
	if info.Size() > walLimit(checkpoint*size) {
		begins := "a checkpoint begins at " + megabytes(checkpoint*size)
		if checkpoint <= 0 {
			begins = "no checkpoint begins by itself"
		}
		p.add("wal-size", "checkpoints do not get to the end of the log: a reader or a transaction stays or stayed open, or one transaction wrote so much; reads get slower",
			fmt.Sprintf("the log has %s, and %s (wal_autocheckpoint = %d)", megabytes(info.Size()), begins, checkpoint),
			p.sqlite3("PRAGMA wal_checkpoint(TRUNCATE)")+", and end transactions and close rows early; PRAGMA journal_size_limit bounds what is left of it")
	}
	return nil
}

// checkpoint is the size of the log, in pages, at which a checkpoint begins.
func (p *patient) checkpoint() int64 {
	if pages, err := strconv.ParseInt(p.Settings["wal_autocheckpoint"], 10, 64); err == nil {
		return pages
	}
	return usualCheckpoint
}

// walLimit is the size of a log, in bytes, above which something keeps checkpoints from its
// end; where the application makes checkpoints itself, they begin at 0.
func walLimit(checkpoint int64) int64 { return max(walFloor, walShare*checkpoint) }

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// pages looks at the layout of the file.
func (p *patient) pages(ctx context.Context) error {
	var size, count, free, auto int64
	for name, value := range map[string]*int64{"page_size": &size, "page_count": &count, "freelist_count": &free, "auto_vacuum": &auto} {
		var err error
		if *value, err = p.number(ctx, "PRAGMA "+name); err != nil {
			return err
		}
	}
	if size < usualPage {
		p.add("page-size", "small pages make deeper trees and more system calls", fmt.Sprintf("PRAGMA page_size is %d", size),
			p.sqlite3("PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM; PRAGMA journal_mode = WAL"))
	}
	if auto == 1 {
		p.add("auto-vacuum", "each commit moves pages to shorten the file, which costs writes and scatters tables",
			"PRAGMA auto_vacuum is 1 (full)", p.sqlite3("PRAGMA auto_vacuum = INCREMENTAL")+", and PRAGMA incremental_vacuum when it is quiet")
	}
	if free*size > freeFloor && float64(free) > freeShare*float64(count) {
		p.add("free-pages", "the file holds space that nothing uses; backups copy it", fmt.Sprintf("%d of %d pages are free (%s)", free, count, megabytes(free*size)),
			p.sqlite3("VACUUM")+": it needs the space of a copy and blocks writers meanwhile")
	}
	return nil
}

// slowSync is fewer syncs a second than any drive with a cache that survives a
// power cut does.
const slowSync = 200

func (p *patient) disk() {
	folder, err := filepath.Abs(filepath.Dir(p.Path))
	if err != nil {
		folder = filepath.Dir(p.Path)
	}
	if why := p.Disk(folder); why != "" {
		p.add("disk", "acknowledged commits need not survive a power cut, whatever the settings", why, "keep the file on a local disk; SQLite's locks and WAL are not made for network file systems")
	}
	if p.SyncRate > 0 && p.SyncRate < slowSync {
		p.add("sync-latency", "each durable commit waits for the disk", fmt.Sprintf("%.0f syncs a second, %.1f ms each", p.SyncRate, 1000/p.SyncRate),
			"put several changes into one transaction; with WAL, synchronous = NORMAL commits without a sync and may lose the newest commits in a power cut")
	}
}

// settings judges what the application's connections have.
func (p *patient) settings(ctx context.Context) error {
	if p.Settings == nil {
		return nil
	}
	value := func(name string) int64 {
		n, err := strconv.ParseInt(p.Settings[name], 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	if value("synchronous") == 0 {
		p.add("setting", "a power cut can damage the file", "synchronous reads back as 0 (off)", "PRAGMA synchronous = NORMAL on each connection, or in the DSN")
	}
	if value("busy_timeout") == 0 {
		p.add("setting", "a locked database is an error at once", "busy_timeout reads back as 0", "PRAGMA busy_timeout = 5000 on each connection, or in the DSN")
	}
	p.asked()
	keys, err := p.hasForeignKeys(ctx)
	if err == nil && keys && value("foreign_keys") == 0 {
		p.add("setting", "the schema's foreign keys are not enforced", "foreign_keys reads back as 0", "PRAGMA foreign_keys = 1 on each connection, or in the DSN")
	}
	return err
}

// asked finds parameters of the DSN that did not set what they name.
func (p *patient) asked() {
	for _, a := range p.Asked {
		read, known := p.Settings[a.Setting]
		if !known || a.Value == "" || read == a.Value {
			continue
		}
		p.add("parameter", "a parameter of the DSN does not set what it names",
			fmt.Sprintf("%s asks for %s = %s, which reads back as %s", a.Parameter, a.Setting, a.Value, read), a.Fix)
	}
}
