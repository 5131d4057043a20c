package modern54

import "database/sql"

// Which of both a test opens is not known: nothing is said of the memory.
func openEither(memory bool) {
	dsn := "file:app.db?_pragma=busy_timeout(5000)"
	if memory {
		dsn = ":memory:"
	}
	sql.Open("sqlite", dsn)
}
