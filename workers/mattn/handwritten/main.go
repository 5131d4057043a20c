// Command handwritten times point reads with a loop written by hand, to
// compare the worker with.
package main

import (
	"assay/kit/handwritten"

	_ "github.com/mattn/go-sqlite3"
)

func main() { handwritten.SQL("sqlite3") }
