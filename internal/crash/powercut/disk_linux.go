package powercut

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// The files that the FUSE server has, by node.
const (
	DiskName  = "disk"
	MarksName = "marks"
	CallsName = "calls"

	diskNode  = 2
	marksNode = 3
	callsNode = 4
)

// Disk is a block device with a volatile write cache, as a file that a loop
// device is put on. Beside it lie the file that workers mark their
// acknowledgements in, and the one that a tracer writes their system calls to, so
// that all are in one order.
//
// The process that serves it must never use the file system on it itself: if it
// were killed while it waits for its own answer, it would wait for ever. It
// starts other programs for that.
type Disk struct {
	fuse.RawFileSystem
	Server *fuse.Server

	mu        sync.Mutex
	image     *Image
	recording *Recording // nil: nothing is recorded
	failing   func(kind OpKind) bool
	below     string // folder of the files whose calls are noted
	line      []byte // of the tracer, as far as it was written
}

// ServeDisk mounts the files in a folder. The file system on the disk will be
// mounted at below.
func ServeDisk(folder, below string) (*Disk, error) {
	d := &Disk{RawFileSystem: fuse.NewDefaultRawFileSystem(), image: NewImage(0), below: below}
	options := MountOptions()
	options.DirectMountStrict, options.MaxWrite = true, 128<<10
	server, err := fuse.NewServer(d, folder, &options)
	if err != nil {
		return nil, fmt.Errorf("mount FUSE at %s: %w", folder, err)
	}
	d.Server = server
	go server.Serve()
	err = errors.Join(server.WaitMount(), KeepPrivate("/dev/fuse"))
	if err != nil {
		return nil, fmt.Errorf("mount FUSE at %s: %w", folder, err)
	}
	return d, nil
}

// MountOptions are those of all FUSE file systems. A fault of assay's own ends the
// process, and with it everything that is mounted: answered as an error, it would
// be taken for one of the disk.
func MountOptions() fuse.MountOptions {
	return fuse.MountOptions{FsName: "assay-crash", Name: "assay-crash", DisableXAttrs: true, Logger: log.New(io.Discard, "", 0),
		PanicHandler: func(fault any) fuse.Status { panic(fault) }}
}

// KeepPrivate has no program inherit descriptors of a file. A program that had
// one of FUSE's would keep the disk alive after this process, with nobody to
// answer for it.
func KeepPrivate(path string) error {
	const descriptors = "/proc/self/fd"
	entries, err := os.ReadDir(descriptors)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(descriptors, e.Name())); err != nil || target != path {
			continue // closed meanwhile, or another file
		}
		number, err := strconv.Atoi(e.Name())
		if err != nil {
			return err
		}
		syscall.CloseOnExec(number)
	}
	return nil
}

// Insert puts a disk in, and records what is done to it where record is set.
func (d *Disk) Insert(image *Image, record bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.image, d.recording, d.failing = image.Clone(), nil, nil
	if record {
		d.recording = &Recording{Base: image}
	}
}

// Recorded returns what was recorded so far and stops recording.
func (d *Disk) Recorded() *Recording {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.recording
	d.recording = nil
	return r
}

func (d *Disk) Content() *Image {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.image.Clone()
}

// Fail makes operations fail with EIO from now on, as failing says; nil: none.
func (d *Disk) Fail(failing func(kind OpKind) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failing = failing
}

func (d *Disk) attributes(node uint64) fuse.Attr {
	attr := fuse.Attr{Ino: node, Mode: syscall.S_IFREG | 0o600, Nlink: 1, Blksize: BlockBytes}
	switch node {
	case fuse.FUSE_ROOT_ID:
		attr.Mode = syscall.S_IFDIR | 0o700
	case diskNode:
		attr.Size = uint64(d.image.Bytes)
	}
	return attr
}

// Lookup implements fuse.RawFileSystem.
func (d *Disk) Lookup(_ <-chan struct{}, _ *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	node := map[string]uint64{DiskName: diskNode, MarksName: marksNode, CallsName: callsNode}[name]
	if node == 0 {
		return fuse.ENOENT
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out.NodeId, out.Attr = node, d.attributes(node)
	return fuse.OK
}

// GetAttr implements fuse.RawFileSystem.
func (d *Disk) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	out.Attr = d.attributes(in.NodeId)
	return fuse.OK
}

// Open implements fuse.RawFileSystem: without a cache of the kernel.
func (d *Disk) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_DIRECT_IO
	return fuse.OK
}

// Read implements fuse.RawFileSystem.
func (d *Disk) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if in.NodeId != diskNode {
		return fuse.ReadResultData(nil), fuse.OK
	}
	if d.failing != nil && d.failing(OpRead) {
		return nil, fuse.EIO
	}
	n := min(int64(len(buf)), max(0, d.image.Bytes-int64(in.Offset)))
	d.image.Read(buf[:n], int64(in.Offset))
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

// Write implements fuse.RawFileSystem.
func (d *Disk) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch in.NodeId {
	case marksNode:
		for range data {
			d.note(Op{Kind: OpAck})
		}
		return uint32(len(data)), fuse.OK
	case callsNode:
		d.noteCalls(data)
		return uint32(len(data)), fuse.OK
	}
	if d.failing != nil && d.failing(OpWrite) {
		return 0, fuse.EIO
	}
	d.image.Write(data, int64(in.Offset))
	d.note(Op{Kind: OpWrite, Offset: int64(in.Offset), Data: slices.Clone(data)})
	return uint32(len(data)), fuse.OK
}

// Fsync implements fuse.RawFileSystem: the flush of the loop device.
func (d *Disk) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	if in.NodeId != diskNode {
		return fuse.OK
	}
	if d.failing != nil && d.failing(OpFlush) {
		return fuse.EIO
	}
	d.note(Op{Kind: OpFlush})
	return fuse.OK
}

// noteCalls notes the whole lines of what a tracer wrote.
func (d *Disk) noteCalls(data []byte) {
	d.line = append(d.line, data...)
	for {
		line, rest, whole := bytes.Cut(d.line, []byte("\n"))
		if !whole {
			return
		}
		if op, ok := ParseFileCall(string(line), d.below); ok {
			d.note(op)
		}
		d.line = rest
	}
}

func (d *Disk) note(op Op) {
	if d.recording == nil {
		return
	}
	if ops := d.recording.Ops; op.Kind == OpFlush && len(ops) > 0 && ops[len(ops)-1].Kind == OpFlush {
		return // nothing happened in between
	}
	d.recording.Ops = append(d.recording.Ops, op)
}

// Flush implements fuse.RawFileSystem: it is called when a descriptor is
// closed, and is no flush of the disk.
func (d *Disk) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

// Access implements fuse.RawFileSystem.
func (d *Disk) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.OK }

// SetAttr implements fuse.RawFileSystem: nothing can be changed.
func (d *Disk) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	out.Attr = d.attributes(in.NodeId)
	return fuse.OK
}

// StatFs implements fuse.RawFileSystem.
func (d *Disk) StatFs(<-chan struct{}, *fuse.InHeader, *fuse.StatfsOut) fuse.Status { return fuse.OK }
