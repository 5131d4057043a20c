// Command handwritten times point reads with a loop written by hand, to
// compare the worker with.
package main

import (
	"assay/kit/handwritten"

	_ "github.com/glebarez/go-sqlite"
)

func main() { handwritten.SQL("sqlite") }
