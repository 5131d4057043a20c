// Command handwritten times point reads with a loop written by hand, to
// compare the worker with.
package main

import (
	"assay/kit/handwritten"

	_ "modernc.org/sqlite"
)

func main() { handwritten.SQL("sqlite") }
