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
