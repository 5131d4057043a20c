package seen

import (
	"database/sql"

	_ "github.com/mattn/go-sqlite3"
)

var pragmas = []string{"PRAGMA temp_store = 2", "PRAGMA synchronous = 0"} // want `PRAGMA temp_store reaches` `PRAGMA synchronous reaches`

func loops() {
	db, _ := sql.Open("sqlite3", "file:app.db")
	for _, p := range pragmas {
		db.Exec(p)
	}
	indexed := []string{"PRAGMA mmap_size = 9"}                // want `PRAGMA mmap_size reaches`
	indexed = append(indexed, "PRAGMA recursive_triggers = 1") // want `PRAGMA recursive_triggers reaches`
	for i := range indexed {
		db.Exec(indexed[i])
	}
	for name, value := range map[string]string{"cache_size": "9", "journal_mode": "wal"} { // want `PRAGMA cache_size reaches`
		db.Exec("PRAGMA " + name + " = " + value)
	}
	for _, p := range []struct{ name, value string }{{"busy_timeout", "1"}} { // want `PRAGMA busy_timeout reaches`
		db.Exec("PRAGMA " + p.name + " = " + p.value)
	}
}

func all(db *sql.DB, statements ...string) {
	for _, s := range statements {
		db.Exec(s)
	}
}

func variadic() {
	db, _ := sql.Open("sqlite3", "file:app.db")
	all(db, "PRAGMA journal_mode = wal", "PRAGMA secure_delete = 1") // want `PRAGMA secure_delete reaches`
}

func readers() {
	db, _ := sql.Open("sqlite3", "file:app.db?mode=ro")
	db.Exec("PRAGMA journal_mode = TRUNCATE") // want `PRAGMA journal_mode reaches .*; leave it out`
}
