package deferred

import (
	"context"
	"database/sql"

	_ "github.com/mattn/go-sqlite3"
)

func readThenWrite(ctx context.Context) {
	db, _ := sql.Open("sqlite3", "file:app.db?_busy_timeout=5000")
	tx, _ := db.BeginTx(ctx, nil) // want `mattn begins transactions deferred, and this one reads \(line 13\) before it writes \(line 14\)`
	tx.QueryRowContext(ctx, "SELECT n FROM t WHERE id = ?", 1)
	tx.ExecContext(ctx, "UPDATE t SET n = ?", 2)
}

func returning() {
	db, _ := sql.Open("sqlite3", "file:app.db")
	tx, _ := db.Begin()
	tx.QueryRow("INSERT INTO t VALUES (1) RETURNING id")
	tx.Exec("UPDATE t SET n = 2")
}

func immediate() {
	db, _ := sql.Open("sqlite3", "file:app.db?_txlock=immediate")
	tx, _ := db.Begin()
	tx.Query("SELECT 1")
	tx.Exec("UPDATE t SET n = 2")
}

func writeFirst() {
	db, _ := sql.Open("sqlite3", "file:app.db")
	tx, _ := db.Begin()
	tx.Exec("UPDATE t SET n = 2")
	tx.Query("SELECT 1")
	tx.Exec("UPDATE t SET n = 3")
}

func readOnly(ctx context.Context, dsn string) {
	db, _ := sql.Open("sqlite3", "file:app.db")
	tx, _ := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	tx.Query("SELECT 1")
	tx.Exec("UPDATE t SET n = 2")
	unknown, _ := sql.Open("sqlite3", dsn)
	other, _ := unknown.Begin()
	other.Query("SELECT 1")
	other.Exec("UPDATE t SET n = 2")
}

type store struct{ db *sql.DB }

func (s *store) within(f func(tx *sql.Tx) error) error {
	tx, _ := s.db.Begin()
	return f(tx)
}

func (s *store) closures() {
	s.within(func(tx *sql.Tx) error { // want `this one reads \(line 59\) before it writes \(line 60\)`
		tx.QueryRow("SELECT n FROM t")
		_, err := tx.Exec("UPDATE t SET n = 2")
		return err
	})
	s.within(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE t SET n = 2")
		return err
	})
}

func count(tx *sql.Tx) { tx.QueryRow("SELECT n FROM t") }

func set(tx *sql.Tx) { tx.Exec("UPDATE t SET n = 2") }

func newStore() *store {
	db, _ := sql.Open("sqlite3", "file:app.db")
	s := &store{db}
	tx, _ := s.db.Begin() // want `this one reads \(line 69\) before it writes \(line 71\)`
	count(tx)
	set(tx)
	last, _ := s.db.Begin()
	set(last)
	count(last)
	prepared, _ := s.db.Begin() // want `before it writes`
	read, _ := prepared.Prepare("SELECT n FROM t")
	read.QueryRow()
	write, _ := prepared.Prepare("UPDATE t SET n = 2")
	write.Exec()
	return s
}

type queries struct{ tx *sql.Tx }

func (q *queries) get() { q.tx.QueryRow("SELECT n FROM t") }

func (q *queries) put() { q.tx.Exec("UPDATE t SET n = 2") }

func (q *queries) with(tx *sql.Tx) *queries { return &queries{tx} }

func generated() {
	db, _ := sql.Open("sqlite3", "file:app.db")
	tx, _ := db.Begin() // want `before it writes`
	q := (&queries{}).with(tx)
	q.get()
	q.put()
}
