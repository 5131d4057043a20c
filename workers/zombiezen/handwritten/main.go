// Command handwritten times point reads with a loop written by hand, to
// compare the worker with.
package main

import (
	"context"
	"fmt"

	"assay/kit/handwritten"

	"zombiezen.com/go/sqlite/sqlitex"
)

func main() { handwritten.Direct(open) }

func open(dsn string) (handwritten.Operation[int64], error) {
	pool, err := sqlitex.NewPool(dsn, sqlitex.PoolOptions{PoolSize: 1})
	if err != nil {
		return nil, err
	}
	return func(key int64) error { return read(pool, key) }, nil
}

// row is where columns are read into.
var row struct {
	id, hp, attack int64
	name           string
}

func read(pool *sqlitex.Pool, key int64) error {
	conn, err := pool.Take(context.Background())
	if err != nil {
		return err
	}
	defer pool.Put(conn)
	stmt, err := conn.Prepare(handwritten.Query)
	if err != nil {
		return err
	}
	stmt.BindInt64(1, key)
	found := 0
	for {
		more, err := stmt.Step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		row.id = stmt.ColumnInt64(0)
		row.name = stmt.ColumnText(1)
		row.hp = stmt.ColumnInt64(2)
		row.attack = stmt.ColumnInt64(3)
		found++
	}
	if found != 1 {
		return fmt.Errorf("%d rows", found)
	}
	return nil
}
