package matt

import (
	"database/sql"

	_ "github.com/mattn/go-sqlite3"
)

func misspelled(path string) {
	sql.Open("sqlite3", "file:app.db?_sychronous=NORMAL&_jurnal_mode=WAL") // want `mattn v1.14.52: does not know _sychronous, as far as is known: did you mean _synchronous\?` `does not know _jurnal_mode, .*: did you mean _journal_mode\?`
	sql.Open("sqlite3", path+"?_Foreign_Keys=1")                           // want `does not know _Foreign_Keys, .*: did you mean _foreign_keys\?`
	sql.Open("sqlite3", "file:app.db?vfs=unix&modeof=a.db&_txlock=immediat&_tz=UTC&_timefmt=iso&_stmt_cache_size=9")
	sql.Open("sqlite3", "file:app.db?_journal_mode=WALL&_busy_timeout=5s&_cache_size=64MB&mode=rwx&_cache_size="+path)
}

func silenced() {
	//assay:ignore not-judged the driver's documentation has it
	sql.Open("sqlite3", "file:app.db?_txlock=deferred")
}

func open() {
	db, _ := sql.Open("sqlite3", "app.db?_pragma=foreign_keys(1)&_journal=WAL") // want `mattn v1.14.52: ignores _pragma=foreign_keys\(1\); write _foreign_keys=1`
	db.SetMaxOpenConns(20)                                                      // want `opens up to 20 connections and keeps 2`
	db.Exec("PRAGMA journal_mode = WAL")
	db.Exec("PRAGMA busy_timeout = 5000")     // the default of mattn
	db.Exec("PRAGMA foreign_keys = ON;")      // want `PRAGMA foreign_keys reaches one connection of the pool.*; write _foreign_keys=ON`
	db.Exec("PRAGMA temp_store = MEMORY")     // want `PRAGMA temp_store reaches one connection.*the DSN has no way to set it`
	db.Exec("PRAGMA locking_mode = EXCLUSIV") // want `locking_mode is not known to take EXCLUSIV: want normal or exclusive; write _locking_mode=VALUE`
	db.Exec("PRAGMA busy_timeout = 5s")       // want `busy_timeout is not known to take 5s: want milliseconds; write _busy_timeout=VALUE`
	db.Exec("PRAGMA user_version = 3")
}
