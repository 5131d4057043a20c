// Worker sqlite-c drives SQLite's own C API, with no driver in between: the floor.
//
// It is the kit with one loop in C, which Go calls once for each client of a window: a call
// from Go to C for each operation is seen in a point read of a few microseconds. SQLite is
// compiled from the amalgamation that a Go module carries. sqlite-c takes SQLite's own
// defaults; sqlite-c@mattn takes the amalgamation and the compile options of that driver, so
// that what differs is the driver alone.
package main

/*
#include <stdlib.h>
#include "loop.h"
*/
import "C"

import (
	"errors"
	"os"
	"unsafe"

	"assay/kit/stepdb"
)

func main() {
	if rc := C.sqlite3_initialize(); rc != C.SQLITE_OK { // some builds leave it to the program
		os.Stderr.WriteString("sqlite3_initialize failed\n")
		os.Exit(1)
	}
	version := C.GoString(C.sqlite3_libversion())
	if like := C.LIKE; like != "" {
		version += "+" + like
	}
	os.Exit(stepdb.Main(stepdb.Driver{
		Name:           "sqlite-c",
		Version:        version,
		StatementCache: "none",
		Facts: map[string]string{"api": "C", "cgo": "false", "floor": "true", "module": "",
			"uncounted": "B/op and allocs/op: there is no heap of a language"},
		Open:  open,
		Code:  code,
		Mutex: mutex,
		Lacks: lacks,
		Loop:  newLoop,
	}))
}

// lacks reports whether SQLite has no database in memory that connections share.
func lacks(name, value string) bool {
	return name == "memory" && value == "1" && C.sqlite3_libversion_number() < 3036000
}

// failure is an error of SQLite.
type failure struct {
	code    int
	message string
}

func (f *failure) Error() string { return f.message }

func code(err error) int {
	var f *failure
	if !errors.As(err, &f) {
		return 0
	}
	return f.code
}

type conn struct{ db *C.sqlite3 }

// failed is the connection's error for a result code; nil for success.
func (c conn) failed(rc C.int) error {
	if rc == C.SQLITE_OK || rc == C.SQLITE_ROW || rc == C.SQLITE_DONE {
		return nil
	}
	return &failure{int(rc), C.GoString(C.sqlite3_errmsg(c.db))}
}

func open(s stepdb.Source) (stepdb.Conn, error) {
	uri := C.CString(s.URI)
	defer C.free(unsafe.Pointer(uri))
	flags := C.int(C.SQLITE_OPEN_READWRITE | C.SQLITE_OPEN_CREATE | C.SQLITE_OPEN_URI)
	switch s.Mutex {
	case "no":
		flags |= C.SQLITE_OPEN_NOMUTEX
	case "full":
		flags |= C.SQLITE_OPEN_FULLMUTEX
	}
	var c conn
	if err := c.failed(C.sqlite3_open_v2(uri, &c.db, flags, nil)); err != nil {
		C.sqlite3_close_v2(c.db)
		return nil, err
	}
	C.sqlite3_extended_result_codes(c.db, 1)
	return c, nil
}

func mutex(c stepdb.Conn) (mode string, known bool) {
	if C.sqlite3_db_mutex(c.(conn).db) == nil {
		return "no", true
	}
	return "full", true
}

func (c conn) Exec(sql string) error {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	return c.failed(C.sqlite3_exec(c.db, text, nil, nil, nil))
}

func (c conn) ExecScript(sql string) error { return c.Exec(sql) }
func (c conn) Changes() int                { return int(C.sqlite3_changes(c.db)) }
func (c conn) Close() error                { return c.failed(C.sqlite3_close(c.db)) }

func (c conn) Prepare(sql string) (stepdb.Stmt, error) {
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	s := stmt{conn: c}
	var tail *C.char
	if err := c.failed(C.sqlite3_prepare_v2(c.db, text, -1, &s.s, &tail)); err != nil {
		return nil, err
	}
	switch {
	case s.s == nil:
		return nil, errors.New("no statement")
	case *tail != 0:
		return nil, errors.Join(errors.New("more than one statement"), s.Close())
	}
	return s, nil
}

type stmt struct {
	conn conn
	s    *C.sqlite3_stmt
}

func (s stmt) Bind(args *stepdb.Args) error { return stepdb.Bind(s, args) }
func (s stmt) BindNull(i int) error         { return s.conn.failed(C.sqlite3_bind_null(s.s, C.int(i))) }
func (s stmt) BindInt(i int, v int64) error {
	return s.conn.failed(C.sqlite3_bind_int64(s.s, C.int(i), C.sqlite3_int64(v)))
}
func (s stmt) BindReal(i int, v float64) error {
	return s.conn.failed(C.sqlite3_bind_double(s.s, C.int(i), C.double(v)))
}

func (s stmt) BindBool(i int, v bool) error {
	if v {
		return s.BindInt(i, 1)
	}
	return s.BindInt(i, 0)
}

func (s stmt) BindText(i int, v string) error {
	text := C.CString(v)
	defer C.free(unsafe.Pointer(text))
	return s.conn.failed(C.bind_text(s.s, C.int(i), text, C.int(len(v))))
}

func (s stmt) BindBlob(i int, v []byte) error {
	data := C.CBytes(v)
	defer C.free(data)
	return s.conn.failed(C.bind_blob(s.s, C.int(i), data, C.int(len(v))))
}

func (s stmt) Step() (bool, error) {
	rc := C.sqlite3_step(s.s)
	return rc == C.SQLITE_ROW, s.conn.failed(rc)
}

func (s stmt) Columns() int             { return int(C.sqlite3_column_count(s.s)) }
func (s stmt) Type(i int) stepdb.Type   { return stepdb.Type(C.sqlite3_column_type(s.s, C.int(i))) }
func (s stmt) Int(i int) (int64, error) { return int64(C.sqlite3_column_int64(s.s, C.int(i))), nil }

func (s stmt) Real(i int) (float64, error) {
	return float64(C.sqlite3_column_double(s.s, C.int(i))), nil
}

func (s stmt) Text(i int) (string, error) {
	text := C.sqlite3_column_text(s.s, C.int(i))
	return C.GoStringN((*C.char)(unsafe.Pointer(text)), C.sqlite3_column_bytes(s.s, C.int(i))), nil
}

func (s stmt) Blob(i int, _ []byte) ([]byte, error) {
	data := C.sqlite3_column_blob(s.s, C.int(i))
	return C.GoBytes(data, C.sqlite3_column_bytes(s.s, C.int(i))), nil
}

func (s stmt) Bool(i int) (bool, error) {
	v, err := s.Int(i)
	return v != 0, err
}

func (s stmt) Reset() error { return s.conn.failed(C.sqlite3_reset(s.s)) }
func (s stmt) Close() error { return s.conn.failed(C.sqlite3_finalize(s.s)) }
