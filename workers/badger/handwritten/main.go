// Command handwritten times gets and puts with a loop written by hand, to
// compare the worker with.
package main

import (
	"assay/kit/handwritten"

	"github.com/dgraph-io/badger/v4"
)

func main() { handwritten.Store(open) }

func open(path string) (get, put handwritten.Operation[[]byte], err error) {
	db, err := badger.Open(badger.DefaultOptions(path).WithLogger(nil))
	var value []byte
	get = func(key []byte) error {
		return db.View(func(tx *badger.Txn) error {
			item, err := tx.Get(key)
			if err != nil {
				return err
			}
			value, err = item.ValueCopy(value[:0])
			return err
		})
	}
	put = func(key []byte) error {
		return db.Update(func(tx *badger.Txn) error { return tx.Set(key, handwritten.Value()) })
	}
	return get, put, err
}
