package crash

import (
	"cmp"
	"os/exec"
	"slices"
	"strings"
)

// FileSystem is what lies on the disk whose power is cut.
type FileSystem string

// The file systems.
const (
	Ext4  FileSystem = "ext4"
	XFS   FileSystem = "xfs"
	Btrfs FileSystem = "btrfs"
)

// FileSystems lists all file systems, the default first.
func FileSystems() []FileSystem { return []FileSystem{Ext4, XFS, Btrfs} }

// makers make each file system in a file.
var makers = map[FileSystem]struct {
	program   []string
	installed string // package that has the program
	options   string // of mounting
}{
	Ext4:  {[]string{"mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"}, "e2fsprogs", "loop"},
	XFS:   {[]string{"mkfs.xfs", "-q", "-f", "-K"}, "xfsprogs", "loop,nouuid"},
	Btrfs: {[]string{"mkfs.btrfs", "-q", "-f", "-K"}, "btrfs-progs", "loop"},
}

// missing says what there is not to make and mount the file system, where the
// kernel lists those that it knows as /proc/filesystems does; empty: nothing.
func (f FileSystem) missing(known string) string {
	f = cmp.Or(f, Ext4)
	program := makers[f].program[0]
	if _, err := exec.LookPath(program); err != nil {
		return "it takes " + program + ": apt-get install " + makers[f].installed
	}
	if !slices.Contains(strings.Fields(known), string(f)) && exec.Command("modprobe", "-q", "-n", string(f)).Run() != nil {
		return "it takes a kernel with " + string(f)
	}
	return ""
}
