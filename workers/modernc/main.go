// Worker modernc drives SQLite through modernc.org/sqlite: the C library
// translated to Go.
package main

import (
	"errors"
	"os"

	"assay/kit/sqldb"

	"modernc.org/sqlite"
)

func main() {
	os.Exit(sqldb.Main(sqldb.Driver{
		Name:    "modernc",
		Module:  "modernc.org/sqlite",
		SQLName: "sqlite",
		Key:     key,
		Busy:    busy,
	}))
}

// key returns the driver's DSN parameter of a setting: it runs any PRAGMA on
// every connection that it opens.
func key(name, value string) string {
	if name == "mutex" {
		return ""
	}
	return "_pragma=" + name + "(" + value + ")"
}

// busy recognises SQLITE_BUSY (5) and SQLITE_LOCKED (6) with all their
// extended codes.
func busy(err error) bool {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return false
	}
	code := failure.Code() & 0xff
	return code == 5 || code == 6
}
