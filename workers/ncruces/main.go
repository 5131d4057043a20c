// Worker ncruces drives SQLite through github.com/ncruces/go-sqlite3/driver:
// the C library compiled to WebAssembly and that translated to Go, through database/sql.
package main

import (
	"errors"
	"os"

	"assay/kit/sqldb"

	"github.com/ncruces/go-sqlite3"
	_ "github.com/ncruces/go-sqlite3/driver"
	//lint:ignore SA1019 versions that run WebAssembly have SQLite itself in it
	_ "github.com/ncruces/go-sqlite3/embed"
	_ "github.com/ncruces/go-sqlite3/vfs/memdb"
)

func main() {
	os.Exit(sqldb.Main(sqldb.Driver{
		Name:    "ncruces",
		Module:  "github.com/ncruces/go-sqlite3",
		SQLName: "sqlite3",
		Key:     key,
		Busy:    busy,
		VFS:     "os",
	}))
}

// key sends every PRAGMA in the DSN, as the driver's documentation does.
func key(name, value string) string {
	if name == "shared_cache" {
		return "" // this build of SQLite leaves it out
	}
	return sqldb.PragmaKey(name, value)
}

func busy(err error) bool {
	return errors.Is(err, sqlite3.BUSY) || errors.Is(err, sqlite3.LOCKED)
}
