package dataset

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dataFrom is the first place from at on that is not in a hole of a file, or
// its size.
func dataFrom(file *os.File, at, size int64) (int64, error) {
	found, err := unix.Seek(int(file.Fd()), at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return size, nil
	case err != nil:
		return 0, err
	}
	return found, nil
}

func changeTime(stat *syscall.Stat_t) int64 { return stat.Ctim.Nano() }
