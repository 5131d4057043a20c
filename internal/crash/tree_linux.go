package crash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"assay"
	"assay/internal/crash/powercut"
)

// fileCut cuts the power of files and folders, in a file system that is only a model.
func fileCut() fault {
	return fault{Fault: assay.FileCut, level: fileLevel, subject: "A power cut (weaker model, of files)", weight: 4, inject: (*trial).power}
}

// recorder is a file system in memory that records what is done to its files and
// folders. A file named marks in its root takes the acknowledgements.
type recorder struct {
	server *fuse.Server

	mu        sync.Mutex
	recording *powercut.Recording
	numbers   uint64
}

// serveFiles mounts an empty file system. It is mounted anew for each recording.
func serveFiles(folder string) (*recorder, error) {
	r := &recorder{recording: &powercut.Recording{}, numbers: powercut.RootNode}
	root := &node{recorder: r, number: powercut.RootNode}
	options := powercut.MountOptions()
	options.DirectMount = true
	server, err := fs.Mount(folder, root, &fs.Options{MountOptions: options})
	if err == nil {
		r.server = server
		err = powercut.KeepPrivate("/dev/fuse")
	}
	if err != nil {
		return nil, fmt.Errorf("mount FUSE at %s: %w", folder, err)
	}
	return r, nil
}

// note records an operation; the lock is held.
func (r *recorder) note(op powercut.Op) { r.recording.Ops = append(r.recording.Ops, op) }

// recorded returns what was recorded so far.
func (r *recorder) recorded() *powercut.Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &powercut.Recording{Ops: slices.Clone(r.recording.Ops)}
}

type node struct {
	fs.Inode
	recorder *recorder
	number   uint64
	content  *powercut.Image // nil: a folder
	marks    bool
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

// attributes are those of the node; the lock is held.
func (n *node) attributes(out *fuse.Attr) {
	out.Mode, out.Nlink = fuse.S_IFDIR|0o700, 1
	if n.content != nil {
		out.Mode = fuse.S_IFREG | 0o600
		out.Size = uint64(n.content.Bytes)
		out.Blocks = (out.Size + 511) / 512
	}
}

// Getattr implements fs.NodeGetattrer.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	n.attributes(&out.Attr)
	return fs.OK
}

// Setattr implements fs.NodeSetattrer: it changes the length, and nothing else.
func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	if size, ok := in.GetSize(); ok && n.content != nil && !n.marks {
		n.content.Truncate(int64(size))
		n.recorder.note(powercut.Op{Kind: powercut.OpTruncate, Node: n.number, Offset: int64(size)})
	}
	n.attributes(&out.Attr)
	return fs.OK
}

// add makes a child and records its entry; the lock is held.
func (n *node) add(ctx context.Context, name string, content *powercut.Image) *node {
	n.recorder.numbers++
	child := &node{recorder: n.recorder, number: n.recorder.numbers, content: content, marks: n.number == powercut.RootNode && name == powercut.MarksName}
	mode := uint32(fuse.S_IFREG)
	if content == nil {
		mode = fuse.S_IFDIR
	}
	n.NewPersistentInode(ctx, child, fs.StableAttr{Mode: mode, Ino: child.number})
	if !child.marks {
		n.recorder.note(powercut.Op{Kind: powercut.OpName, Node: n.number, Name: name, Child: child.number, Folder: content == nil})
	}
	return child
}

// Create implements fs.NodeCreater.
func (n *node) Create(ctx context.Context, name string, _ uint32, _ uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	child := n.add(ctx, name, powercut.NewImage(0))
	child.attributes(&out.Attr)
	return &child.Inode, nil, 0, fs.OK
}

// Mkdir implements fs.NodeMkdirer.
func (n *node) Mkdir(ctx context.Context, name string, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	child := n.add(ctx, name, nil)
	child.attributes(&out.Attr)
	return &child.Inode, fs.OK
}

// Unlink implements fs.NodeUnlinker.
func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	n.recorder.note(powercut.Op{Kind: powercut.OpUnname, Node: n.number, Name: name})
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
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	target, ok := to.EmbeddedInode().Operations().(*node)
	child := n.GetChild(name)
	if !ok || child == nil || flags != 0 {
		return syscall.EINVAL
	}
	moved, ok := child.Operations().(*node)
	if !ok {
		return syscall.EINVAL
	}
	op := powercut.Op{Kind: powercut.OpName, Node: target.number, Name: newName, Child: moved.number, Folder: moved.content == nil}
	if target == n {
		op.From = name
		n.recorder.note(op)
		return fs.OK
	}
	n.recorder.note(op)
	n.recorder.note(powercut.Op{Kind: powercut.OpUnname, Node: n.number, Name: name})
	return fs.OK
}

// Open implements fs.NodeOpener.
func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, fs.OK
}

// Read implements fs.NodeReader.
func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	count := min(int64(len(dest)), max(0, n.content.Bytes-offset))
	n.content.Read(dest[:count], offset)
	return fuse.ReadResultData(dest[:count]), fs.OK
}

// Write implements fs.NodeWriter.
func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	n.content.Write(data, offset)
	n.content.Bytes = max(n.content.Bytes, offset+int64(len(data)))
	if n.marks {
		for range data {
			n.recorder.note(powercut.Op{Kind: powercut.OpAck})
		}
	} else {
		n.recorder.note(powercut.Op{Kind: powercut.OpWrite, Node: n.number, Offset: offset, Data: slices.Clone(data)})
	}
	return uint32(len(data)), fs.OK
}

// Fsync implements fs.NodeFsyncer, for files and folders.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	n.recorder.mu.Lock()
	defer n.recorder.mu.Unlock()
	if !n.marks {
		n.recorder.note(powercut.Op{Kind: powercut.OpFlush, Node: n.number})
	}
	return fs.OK
}

// filed runs do with a fresh recording file system and returns what was recorded.
// What it was unmounted with is not in it: that was after the end.
func (t *trial) filed(ctx context.Context, do func() error) (*powercut.Recording, error) {
	r, err := serveFiles(t.files)
	if err != nil {
		return nil, err
	}
	err = do()
	recording := r.recorded()
	for range 20 {
		if unmounted := r.server.Unmount(); unmounted == nil {
			return recording, err
		}
		if ctx.Err() != nil {
			break
		}
		time.Sleep(unmountPause)
	}
	return recording, errors.Join(err, errors.New("the file system of the files does not unmount"))
}
