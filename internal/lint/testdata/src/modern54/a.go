package modern54

import (
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite"
)

const options = "_busy_timeout=5000" // want `ignores _busy_timeout=5000`

func open(path string, cache int) {
	sql.Open("sqlite", "file:app.db?_journal_mode=WAL&_pragma=busy_timeout(5000)")  // want `modernc v1.54.0: ignores _journal_mode=WAL \(v1.55.0 honours it, v1.54.0 does not\); write _pragma=journal_mode\(WAL\)`
	sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)&_fk=1")                    // want `ignores _fk=1 .*; write _pragma=foreign_keys\(1\)`
	sql.Open("sqlite", fmt.Sprintf("file:%s?_cache_size=%d&"+options, path, cache)) // want `ignores _cache_size=\.\.\.`
	sql.Open("sqlite", fmt.Sprintf("file:%s?mode=rwc", path))                       // want `waits 0 ms for a lock by default.*; write _pragma=busy_timeout\(5000\)`
	sql.Open("sqlite", "app.db?mode=ro&_pragma=busy_timeout(5000)")                 // want `ignores mode=ro in a DSN that does not begin with file:; begin the DSN with file:`
	sql.Open("sqlite", "app.db?mode=rwc&_pragma=busy_timeout(5000)")
	sql.Open("sqlite", "file:app.db?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&mode=ro&_unheard=1") // want `_pragma=journal_mode\(WAL\) together with mode=ro is an error`
	sql.Open("sqlite", path)
	sql.Open("sqlite", "file:app.db?_journal_mode=WALL&_pragma=busy_timeout(5000)") // want `ignores _journal_mode=WALL .*; journal_mode is not known to take WALL: want delete, .*; write _pragma=journal_mode\(VALUE\)`

	dsn := "file:app.db?_journal=WAL" // want `ignores _journal=WAL`
	dsn += "&_pragma=busy_timeout(1)"
	sql.Open("sqlite", dsn)

	//assay:ignore ignored-key the next version honours it
	sql.Open("sqlite", "file:app.db?_journal_mode=WAL&_pragma=busy_timeout(5000)")
	//assay:ignore ignored-key
	sql.Open("sqlite", "file:app.db?_journal_mode=WAL&_pragma=busy_timeout(5000)") // want `ignores _journal_mode`
}

func memory() {
	sql.Open("sqlite", ":memory:") // want `each connection of the pool has an empty database of its own`
	sql.Open("sqlite", "file:x?mode=memory&cache=shared")
	sql.Open("sqlite", ":memory:?_journal_mode=WAL&_sync=OFF") // want `an empty database of its own` `ignores _journal_mode=WAL .*leave it out` `ignores _sync=OFF`
}

func shared() {
	sql.Open("sqlite", "file:app.db?cache=shared&_pragma=busy_timeout(5000)") // want `lock whole tables`
}
