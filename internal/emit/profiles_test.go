package emit_test

import (
	"assay"
	"assay/internal/emit"
)

// profiles are what the tests print, by name.
var profiles = map[string]emit.Source{
	"nothing": source(assay.Profile{}, nil),
	"web": source(assay.Profile{Settings: map[string]string{
		"busy_timeout": "5000", "cache_size": "-65536", "foreign_keys": "1", "journal_mode": "wal", "synchronous": "1",
	}}, nil),
	// Nothing is as SQLite or an ecosystem has it by itself.
	"every": source(assay.Profile{Settings: map[string]string{
		"analysis_limit": "400", "automatic_index": "0", "busy_timeout": "1234", "cache_size": "5000", "cell_size_check": "1",
		"checkpoint_fullfsync": "1", "foreign_keys": "0", "fullfsync": "1", "ignore_check_constraints": "1",
		"journal_mode": "wal", "journal_size_limit": "1048576", "locking_mode": "normal", "mmap_size": "1048576",
		"query_only": "1", "read_uncommitted": "1", "recursive_triggers": "1", "reverse_unordered_selects": "1",
		"secure_delete": "2", "synchronous": "3", "temp_store": "2", "threads": "2", "trusted_schema": "0",
		"wal_autocheckpoint": "500",
	}}, map[string]string{"auto_vacuum": "2", "encoding": "UTF-16le", "page_size": "8192"}),
	"rollback": source(assay.Profile{Settings: map[string]string{"journal_mode": "truncate", "synchronous": "2", "busy_timeout": "0"}}, nil),
	"read-only": source(assay.Profile{Settings: map[string]string{
		"busy_timeout": "2500", "journal_mode": "delete", "mmap_size": "1048576", "read_only": "1",
	}}, map[string]string{"page_size": "4096"}),
	"immutable":     source(assay.Profile{Settings: map[string]string{"busy_timeout": "100", "immutable": "1", "journal_mode": "delete"}}, nil),
	"immutable-log": source(assay.Profile{Settings: map[string]string{"immutable": "1", "journal_mode": "wal"}}, nil),
	"shared": source(assay.Profile{Settings: map[string]string{
		"busy_timeout": "5000", "journal_mode": "wal", "locking_mode": "exclusive", "read_only": "0", "shared_cache": "1", "synchronous": "0",
	}}, nil),
	"exclusive": source(assay.Profile{Settings: map[string]string{"locking_mode": "exclusive", "journal_mode": "off", "synchronous": "0"}}, nil),
	"unshared":  source(assay.Profile{Settings: map[string]string{"busy_timeout": "5000", "immutable": "0", "memory": "0", "shared_cache": "0"}}, nil),
	"store":     source(assay.Profile{Settings: map[string]string{"sync": "1", "block_cache": "8388608"}}, nil),
	"sql": source(assay.Profile{
		Settings: map[string]string{"cache_size": "1000"},
		Each:     []string{"CREATE TEMP TABLE note (x);", "PRAGMA cache_size = 1000", "INSERT INTO note VALUES ('it''s \"#{1}\" \\')"},
	}, nil),
	"gaps": source(assay.Profile{
		Settings: map[string]string{"mutex": "no", "memory": "1"},
		Each:     []string{"ATTACH '{{path}}' AS other", "SELECT ';'"},
		Once:     []string{"ANALYZE"},
		Prepare:  []string{"CREATE INDEX i ON t (a)"},
	}, nil),
	"raw": source(assay.Profile{
		Raw:      map[string]string{"mattn": "file:{{path}}?mode=ro&_pragma=mmap_size(256MB)"},
		Requests: map[string]string{"read_only": "1", "mmap_size": "268435456"},
		Each:     []string{"pragma MMAP_SIZE(1)"},
	}, map[string]string{"journal_mode": "wal"}),
	"raw-memory": source(assay.Profile{
		Raw:      map[string]string{"mattn": "file:{{path}}?mode=memory&cache=shared", "modernc": "file:{{path}}?mode=memory&cache=shared"},
		Requests: map[string]string{"shared_cache": "1", "cache_size": "10000"},
		Once:     []string{"ATTACH '{{path}}' AS filedb", "PRAGMA cache_size = 10000"},
	}, nil),
}

func source(p assay.Profile, file map[string]string) emit.Source {
	return emit.Source{Profile: p, File: file}
}

// named is the profile of that name, as of a plan.
func named(name string) emit.Source {
	s := profiles[name]
	s.Name, s.Profile.Name = "test/"+name, name
	return s
}
