package tune

import (
	"context"
	"fmt"
	"maps"

	"assay"
	"assay/internal/emit"
	"assay/kit/kv"
	"assay/kit/postgres"
)

// engine is what a tuning asks of the kind of a driver's engine: an SQLite file, a PostgreSQL
// server, or a key-value store.
type engine interface {
	// name is as workers say it.
	name() string
	// read completes what is known of the current settings, and returns their class of
	// durability. known is false where nothing is committed that could have one.
	read(ctx context.Context, t *Tuning) (class assay.Durability, known bool, err error)
	// own are those of a profile's settings that the engine takes.
	own(settings map[string]string) map[string]string
	// explicit names the settings that durability and memory follow from.
	explicit() []string
	// defaults are those that durability follows from, as all drivers leave them where a
	// profile does; nil: drivers differ.
	defaults() map[string]string
	// class is the durability of the current settings.
	class(t *Tuning) assay.Durability
	// memory is what the caches of so many connections may take with these settings.
	memory(effective map[string]string, connections int) int64
	// unindexed says why indexes and statistics are not tried; empty: they are.
	unindexed() string
	// uses reports whether a program may use its driver in another way.
	uses() bool
	// checkEmit says why a proposal has no form for an ecosystem; nil: it has one.
	checkEmit(ecosystem string) error
}

// engineOf is the engine of that name; nil: tune knows no settings of it.
func engineOf(name string) engine {
	switch {
	case name == SQLiteEngine:
		return sqliteFile{}
	case name == postgres.Engine:
		return postgresServer{}
	case IsStore(name):
		return keyValueStore{name}
	}
	return nil
}

type sqliteFile struct{}

func (sqliteFile) name() string { return SQLiteEngine }

func (e sqliteFile) read(_ context.Context, t *Tuning) (assay.Durability, bool, error) {
	return e.class(t), true, nil
}

func (sqliteFile) own(settings map[string]string) map[string]string { return kv.InSQLite(settings) }

func (sqliteFile) explicit() []string {
	return []string{"journal_mode", "synchronous", "cache_size", "mmap_size"}
}

func (sqliteFile) defaults() map[string]string { return nil }

func (sqliteFile) class(t *Tuning) assay.Durability { return ClassOf(t.effective) }

func (sqliteFile) memory(effective map[string]string, connections int) int64 {
	return Memory(effective, connections)
}

func (sqliteFile) unindexed() string { return "" }

func (sqliteFile) uses() bool { return true }

func (sqliteFile) checkEmit(ecosystem string) error {
	if ecosystem == emit.PostgreSQL {
		return fmt.Errorf("--emit %s is for PostgreSQL, and this is SQLite", ecosystem)
	}
	return nil
}

// keyValueStore is one of the stores whose settings tune knows.
type keyValueStore struct{ store string }

func (e keyValueStore) name() string { return e.store }

func (keyValueStore) read(ctx context.Context, t *Tuning) (assay.Durability, bool, error) {
	class, err := t.readStore(ctx)
	return class, t.synced != nil, err
}

func (keyValueStore) own(settings map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, settings)
	return all
}

func (keyValueStore) explicit() []string { return []string{kv.Sync, kv.BlockCache, kv.Memtable} }

func (keyValueStore) defaults() map[string]string { return nil }

func (keyValueStore) class(t *Tuning) assay.Durability { return t.synced[t.effective[kv.Sync]] }

func (e keyValueStore) memory(effective map[string]string, _ int) int64 {
	return StoreMemory(e.store, effective)
}

func (keyValueStore) unindexed() string { return "" } // its operations have none

func (keyValueStore) uses() bool { return false }

func (e keyValueStore) checkEmit(string) error {
	return fmt.Errorf("--emit is for SQLite and PostgreSQL: %s has its settings in code", e.store)
}
