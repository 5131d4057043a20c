// Command handwritten times point reads with a loop written by hand, to
// compare the worker with.
package main

import (
	"fmt"

	"assay/kit/handwritten"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/embed"
)

func main() { handwritten.Direct(open) }

func open(dsn string) (handwritten.Operation[int64], error) {
	conn, err := sqlite3.Open(dsn)
	if err != nil {
		return nil, err
	}
	stmt, _, err := conn.Prepare(handwritten.Query)
	if err != nil {
		return nil, err
	}
	return func(key int64) error { return read(stmt, key) }, nil
}

// row is where columns are read into.
var row struct {
	id, hp, attack int64
	name           string
}

func read(stmt *sqlite3.Stmt, key int64) error {
	if err := stmt.BindInt64(1, key); err != nil {
		return err
	}
	found := 0
	for stmt.Step() {
		row.id = stmt.ColumnInt64(0)
		row.name = stmt.ColumnText(1)
		row.hp = stmt.ColumnInt64(2)
		row.attack = stmt.ColumnInt64(3)
		found++
	}
	if err := stmt.Err(); err != nil || found != 1 {
		return fmt.Errorf("%d rows: %w", found, err)
	}
	return stmt.Reset()
}
