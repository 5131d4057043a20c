// Command handwritten times gets and puts with loops written by hand, to
// compare the worker with.
package main

import (
	"log"
	"time"

	"assay/kit/handwritten"

	"github.com/cockroachdb/pebble/v2"
)

func main() { handwritten.Store(open) }

// quiet drops what pebble tells of its compactions.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

func open(path, operation string) (handwritten.StoreLoop, error) {
	db, err := pebble.Open(path, &pebble.Options{Logger: quiet{}})
	if operation == "put" {
		return func(keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
			return put(db, keys, first, window)
		}, err
	}
	return func(keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
		return get(db, keys, first, window)
	}, err
}

func get(db *pebble.DB, keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
	var value []byte
	start := time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= window {
			return n, took, nil
		}
		stored, closer, err := db.Get(keys[(first+n)%len(keys)])
		if err != nil {
			return 0, 0, err
		}
		value = append(value[:0], stored...)
		if err := closer.Close(); err != nil {
			return 0, 0, err
		}
	}
}

func put(db *pebble.DB, keys [][]byte, first int, window time.Duration) (int, time.Duration, error) {
	start := time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= window {
			return n, took, nil
		}
		if err := db.Set(keys[(first+n)%len(keys)], handwritten.Value, pebble.NoSync); err != nil {
			return 0, 0, err
		}
	}
}
