package matt

import (
	"database/sql"

	_ "github.com/mattn/go-sqlite3"
)

func open() {
	db, _ := sql.Open("sqlite3", "app.db?_pragma=foreign_keys(1)&_journal=WAL") // want `mattn v1.14.52: ignores _pragma=foreign_keys\(1\); write _foreign_keys=1`
	db.SetMaxOpenConns(20)                                                      // want `opens up to 20 connections and keeps 2`
	db.Exec("PRAGMA journal_mode = WAL")
	db.Exec("PRAGMA busy_timeout = 5000") // the default of mattn
	db.Exec("PRAGMA foreign_keys = ON;")  // want `PRAGMA foreign_keys reaches one connection of the pool.*; write _foreign_keys=ON`
	db.Exec("PRAGMA temp_store = MEMORY") // want `PRAGMA temp_store reaches one connection.*the DSN has no way to set it`
	db.Exec("PRAGMA user_version = 3")
}
