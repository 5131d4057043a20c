// Worker append-log is the floor of key-value stores: a commit appends to one
// file, and is synced where that is asked for; keys and values are in an ordered
// map in memory. No store that keeps its data on the disk can do with less.
package main

import (
	"os"

	"assay/kit/kv"
	"assay/kit/kvdb"
)

func main() {
	os.Exit(kvdb.Main(kvdb.Driver{
		Name:     "append-log",
		Module:   "github.com/google/btree",
		Settings: []string{kv.Sync},
		Facts:    map[string]string{"floor": "true"},
		Open:     func(c kvdb.Config) (kvdb.Store, error) { return open(c.Path, c.Sync(true)) },
	}))
}
