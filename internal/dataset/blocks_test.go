//go:build unix

package dataset

import (
	"io/fs"
	"path/filepath"
	"syscall"
)

// folderBlocks is what the files of a folder take on the disk, in bytes.
func folderBlocks(folder string) (used int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() {
			used += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	})
	return used, err
}
