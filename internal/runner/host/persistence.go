package host

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay"
)

// Persistence returns the strongest class of durability that a database in dir
// can have, whatever its settings are, and why it is no stronger. It is
// assay.Power with an empty reason where nothing speaks against it: a local disk
// whose caches are flushed by a sync, or a system that does not say.
func Persistence(dir string) (strongest assay.Durability, why string) {
	if why := lossy(os.DirFS("/"), existing(dir), maxStacked); why != "" {
		return assay.Process, why
	}
	return assay.Power, ""
}

// maxStacked bounds how many file systems that lie in files of another one are
// looked through.
const maxStacked = 4

// inMemory are the file systems without a disk.
var inMemory = []string{"tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "rootfs"}

// remote are the file systems for which another machine or the host of a
// virtual machine decides what a sync means.
var remote = []string{"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "vboxsf", "prl_fs", "ceph", "afs", "lustre", "glusterfs"}

// lossy says why a sync in dir, an absolute path without symbolic links, need
// not survive a power cut; empty where it does as far as can be told.
func lossy(files fs.FS, dir string, depth int) string {
	m, found := mountOf(read(files, "proc/self/mountinfo"), filepath.ToSlash(dir))
	if !found || depth == 0 {
		return ""
	}
	switch {
	case slices.Contains(inMemory, m.kind):
		return m.kind + " keeps its files in memory: a power cut loses all of them"
	case slices.Contains(remote, m.kind):
		return m.kind + " is a network file system: its server decides whether a sync reaches a disk"
	case served(m.kind):
		return m.kind + " is served by a program, which decides whether a sync reaches a disk"
	case m.kind == "overlay" && slices.Contains(m.options, "volatile"):
		return "the overlay is mounted with volatile: it ignores every sync"
	case m.kind == "overlay":
		return lossy(files, m.visibleUpper(files), depth-1)
	}
	return lossyDisk(files, m, depth)
}

// Unmappable says why a file in dir had better not be mapped into memory: on a network file
// system, or one that a program serves, a read of a page that cannot be fetched ends the
// process. It is empty where nothing speaks against it, or where the system does not say.
func Unmappable(dir string) string {
	return unmappable(os.DirFS("/"), existing(dir), maxStacked)
}

func unmappable(files fs.FS, dir string, depth int) string {
	m, found := mountOf(read(files, "proc/self/mountinfo"), filepath.ToSlash(dir))
	switch {
	case !found || depth == 0:
		return ""
	case slices.Contains(remote, m.kind) || served(m.kind):
		return "the file lies on " + m.kind
	case m.kind == "overlay":
		return unmappable(files, m.visibleUpper(files), depth-1)
	}
	return ""
}

// served reports whether a program serves a file system of a kind.
func served(kind string) bool {
	return kind == "fuse" || kind == "fuseblk" || strings.HasPrefix(kind, "fuse.")
}

// visibleUpper is the folder that takes the writes of an overlay; empty where that is not
// visible: a container does not see the folders of its host.
func (m mount) visibleUpper(files fs.FS) string {
	if _, err := fs.Stat(files, strings.TrimPrefix(m.upper, "/")); err != nil {
		return ""
	}
	return m.upper
}

// lossyDisk judges the device of a mount and whether it is flushed.
func lossyDisk(files fs.FS, m mount, depth int) string {
	disk := diskOf(files, m)
	device := path.Base(disk)
	if disk != "" && (strings.HasPrefix(device, "ram") || strings.HasPrefix(device, "zram")) {
		return "the device " + device + " is memory: a power cut loses all of it"
	}
	unflushed := slices.Contains(m.options, "nobarrier") || slices.Contains(m.options, "barrier=0")
	if unflushed && read(files, disk+"/queue/write_cache") != "write through" {
		return "the file system is mounted with nobarrier: a sync does not flush the write cache of the disk"
	}
	if backing := read(files, disk+"/loop/backing_file"); disk != "" && backing != "" {
		return lossy(files, backing, depth-1)
	}
	return ""
}
