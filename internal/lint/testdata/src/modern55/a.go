package modern55

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func open() {
	sql.Open("sqlite", "file:app.db?_journal_mode=WAL&_pragma=busy_timeout(5000)")
	sql.Open("sqlite", "file:app.db?_busy_timeout=5000&_cache_size=100") // want `modernc v1.55.0: ignores _cache_size=100; write _pragma=cache_size\(100\)`
}

func pool() *sql.DB { return nil }

func tune(db *sql.DB) {
	pool().Exec("PRAGMA foreign_keys = ON")
	db.Exec("PRAGMA foreign_keys = ON") // want `PRAGMA foreign_keys reaches one connection`
}
