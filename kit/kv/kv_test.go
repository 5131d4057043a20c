package kv

import (
	"reflect"
	"testing"
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
