package nc

import (
	"database/sql"

	_ "github.com/ncruces/go-sqlite3/driver"
)

func open() {
	sql.Open("sqlite3", "file:app.db")                          // it waits a minute
	sql.Open("sqlite3", "file:app.db?_pragma=synchronous(off)") // want `ncruces v0.32.0 waits 0 ms for a lock`
	sql.Open("sqlite3", "app.db?_pragma=synchronous(off)")      // want `takes _pragma=synchronous\(off\) for a part of the file's name; begin the DSN with file:`
	sql.Open("sqlite3", "app.db?_pragma=foreign_keys(1)")       // want `takes _pragma=foreign_keys\(1\) for a part of the file's name`
	sql.Open("sqlite3", "file:app.db?_journal_mode=WAL")        // want `ignores _journal_mode=WAL; write _pragma=journal_mode\(WAL\)`
	sql.Open("sqlite3", "file:app.db?_txlock=immediate")
	sql.Open("sqlite3", "file:test?vfs=memdb") // want `each connection of the pool has an empty database of its own`
	sql.Open("sqlite3", "file:/test?vfs=memdb")
}

func transactions(path string) {
	db, _ := sql.Open("sqlite3", "app.db?_txlock=immediate") // want `ncruces v0.32.0: takes _txlock=immediate for a part of the file's name; begin the DSN with file:`
	tx, _ := db.Begin()                                      // want `ncruces begins transactions deferred`
	tx.Query("SELECT 1")
	tx.Exec("UPDATE t SET n = 2")
	other, _ := sql.Open("sqlite3", path+"?_txlock=immediate") // the path may begin with file:
	second, _ := other.Begin()
	second.Query("SELECT 1")
	second.Exec("UPDATE t SET n = 2")
}
