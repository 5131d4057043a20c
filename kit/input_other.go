//go:build !linux

package kit

import "os"

// input is the standard input, and what ends its use: on Linux alone it is read
// otherwise.
func input() (in *os.File, end func()) { return os.Stdin, func() {} }
