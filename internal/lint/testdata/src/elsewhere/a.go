package elsewhere

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

// The pool is made, and may be limited, in another package.
func tune(db *sql.DB) {
	db.Exec("PRAGMA foreign_keys = ON")
	db.SetMaxOpenConns(8) // of which database, nobody can tell here
}
