// Worker modernc drives SQLite through modernc.org/sqlite: the C library
// translated to Go.
package main

import (
	"os"

	"assay/kit/sqldb"

	_ "modernc.org/sqlite"
)

func main() {
	os.Exit(sqldb.Main(sqldb.Driver{
		Name:    "modernc",
		Module:  "modernc.org/sqlite",
		SQLName: "sqlite",
		Key:     sqldb.PragmaKey,
		Busy:    sqldb.BusyCode,
	}))
}
