// Command handwritten times point reads with a loop written by hand, to
// compare the worker with.
package main

import (
	"assay/kit/handwritten"

	_ "github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/embed"
)

func main() { handwritten.SQL("sqlite3") }
