//go:build !linux

package dataset

import (
	"os"
	"syscall"
)

// dataFrom takes all of a file for data.
func dataFrom(_ *os.File, at, _ int64) (int64, error) { return at, nil }

// changeTime is unknown: each file is compared each time.
func changeTime(*syscall.Stat_t) int64 { return 0 }
