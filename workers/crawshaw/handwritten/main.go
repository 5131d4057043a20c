// Command handwritten times point reads with a loop written by hand, to
// compare the worker with.
package main

import (
	"context"
	"fmt"
	"time"

	"assay/kit/handwritten"

	"crawshaw.io/sqlite/sqlitex"
)

const query = "SELECT id, name, hp, attack FROM monster WHERE id = ?"

func main() { handwritten.Direct(open) }

func open(dsn string) (handwritten.Loop, error) {
	pool, err := sqlitex.Open(dsn, 0, 1)
	if err != nil {
		return nil, err
	}
	return func(keys []int64, first int, window time.Duration) (int, time.Duration, error) {
		start := time.Now()
		for n := 0; ; n++ {
			took := time.Since(start)
			if took >= window {
				return n, took, nil
			}
			if err := read(pool, keys[(first+n)%len(keys)]); err != nil {
				return 0, 0, err
			}
		}
	}, nil
}

// row is where columns are read into.
var row struct {
	id, hp, attack int64
	name           string
}

func read(pool *sqlitex.Pool, key int64) error {
	conn := pool.Get(context.Background())
	if conn == nil {
		return fmt.Errorf("the pool is closed")
	}
	defer pool.Put(conn)
	stmt, err := conn.Prepare(query)
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
