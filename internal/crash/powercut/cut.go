// Package powercut models what a power cut leaves of a disk: an image, the writes and
// flushes that were recorded after it, the moments to cut at, and the images that each
// cut may leave. The disk that records is a FUSE file system.
package powercut

import (
	"fmt"
	"math/rand/v2"
)

// OpKind says what was done to the disk.
type OpKind uint8

// The kinds of operations. Findings are stored with these numbers: a number never
// gets another meaning.
const (
	OpWrite OpKind = 0
	OpFlush OpKind = 1 // all writes before it are on the medium from here on
	OpAck   OpKind = 2 // the worker acknowledged a transaction
	OpRead  OpKind = 3 // can fail, and is not recorded
	OpCall  OpKind = 4 // the worker made a system call on a file: it changes nothing here
	// Of files only, beside writes and flushes:
	OpTruncate OpKind = 5 // the file has the length of the offset
	OpName     OpKind = 6 // a folder names a file or a folder
	OpUnname   OpKind = 7 // a folder names it no more
)

// Op is one operation in the order in which the disk saw it.
type Op struct {
	Kind   OpKind
	Offset int64
	Data   []byte
	Call   FileCall
	// Of files only:
	Node   uint64 // the file or folder; 0: a disk
	Name   string // of an entry, or of the file of a call
	From   string // entry of the same folder that goes with it: a rename; empty: none
	Child  uint64 // that the entry names
	Folder bool   // the child is one
}

// Recording holds what happened to a disk from its base on, or to the files of an
// empty folder.
type Recording struct {
	Base *Image // nil: of files
	Ops  []Op
	// snapshots are the images after each snapshotOps operations with every
	// write kept, made when first needed.
	snapshots []*Image
}

// Until is the recording up to an operation.
func (r *Recording) Until(at int) *Recording { return &Recording{Base: r.Base, Ops: r.Ops[:at]} }

const SnapshotOps = 256

// After returns a copy of the disk after so many operations, all writes kept.
func (r *Recording) After(ops int) *Image {
	if len(r.snapshots) == 0 {
		r.snapshots = []*Image{r.Base}
	}
	for len(r.snapshots) <= ops/SnapshotOps {
		n := len(r.snapshots)
		next := r.snapshots[n-1].Clone()
		next.Apply(r.Ops[(n-1)*SnapshotOps : n*SnapshotOps])
		r.snapshots = append(r.snapshots, next)
	}
	image := r.snapshots[ops/SnapshotOps].Clone()
	image.Apply(r.Ops[ops/SnapshotOps*SnapshotOps : ops])
	return image
}

func (i *Image) Apply(ops []Op) {
	for _, op := range ops {
		if op.Kind == OpWrite {
			i.Write(op.Data, op.Offset)
		}
	}
}

// Choice names how a cut chooses among the writes that were not flushed.
type Choice string

// The choices.
const (
	KeepNone   Choice = "none"
	KeepAll    Choice = "all"
	KeepPrefix Choice = "prefix"
	KeepOne    Choice = "one"
	DropOne    Choice = "all but one"
	KeepSome   Choice = "random"
	KeepTorn   Choice = "torn" // all, and of the last one its beginning only
)

// Cut is one state that a power cut can leave: what was flushed before At, and
// of the writes after that flush those that are kept.
type Cut struct {
	At     int    // operations that happened before the cut
	Choice Choice // how Kept was chosen, for people
	Kept   []int  // indexes of Ops: writes that were not flushed, and reached the medium
	Tear   int    // bytes of the last kept write that reached the medium; 0: all
}

func (c Cut) String() string {
	text := fmt.Sprintf("after operation %d, keep %s (%d writes)", c.At, c.Choice, len(c.Kept))
	if c.Tear > 0 {
		text += fmt.Sprintf(", the last one torn at %d bytes", c.Tear)
	}
	return text
}

// Acked returns how many transactions were acknowledged before operation at.
func (r *Recording) Acked(at int) int {
	n := 0
	for _, op := range r.Ops[:at] {
		if op.Kind == OpAck {
			n++
		}
	}
	return n
}

// Volatile returns the writes before operation at that no flush covers: what a
// power cut there can lose. flushes says whether the disk keeps its promise.
func (r *Recording) Volatile(at int, flushes bool) []int {
	if r.OfFiles() && flushes {
		return r.volatileFiles(at)
	}
	var writes []int
	for i, op := range r.Ops[:at] {
		switch {
		case op.Kind == OpWrite || op.Kind == OpTruncate || op.Kind == OpName || op.Kind == OpUnname:
			writes = append(writes, i)
		case op.Kind == OpFlush && flushes:
			writes = writes[:0]
		}
	}
	return writes
}

// Image returns the state that a cut leaves.
func (r *Recording) Image(c Cut, flushes bool) *Image {
	volatile := r.Volatile(c.At, flushes)
	durable := c.At
	if len(volatile) > 0 {
		durable = volatile[0]
	}
	image := r.After(durable)
	for n, i := range c.Kept {
		data := r.Ops[i].Data
		if n == len(c.Kept)-1 && c.Tear > 0 {
			data = data[:min(c.Tear, len(data))]
		}
		image.Write(data, r.Ops[i].Offset)
	}
	return image
}

// tears are the bytes at which a last write is torn: a sector, and a page.
var tears = []int{512, 4096}

// Choose returns a cut at a point with a choice, and false where there is none:
// with no write to lose there is nothing to choose.
func (r *Recording) Choose(at int, choice Choice, flushes bool, random *rand.Rand) (Cut, bool) {
	writes := r.Volatile(at, flushes)
	c := Cut{At: at, Choice: choice}
	if len(writes) == 0 {
		return c, choice == KeepAll
	}
	pick := random.IntN(len(writes))
	switch choice {
	case KeepNone:
	case KeepAll:
		c.Kept = writes
	case KeepPrefix:
		c.Kept = writes[:pick+1]
	case KeepOne:
		c.Kept = writes[pick : pick+1]
	case DropOne:
		c.Kept = append(append(c.Kept, writes[:pick]...), writes[pick+1:]...)
	case KeepSome:
		for _, i := range writes {
			if random.IntN(2) == 0 {
				c.Kept = append(c.Kept, i)
			}
		}
	case KeepTorn:
		c.Kept = writes[:pick+1]
		c.Tear = tears[random.IntN(len(tears))]
		if len(r.Ops[writes[pick]].Data) <= c.Tear {
			return c, false
		}
	}
	return c, true
}
