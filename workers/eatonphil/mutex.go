package main

/*
// Defined by the driver's own C code, which the linker adds to this program.
extern void *sqlite3_db_mutex(void *db) __attribute__((weak));
*/
import "C"

import (
	"reflect"

	"assay/kit/stepdb"
)

// mutex asks SQLite whether a connection has a mutex. No PRAGMA shows that, and
// the driver does not give its handle away: it is in the field that handle names.
func mutex(c stepdb.Conn) (mode string, known bool) {
	db := reflect.ValueOf(c.(conn).Conn).Elem().FieldByName(handle)
	if !db.IsValid() || db.Kind() != reflect.Pointer || db.IsNil() {
		return "", false
	}
	if C.sqlite3_db_mutex(db.UnsafePointer()) == nil {
		return "no", true
	}
	return "full", true
}
