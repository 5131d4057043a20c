package sql

import (
	"fmt"
	"runtime"

	"assay/kit"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// Capabilities are those of all workers of SQLite.
func Capabilities() []string {
	return []string{wire.CapSQL, wire.CapHTTP, wire.CapAnswers, wire.CapOrdered}
}

// Target asks SQLite itself what a driver drives.
func Target(driver, module string, cgo bool, facts map[string]string, conn sqlite.Conn) (wire.Target, error) {
	target := wire.Target{Driver: driver, DriverVersion: kit.ModuleVersion(module), Engine: "sqlite", Facts: facts}
	facts["cgo"], facts["go"], facts["module"] = fmt.Sprint(cgo), runtime.Version(), module
	facts["uncounted"] = "B/op and allocs/op leave out what SQLite itself allocates"
	version, err := conn.Texts("SELECT sqlite_version(), sqlite_source_id()")
	if err != nil {
		return target, err
	}
	target.EngineVersion, facts["source_id"] = version[0][0], version[0][1]
	options, err := conn.Texts("PRAGMA compile_options")
	for _, option := range options {
		target.CompileOptions = append(target.CompileOptions, option[0])
	}
	return target, err
}

// Details are the lines of EXPLAIN QUERY PLAN for people: the last of the columns
// id, parent, unused and detail.
func Details(rows [][]string) (lines []string) {
	for _, row := range rows {
		lines = append(lines, row[3])
	}
	return lines
}
