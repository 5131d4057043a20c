package unmeasured_version

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func open() {
	sql.Open("sqlite", "file:app.db?_cache_size=100") // want `modernc v1.60.9: ignores _cache_size=100 \(not measured itself; v1.55.0 before it and v1.61.1 after it do\)` `modernc v1.60.9 waits 0 ms`
}
