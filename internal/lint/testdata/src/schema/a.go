package schema

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

const tables = `CREATE TABLE a (id INTEGER PRIMARY KEY);
CREATE TABLE b (a INTEGER REFERENCES a(id));`

func open() {
	db, _ := sql.Open("sqlite", "file:app.db?_pragma=busy_timeout(5000)&_pragma=cache_size(-200000)") // want `does not enforce foreign keys by default` `195 MB for each of up to 10 connections: 1953 MB in all`
	db.SetMaxIdleConns(10)
	db.SetMaxOpenConns(10)
	db.Exec(tables)
}
