package unsure

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func open(maximum int) {
	db, _ := sql.Open("sqlite", "file:app.db?_pragma=busy_timeout(5000)")
	db.SetMaxOpenConns(maximum)
	db.Exec("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL")
}
