package handle

import (
	"database/sql"

	_ "github.com/mattn/go-sqlite3"
)

func enforcing(path string) (*sql.DB, error) {
	return sql.Open("sqlite3", "file:"+path+"?_foreign_keys=on")
}

func plain(path string) (*sql.DB, error) {
	return sql.Open("sqlite3", "file:"+path+"?_cache_size=-4000")
}

func wrapped(path string) (*sql.DB, error) { return plain(path) }

// The DSN has what the PRAGMA sets.
func one() {
	db, _ := enforcing("a.db")
	db.Exec("PRAGMA foreign_keys = ON")
}

func two() {
	db, _ := wrapped("a.db")
	db.Exec("PRAGMA foreign_keys = ON") // want `the others, and all that are opened later, keep the default; write _foreign_keys=ON`
}

// One of the calls that may have opened it sets it.
func given(db *sql.DB) {
	db.Exec("PRAGMA foreign_keys = ON")
	db.Exec("PRAGMA recursive_triggers = ON") // want `have it only where their DSN sets it, and the DSN is not seen here in full; set it in the DSN`
}

func unseen(dsn string) {
	db, _ := sql.Open("sqlite3", dsn)
	db.Exec("PRAGMA recursive_triggers = ON") // want `have it only where their DSN sets it, and the DSN is not seen here in full; write _recursive_triggers=ON`
}
