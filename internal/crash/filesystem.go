package crash

import (
	"cmp"
	"os/exec"
	"slices"
	"strings"

	"assay"
)

// FileSystems lists all file systems, the default first.
func FileSystems() []assay.FileSystem { return []assay.FileSystem{assay.Ext4, assay.XFS, assay.Btrfs} }

var makers = map[assay.FileSystem]struct {
	program   []string
	installed string // package that has the program
	options   string // of mounting
}{
	assay.Ext4:  {[]string{"mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"}, "e2fsprogs", "loop"},
	assay.XFS:   {[]string{"mkfs.xfs", "-q", "-f", "-K"}, "xfsprogs", "loop,nouuid"},
	assay.Btrfs: {[]string{"mkfs.btrfs", "-q", "-f", "-K"}, "btrfs-progs", "loop"},
}

// missingFileSystem says what there is not to make and mount a file system, where
// the kernel lists those that it knows as /proc/filesystems does; empty: nothing.
func missingFileSystem(f assay.FileSystem, known string) string {
	f = cmp.Or(f, assay.Ext4)
	program := makers[f].program[0]
	if _, err := exec.LookPath(program); err != nil {
		return "it needs " + program + ": apt-get install " + makers[f].installed
	}
	if !slices.Contains(strings.Fields(known), string(f)) && exec.Command("modprobe", "-q", "-n", string(f)).Run() != nil {
		return "it needs a kernel with " + string(f)
	}
	return ""
}
