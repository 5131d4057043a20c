// Command handwritten times point reads with a loop written by hand, to
// compare the worker with.
package main

import (
	"fmt"

	"assay/kit/handwritten"

	"github.com/eatonphil/gosqlite"
)

func main() { handwritten.Direct(open) }

func open(dsn string) (handwritten.Operation[int64], error) {
	conn, err := gosqlite.Open(dsn)
	if err != nil {
		return nil, err
	}
	stmt, err := conn.Prepare(handwritten.Query)
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

func read(stmt *gosqlite.Stmt, key int64) error {
	if err := stmt.Bind(key); err != nil {
		return err
	}
	found := 0
	for {
		more, err := stmt.Step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if row.id, _, err = stmt.ColumnInt64(0); err != nil {
			return err
		}
		if row.name, _, err = stmt.ColumnText(1); err != nil {
			return err
		}
		if row.hp, _, err = stmt.ColumnInt64(2); err != nil {
			return err
		}
		if row.attack, _, err = stmt.ColumnInt64(3); err != nil {
			return err
		}
		found++
	}
	if found != 1 {
		return fmt.Errorf("%d rows", found)
	}
	return stmt.Reset()
}
