// Command handwritten times gets and puts with loops written by hand, to
// compare the worker with.
package main

import (
	"log"

	"assay/kit/handwritten"

	"github.com/cockroachdb/pebble/v2"
)

func main() { handwritten.Store(open) }

// quiet drops what pebble tells of its compactions.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(string, ...any)             {}
func (quiet) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }

func open(path string) (get, put handwritten.Operation[[]byte], err error) {
	db, err := pebble.Open(path, &pebble.Options{Logger: quiet{}})
	var value []byte
	get = func(key []byte) error {
		stored, closer, err := db.Get(key)
		if err != nil {
			return err
		}
		value = append(value[:0], stored...)
		return closer.Close()
	}
	put = func(key []byte) error { return db.Set(key, handwritten.Value(), pebble.NoSync) }
	return get, put, err
}
