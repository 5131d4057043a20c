package modern55

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func open() {
	sql.Open("sqlite", "file:app.db?_journal_mode=WAL&_pragma=busy_timeout(5000)")
	sql.Open("sqlite", "file:app.db?_busy_timeout=5000&_cache_size=100") // want `modernc v1.55.0: ignores _cache_size=100; write _pragma=cache_size\(100\)`
}
