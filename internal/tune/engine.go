package tune

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"assay"
	"assay/internal/emit"
	"assay/kit/kv"
)

// engine says what a tuning asks of the kind of a driver's engine: an SQLite file or a key-value
// store. It is the name that workers give it.
type engine string

// SQLiteEngine is how workers name their engine.
const SQLiteEngine engine = "sqlite"

// isStore reports whether an engine is a key-value store that tune knows.
func (e engine) isStore() bool { _, ok := stores[e]; return ok }

// engines returns the engines whose settings tune knows.
func engines() []engine { return append(slices.Sorted(maps.Keys(stores)), SQLiteEngine) }

// space returns the space of the engine's settings that keeps the constraints. effective are the
// current settings as they are read back.
func (e engine) space(effective map[string]string, c Constraints) (Space, error) {
	s := &builder{now: effective, c: c, Space: Space{StartIsCurrent: true}}
	var err error
	if e.isStore() {
		err = s.store(stores[e])
	} else {
		err = s.sqlite()
	}
	return s.Space, err
}

// read completes what is known of the current settings, and returns their class of
// durability. known is false where nothing is committed that could have one.
func (e engine) read(ctx context.Context, t *Tuning) (class assay.Durability, known bool, err error) {
	if e.isStore() {
		class, err = t.readStore(ctx)
		return class, t.synced != nil, err
	}
	return ClassOf(t.effective), true, nil
}

// own returns the settings of a profile that the engine takes.
func (e engine) own(settings map[string]string) map[string]string {
	if !e.isStore() {
		return kv.InSQLite(settings)
	}
	all := map[string]string{}
	maps.Copy(all, settings)
	return all
}

// explicit names the settings that durability and memory follow from.
func (e engine) explicit() []string {
	if e.isStore() {
		return []string{kv.Sync, kv.BlockCache, kv.Memtable}
	}
	return []string{"journal_mode", "synchronous", "cache_size", "mmap_size"}
}

// memory returns what the caches of so many connections may take with these settings.
func (e engine) memory(effective map[string]string, connections int) int64 {
	if e.isStore() {
		return whole(effective[kv.BlockCache]) + stores[e].memtables*whole(effective[kv.Memtable])
	}
	return cacheOf(effective)*int64(max(1, connections)) + whole(effective["mmap_size"])
}

// checkEmit says why a proposal has no form for an ecosystem; nil: it has one.
func (e engine) checkEmit(ecosystem string) error {
	switch {
	case e.isStore():
		return fmt.Errorf("--emit is for SQLite: %s has its settings in code", e)
	case ecosystem == emit.PostgreSQL:
		return fmt.Errorf("--emit %s is for PostgreSQL, and this is SQLite", ecosystem)
	}
	return nil
}
