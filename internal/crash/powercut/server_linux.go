package powercut

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// The files that a disk's server has. Where files are recorded, the marks are one of them.
const (
	DiskName  = "disk"
	MarksName = "marks"
	CallsName = "calls"
)

// Server is a file system in memory, by FUSE, that records what is done to it: to its files and
// folders, or to a block device with a volatile write cache, as a file that a loop device is put
// on. Beside them lie the file that workers mark their acknowledgements in and, beside a disk, the
// one that a tracer writes their system calls to, so that all are in one order.
//
// The process that serves a disk must never use the file system on it itself: if it
// were killed while it waits for its own answer, it would wait for ever. It
// starts other programs for that.
type Server struct {
	*fuse.Server

	mu        sync.Mutex
	recording *Recording // nil: nothing is recorded
	numbers   uint64     // of nodes, so far
	disk      *node      // nil: none
	failing   func(kind OpKind) bool
	below     string // folder of the files whose calls are noted
	line      []byte // of the tracer, as far as it was written
}

// ServeFiles mounts an empty file system in a folder, which records from then on.
func ServeFiles(folder string) (*Server, error) {
	s := &Server{recording: &Recording{}, numbers: RootNode}
	return s, s.serve(folder, &node{server: s, number: RootNode})
}

// ServeDisk mounts a disk with what lies beside it in a folder. The file system on the disk will
// be mounted at below.
func ServeDisk(folder, below string) (*Server, error) {
	s := &Server{numbers: RootNode, below: below}
	root := &node{server: s, number: RootNode}
	if err := s.serve(folder, root); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{DiskName, MarksName, CallsName} {
		child := root.add(context.Background(), name, NewImage(0))
		root.AddChild(name, &child.Inode, false)
		switch name {
		case DiskName:
			s.disk, child.number = child, 0
		case CallsName:
			child.kind = CallsName
		}
	}
	return s, nil
}

// serve mounts the file system. A fault of assay's own ends the process, and with it everything
// that is mounted: answered as an error, it would be taken for one of the disk.
func (s *Server) serve(folder string, root *node) (err error) {
	options := fuse.MountOptions{FsName: "assay-crash", Name: "assay-crash", DisableXAttrs: true, DirectMount: true, MaxWrite: 128 << 10,
		Logger: log.New(io.Discard, "", 0), PanicHandler: func(fault any) fuse.Status { panic(fault) }}
	if s.Server, err = fs.Mount(folder, root, &fs.Options{MountOptions: options}); err == nil {
		err = keepPrivate("/dev/fuse")
	}
	if err != nil {
		return fmt.Errorf("mount FUSE at %s: %w", folder, err)
	}
	return nil
}

// keepPrivate has no program inherit descriptors of a file. A program that had
// one of FUSE's would keep the disk alive after this process, with nobody to
// answer for it.
func keepPrivate(path string) error {
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
func (s *Server) Insert(image *Image, record bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.disk.content, s.recording, s.failing = image.Clone(), nil, nil
	if record {
		s.recording = &Recording{Base: image}
	}
}

// Recorded returns what was recorded so far and stops recording.
func (s *Server) Recorded() *Recording {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.recording
	s.recording = nil
	return r
}

// Content returns the content of the disk.
func (s *Server) Content() *Image {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.disk.content.Clone()
}

// Fail makes operations of the disk fail with EIO from now on, as failing says; nil: none.
func (s *Server) Fail(failing func(kind OpKind) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failing = failing
}

// note records an operation; the lock is held.
func (s *Server) note(op Op) {
	if s.recording == nil {
		return
	}
	if ops := s.recording.Ops; op.Kind == OpFlush && len(ops) > 0 && ops[len(ops)-1].Kind == OpFlush && ops[len(ops)-1].Node == op.Node {
		return // nothing happened in between
	}
	s.recording.Ops = append(s.recording.Ops, op)
}

// noteCalls notes the whole lines of what a tracer wrote; the lock is held.
func (s *Server) noteCalls(data []byte) {
	s.line = append(s.line, data...)
	for {
		line, rest, whole := bytes.Cut(s.line, []byte("\n"))
		if !whole {
			return
		}
		if op, ok := ParseFileCall(string(line), s.below); ok {
			s.note(op)
		}
		s.line = rest
	}
}

// node is a file or a folder. Its methods are called by FUSE, and those that take no lock have it.
type node struct {
	fs.Inode
	server  *Server
	number  uint64 // of its operations; 0: the disk
	content *Image // nil: a folder
	kind    string // MarksName or CallsName; empty: what is recorded
}

var (
	_ = fs.NodeGetattrer((*node)(nil))
	_ = fs.NodeSetattrer((*node)(nil))
	_ = fs.NodeCreater((*node)(nil))
	_ = fs.NodeMkdirer((*node)(nil))
	_ = fs.NodeUnlinker((*node)(nil))
	_ = fs.NodeRmdirer((*node)(nil))
	_ = fs.NodeRenamer((*node)(nil))
	_ = fs.NodeOpener((*node)(nil))
	_ = fs.NodeReader((*node)(nil))
	_ = fs.NodeWriter((*node)(nil))
	_ = fs.NodeFsyncer((*node)(nil))
)

func (n *node) isDisk() bool { return n == n.server.disk }

// fails reports whether an operation of the disk is to fail.
func (n *node) fails(kind OpKind) bool {
	return n.isDisk() && n.server.failing != nil && n.server.failing(kind)
}

func (n *node) attributes(out *fuse.Attr) {
	out.Mode, out.Nlink = fuse.S_IFDIR|0o700, 1
	if n.content != nil {
		out.Mode, out.Blksize = fuse.S_IFREG|0o600, BlockBytes
		out.Size = uint64(n.content.Bytes)
		out.Blocks = (out.Size + 511) / 512
	}
}

// Getattr implements fs.NodeGetattrer.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	n.attributes(&out.Attr)
	return fs.OK
}

// Setattr implements fs.NodeSetattrer: it changes the length of a file, and nothing else.
func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	if size, ok := in.GetSize(); ok && n.content != nil && n.kind == "" && !n.isDisk() {
		n.content.Truncate(int64(size))
		n.server.note(Op{Kind: OpTruncate, Node: n.number, Offset: int64(size)})
	}
	n.attributes(&out.Attr)
	return fs.OK
}

// add makes a child and records its entry.
func (n *node) add(ctx context.Context, name string, content *Image) *node {
	n.server.numbers++
	child := &node{server: n.server, number: n.server.numbers, content: content}
	mode := uint32(fuse.S_IFREG)
	if content == nil {
		mode = fuse.S_IFDIR
	}
	n.NewPersistentInode(ctx, child, fs.StableAttr{Mode: mode, Ino: child.number})
	if n.number == RootNode && name == MarksName {
		child.kind = MarksName
	} else {
		n.server.note(Op{Kind: OpName, Node: n.number, Name: name, Child: child.number, Folder: content == nil})
	}
	return child
}

// Create implements fs.NodeCreater.
func (n *node) Create(ctx context.Context, name string, _ uint32, _ uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	child := n.add(ctx, name, NewImage(0))
	child.attributes(&out.Attr)
	return &child.Inode, nil, 0, fs.OK
}

// Mkdir implements fs.NodeMkdirer.
func (n *node) Mkdir(ctx context.Context, name string, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	child := n.add(ctx, name, nil)
	child.attributes(&out.Attr)
	return &child.Inode, fs.OK
}

// Unlink implements fs.NodeUnlinker.
func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	n.server.note(Op{Kind: OpUnname, Node: n.number, Name: name})
	return fs.OK
}

// Rmdir implements fs.NodeRmdirer.
func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	if child := n.GetChild(name); child != nil && len(child.Children()) > 0 {
		return syscall.ENOTEMPTY
	}
	return n.Unlink(ctx, name)
}

// Rename implements fs.NodeRenamer: whole or not at all within a folder. Between
// two folders the new name comes first.
func (n *node) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	target, ok := to.EmbeddedInode().Operations().(*node)
	child := n.GetChild(name)
	if !ok || child == nil || flags != 0 {
		return syscall.EINVAL
	}
	moved, ok := child.Operations().(*node)
	if !ok {
		return syscall.EINVAL
	}
	op := Op{Kind: OpName, Node: target.number, Name: newName, Child: moved.number, Folder: moved.content == nil}
	if target == n {
		op.From = name
		n.server.note(op)
		return fs.OK
	}
	n.server.note(op)
	n.server.note(Op{Kind: OpUnname, Node: n.number, Name: name})
	return fs.OK
}

// Open implements fs.NodeOpener: the kernel has no cache of a disk and what lies beside it.
func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if n.server.disk != nil {
		return nil, fuse.FOPEN_DIRECT_IO, fs.OK
	}
	return nil, fuse.FOPEN_KEEP_CACHE, fs.OK
}

// Read implements fs.NodeReader.
func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	if n.fails(OpRead) {
		return nil, syscall.EIO
	}
	count := min(int64(len(dest)), max(0, n.content.Bytes-offset))
	n.content.Read(dest[:count], offset)
	return fuse.ReadResultData(dest[:count]), fs.OK
}

// Write implements fs.NodeWriter. Each byte of the marks is an acknowledgement.
func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	switch {
	case n.kind == CallsName:
		n.server.noteCalls(data)
		return uint32(len(data)), fs.OK
	case n.fails(OpWrite):
		return 0, syscall.EIO
	case n.kind == MarksName:
		for range data {
			n.server.note(Op{Kind: OpAck})
		}
	default:
		n.content.Write(data, offset)
		n.server.note(Op{Kind: OpWrite, Node: n.number, Offset: offset, Data: slices.Clone(data)})
	}
	n.content.Bytes = max(n.content.Bytes, offset+int64(len(data)))
	return uint32(len(data)), fs.OK
}

// Fsync implements fs.NodeFsyncer, for files and folders, and as the flush of the loop device.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	n.server.mu.Lock()
	defer n.server.mu.Unlock()
	if n.fails(OpFlush) {
		return syscall.EIO
	}
	if n.kind == "" {
		n.server.note(Op{Kind: OpFlush, Node: n.number})
	}
	return fs.OK
}
