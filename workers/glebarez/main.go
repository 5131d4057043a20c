// Worker glebarez drives SQLite through github.com/glebarez/go-sqlite,
// which wraps the translation of modernc.org/sqlite of its own choice.
package main

import (
	"os"

	"assay/kit/sqldb"

	_ "github.com/glebarez/go-sqlite"
)

func main() {
	os.Exit(sqldb.Main(sqldb.Driver{
		Name:    "glebarez",
		Module:  "github.com/glebarez/go-sqlite",
		SQLName: "sqlite",
		Key:     sqldb.PragmaKey,
		Busy:    sqldb.BusyCode,
		Cache:   "none; a prepared statement is compiled at each execution",
	}))
}
