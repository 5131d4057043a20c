// Command handwritten times gets and puts with a loop written by hand, to
// compare the worker with.
package main

import (
	"errors"
	"path/filepath"

	"assay/kit/handwritten"

	"go.etcd.io/bbolt"
)

var (
	bucket  = []byte("kv")
	errMiss = errors.New("a key is not there")
)

func main() { handwritten.Store(open) }

func open(path string) (get, put handwritten.Operation[[]byte], err error) {
	options := *bbolt.DefaultOptions
	options.NoSync = true
	db, err := bbolt.Open(filepath.Join(path, "data.bbolt"), 0o600, &options)
	var value []byte
	get = func(key []byte) error {
		return db.View(func(tx *bbolt.Tx) error {
			stored := tx.Bucket(bucket).Get(key)
			if stored == nil {
				return errMiss
			}
			value = append(value[:0], stored...)
			return nil
		})
	}
	put = func(key []byte) error {
		return db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(key, handwritten.Value()) })
	}
	return get, put, err
}
