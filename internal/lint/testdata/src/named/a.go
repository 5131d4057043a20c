package named

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

// OpenDB and PrepareConn only have the names of what reaches every connection.
func OpenDB(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", path)
	PrepareConn(db)
	return db, err
}

func PrepareConn(db *sql.DB) {
	db.Exec("PRAGMA foreign_keys = ON") // want `PRAGMA foreign_keys reaches one connection of the pool`
}

type store struct{}

func (store) OpenDB() (*sql.DB, error) { return OpenDB("app.db") } // want `waits 0 ms for a lock`

func open() { store{}.OpenDB() }
