package sqldb

import "errors"

// PragmaKey is the Key of drivers that take any PRAGMA in their DSN and run it
// on every connection that they open: modernc and those made of it.
func PragmaKey(name, value string) string {
	if name == "mutex" {
		return "" // no PRAGMA
	}
	return "_pragma=" + name + "(" + value + ")"
}

// BusyCode is the Busy of drivers whose errors have SQLite's extended result
// code: it recognises SQLITE_BUSY (5) and SQLITE_LOCKED (6).
func BusyCode(err error) bool {
	var failure interface{ Code() int }
	if !errors.As(err, &failure) {
		return false
	}
	primary := failure.Code() & 0xff
	return primary == 5 || primary == 6
}
