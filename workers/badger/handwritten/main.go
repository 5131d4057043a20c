// Command handwritten times gets and puts with loops written by hand, to
// compare the worker with.
package main

import (
	"time"

	"assay/kit/handwritten"

	"github.com/dgraph-io/badger/v4"
)

func main() { handwritten.Store(open) }

func open(path, operation string) (handwritten.StoreLoop, error) {
	db, err := badger.Open(badger.DefaultOptions(path).WithLogger(nil))
	if operation == "put" {
		return func(keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
			return put(db, keys, first, window)
		}, err
	}
	return func(keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
		return get(db, keys, first, window)
	}, err
}

func get(db *badger.DB, keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
	var value []byte
	start := time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= window {
			return n, took, nil
		}
		key := keys[(first+n)%len(keys)]
		err := db.View(func(tx *badger.Txn) error {
			item, err := tx.Get(key)
			if err != nil {
				return err
			}
			value, err = item.ValueCopy(value[:0])
			return err
		})
		if err != nil {
			return 0, 0, err
		}
	}
}

func put(db *badger.DB, keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
	start := time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= window {
			return n, took, nil
		}
		key := keys[(first+n)%len(keys)]
		if err := db.Update(func(tx *badger.Txn) error { return tx.Set(key, handwritten.Value) }); err != nil {
			return 0, 0, err
		}
	}
}
