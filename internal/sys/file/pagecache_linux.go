package file

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// DropPages asks the kernel to forget a file's clean pages (posix_fadvise(2)).
func DropPages(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	err = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("drop %s from the page cache: %w", path, err)
	}
	return nil
}
