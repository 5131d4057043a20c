//go:build unix

package gotest

import "maps"

// direct has the effects of spellings on drivers with APIs of their own, by
// driver and DSN. What is not listed is ignored. Some effects are the driver's
// own default.
var direct = map[string]map[string]Effect{
	"crawshaw": with(wal, sharedCache, map[string]Effect{
		"file:{{path}}?_mutex=no": Applied, // its default
		"file:{{path}}?nomutex=1": Applied,
		"file:{{path}}?mutex=no":  Applied,
	}),
	"zombiezen": with(wal, sharedCache),
	"eatonphil": with(uri, sharedCache, map[string]Effect{
		"file:{{path}}?_mutex=no": Applied, // its default
		"file:{{path}}?nomutex=1": Applied,
		"file:{{path}}?mutex=no":  Applied,
	}),
	"ncruces-direct": with(uri, map[string]Effect{
		"file:{{path}}?_pragma=journal_mode(WAL)":         Applied,
		"file:{{path}}?_pragma=journal_mode=WAL":          Applied,
		"file:{{path}}?_pragma=journal_mode%3dWAL":        Applied,
		"file:{{path}}?_pragma=mmap_size(256MB)":          Error,
		"file:{{path}}?_pragma=synchronous(OFF)":          Applied,
		"file:{{path}}?_pragma=locking_mode(EXCLUSIVE)":   Applied,
		"file:{{path}}?_pragma=temp_store(MEMORY)":        Applied,
		"file:{{path}}?_pragma=cache_size(10000)":         Applied,
		"file:{{path}}?_pragma=busy_timeout(1234)":        Applied,
		"file:{{path}}?_pragma=query_only(1)":             Applied,
		"file:{{path}}?_pragma=foreign_keys(1)":           Applied,
		"file:{{path}}?_foreign_keys=1":                   Applied, // its default
		"file:{{path}}?_fk=1":                             Applied,
		"file:{{path}}?mode=ro&_pragma=journal_mode(WAL)": Error,
	}),
}

// uri is what SQLite itself understands.
var uri = map[string]Effect{
	"file:{{path}}?mode=ro":                Applied,
	"file:{{path}}?immutable=1":            Applied,
	"file:{{path}}?mode=ro+shared+nomutex": Error,
}

var sharedCache = map[string]Effect{
	"file:{{path}}?cache=shared":         Applied,
	"file:{{path}}?cache=shared&mode=ro": Applied,
}

// wal is for drivers that set WAL where no flags are given; the file that is
// opened has it already.
var wal = with(uri, map[string]Effect{
	"file:{{path}}?_journal_mode=WAL":                 Applied,
	"file:{{path}}?_journal=WAL":                      Applied,
	"file:{{path}}?_pragma=journal_mode(WAL)":         Applied,
	"file:{{path}}?_pragma=journal_mode=WAL":          Applied,
	"file:{{path}}?_pragma=journal_mode%3dWAL":        Applied,
	"file:{{path}}?journal_mode=WAL":                  Applied,
	"file:{{path}}?mode=ro&_journal_mode=WAL":         Applied,
	"file:{{path}}?mode=ro&_pragma=journal_mode(WAL)": Applied,
})

// with puts effects together.
func with(effects ...map[string]Effect) map[string]Effect {
	all := map[string]Effect{}
	for _, e := range effects {
		maps.Copy(all, e)
	}
	return all
}
