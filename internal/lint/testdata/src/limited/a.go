package limited

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func open() {
	db, _ := sql.Open("sqlite", ":memory:")
	db.SetMaxOpenConns(1)
	db.Exec("PRAGMA foreign_keys = ON")
	sql.Open("sqlite", "file:app.db?cache=shared&_pragma=busy_timeout(5000)") // one connection shares its cache with none
}
