package kv

import (
	"maps"
	"reflect"
	"testing"

	"assay/kit/wire"
)

// Settings in the words of other engines; what is nothing there is left out.
func TestInOtherEngines(t *testing.T) {
	settings := map[string]string{"sync": "0", "block_cache": "1048576", "fsync": "off", "threads": "2", "memtable_size": "1048576", "compression": "zstd"}
	for _, test := range []struct {
		name      string
		got, want map[string]string
	}{
		{"SQLite", InSQLite(settings), map[string]string{"journal_mode": "wal", "synchronous": "1", "cache_size": "-1024", "threads": "2"}},
		{"PostgreSQL", InPostgres(settings), map[string]string{"synchronous_commit": "off", "shared_buffers": "1048576", "fsync": "off", "threads": "2"}},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
}

// Each connection that writes is judged alone, by the rule of its engine, and the weakest
// decides; what the engine says of itself stands.
func TestClaimed(t *testing.T) {
	on := func(name, mode, sync string) wire.Connection {
		return wire.Connection{Name: name, Settings: map[string]string{"journal_mode": mode, "synchronous": sync}}
	}
	server := func(commit string) wire.Connection {
		return wire.Connection{Name: "writer-1", Settings: map[string]string{"fsync": "on", "full_page_writes": "on", "synchronous_commit": commit}}
	}
	sql, postgresql, store := []string{wire.CapSQL}, []string{wire.CapSQL, wire.CapPostgreSQL}, []string{wire.CapKV}
	for _, c := range []struct {
		capabilities []string
		opened       string
		read         []wire.Connection
		want         string
		of           int // the connection that decides; -1: none
	}{
		{sql, "", []wire.Connection{on("reader-1", "wal", "0"), on("writer-1", "wal", "2")}, "power", 1},
		{sql, "", []wire.Connection{on("reader-1", "wal", "2"), on("writer-1", "wal", "1")}, "consistent", 1},
		{sql, "", []wire.Connection{on("writer-1", "wal", "0")}, "process", 0},
		{sql, "", []wire.Connection{on("writer-1", "memory", "2")}, "none", 0},
		{sql, "", []wire.Connection{on("reader-1", "wal", "2")}, "", -1},
		{sql, "", []wire.Connection{on("writer-1", "wal", "0"), on("writer-2", "wal", "2")}, "process", 0},
		{sql, "", []wire.Connection{on("writer-1", "wal", "2"), on("writer-2", "wal", "1")}, "consistent", 1},
		{sql, "", []wire.Connection{on("writer-1", "wal", "2"), on("writer-2", "wal", "")}, "", 1},
		{sql, "", []wire.Connection{on("writer-1", "wal", "1"), on("writer-2", "memory", "2")}, "none", 1},
		{sql, "", []wire.Connection{{Name: "writer-1"}, on("writer-2", "wal", "2")}, "", 0},
		{sql, "", []wire.Connection{server("on")}, "", 0}, // SQLite has no such settings
		{postgresql, "", []wire.Connection{server("off")}, "consistent", 0},
		{postgresql, "", []wire.Connection{on("writer-1", "wal", "2")}, "", 0},
		{store, "process", []wire.Connection{on("writer-1", "wal", "2")}, "process", 0},
		{store, "", []wire.Connection{on("writer-1", "wal", "2")}, "", 0},
		{store, "power", nil, "power", -1},
	} {
		class, settings := Claimed(c.capabilities, wire.Opened{Durability: c.opened}, c.read)
		var of map[string]string
		if c.of >= 0 {
			of = c.read[c.of].Settings
		}
		if class != c.want || !maps.Equal(settings, of) {
			t.Errorf("%v of %+v, which says %q: got %q by %v, want %q by %v", c.capabilities, c.read, c.opened, class, settings, c.want, of)
		}
	}
}
