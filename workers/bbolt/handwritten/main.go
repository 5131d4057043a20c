// Command handwritten times gets and puts with loops written by hand, to
// compare the worker with.
package main

import (
	"errors"
	"path/filepath"
	"time"

	"assay/kit/handwritten"

	"go.etcd.io/bbolt"
)

var bucket = []byte("kv")

func main() { handwritten.Store(open) }

func open(path, operation string) (handwritten.StoreLoop, error) {
	options := *bbolt.DefaultOptions
	options.NoSync = true
	db, err := bbolt.Open(filepath.Join(path, "data.bbolt"), 0o600, &options)
	if operation == "put" {
		return func(keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
			return put(db, keys, first, window)
		}, err
	}
	return func(keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
		return get(db, keys, first, window)
	}, err
}

var errMiss = errors.New("a key is not there")

func get(db *bbolt.DB, keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
	var value []byte
	start := time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= window {
			return n, took, nil
		}
		key := keys[(first+n)%len(keys)]
		err := db.View(func(tx *bbolt.Tx) error {
			stored := tx.Bucket(bucket).Get(key)
			if stored == nil {
				return errMiss
			}
			value = append(value[:0], stored...)
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
	}
}

func put(db *bbolt.DB, keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
	start := time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= window {
			return n, took, nil
		}
		key := keys[(first+n)%len(keys)]
		err := db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(key, handwritten.Value) })
		if err != nil {
			return 0, 0, err
		}
	}
}
