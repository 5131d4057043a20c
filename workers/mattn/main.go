// Worker mattn drives SQLite through github.com/mattn/go-sqlite3: the C
// library, by cgo.
package main

import (
	"errors"
	"os"

	"assay/kit/sqldb"

	"github.com/mattn/go-sqlite3"
)

func main() {
	os.Exit(sqldb.Main(sqldb.Driver{
		Name:    "mattn",
		Module:  "github.com/mattn/go-sqlite3",
		SQLName: "sqlite3",
		Cgo:     true,
		Key:     key,
		Busy:    busy,
		Mutex:   mutex,
	}))
}

// key returns the driver's DSN parameter of a setting. It has one for those
// that its documentation lists; it ignores all others without a word.
func key(name, value string) string {
	switch name {
	case "auto_vacuum", "busy_timeout", "cache_size", "foreign_keys", "journal_mode", "locking_mode",
		"query_only", "recursive_triggers", "secure_delete", "synchronous":
		return "_" + name + "=" + value
	case "mutex":
		return "_mutex=" + map[string]string{"NO": "no", "FULL": "full"}[value]
	}
	return ""
}

func busy(err error) bool {
	var failure sqlite3.Error
	return errors.As(err, &failure) && (failure.Code == sqlite3.ErrBusy || failure.Code == sqlite3.ErrLocked)
}
