package tune

import (
	"context"
	"fmt"
	"maps"

	"assay"
	"assay/internal/emit"
	"assay/kit/kv"
)

// engine is what a tuning asks of the kind of a driver's engine: an SQLite file or a key-value
// store. It is the name that workers give it.
type engine string

// engineOf is the engine of that name; known is false where tune knows no settings of it.
func engineOf(name string) (e engine, known bool) {
	return engine(name), name == SQLiteEngine || IsStore(name)
}

func (e engine) isStore() bool { return e != SQLiteEngine }

// read completes what is known of the current settings, and returns their class of
// durability. known is false where nothing is committed that could have one.
func (e engine) read(ctx context.Context, t *Tuning) (class assay.Durability, known bool, err error) {
	if e.isStore() {
		class, err = t.readStore(ctx)
		return class, t.synced != nil, err
	}
	return ClassOf(t.effective), true, nil
}

// own are those of a profile's settings that the engine takes.
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

// class is the durability of the current settings.
func (e engine) class(t *Tuning) assay.Durability {
	if e.isStore() {
		return t.synced[t.effective[kv.Sync]]
	}
	return ClassOf(t.effective)
}

// memory is what the caches of so many connections may take with these settings.
func (e engine) memory(effective map[string]string, connections int) int64 {
	if e.isStore() {
		return StoreMemory(string(e), effective)
	}
	return Memory(effective, connections)
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
