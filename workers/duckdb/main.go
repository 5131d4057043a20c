// Worker duckdb drives DuckDB through github.com/duckdb/duckdb-go/v2: the library
// that its authors compile, by cgo.
package main

import (
	"errors"
	"os"
	"strings"

	vocabulary "assay/kit/duckdb"
	"assay/kit/sqldb"
	"assay/kit/wire"

	"github.com/duckdb/duckdb-go/v2"
)

func main() {
	os.Exit(sqldb.Main(sqldb.Driver{
		Name:    "duckdb",
		Module:  "github.com/duckdb/duckdb-go/v2",
		SQLName: "duckdb",
		Cgo:     true,
		Busy:    func(err error) bool { return is(err, duckdb.ErrorTypeTransaction) },
		Other: &sqldb.Other{
			Engine:     vocabulary.Engine,
			Capability: wire.CapDuckDB,
			Version:    "SELECT version()",
			Settings:   vocabulary.Settings,
			Setting:    "SELECT value FROM duckdb_settings() WHERE name = ?",
			Attach: func(path string) []string {
				return []string{"ATTACH IF NOT EXISTS '" + strings.ReplaceAll(path, "'", "''") + "' AS data", "USE data"}
			},
			Refused: func(err error) bool {
				return is(err, duckdb.ErrorTypeParser, duckdb.ErrorTypeSyntax, duckdb.ErrorTypeBinder, duckdb.ErrorTypeCatalog, duckdb.ErrorTypeNotImplemented)
			},
			Durability: "power",
		},
	}))
}

// is reports whether an error is DuckDB's, of one of these types.
func is(err error, types ...duckdb.ErrorType) bool {
	failure, ok := errors.AsType[*duckdb.Error](err)
	if !ok {
		return false
	}
	for _, t := range types {
		if failure.Type == t {
			return true
		}
	}
	return false
}
