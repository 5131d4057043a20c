package powercut

import (
	"crypto/sha256"
	"maps"
	"path"
	"slices"
)

// RootNode is the number of the folder that a recording of files begins with.
const RootNode = 1

// OfFiles tells a recording of the files of a folder, each with a volatile cache
// of its own, from one of a disk.
func (r *Recording) OfFiles() bool { return r.Base == nil }

// volatileFiles returns the operations before at that no sync covers. A sync of a
// file covers its content and, as on ext4, xfs and btrfs, the entry that names it
// with all earlier changes of that folder; a sync of a folder covers its entries.
func (r *Recording) volatileFiles(at int) []int {
	var left []int
	for i, op := range r.Ops[:at] {
		switch op.Kind {
		case OpWrite, OpTruncate, OpName, OpUnname:
			left = append(left, i)
		case OpFlush:
			left = slices.DeleteFunc(left, func(k int) bool { return r.Ops[k].Node == op.Node })
			left = r.settleEntry(left, op.Node)
		}
	}
	return left
}

// settleEntry drops what a sync of a node makes durable in the folders above it.
func (r *Recording) settleEntry(left []int, node uint64) []int {
	for k := len(left) - 1; k >= 0; k-- {
		op := r.Ops[left[k]]
		if op.Kind != OpName || op.Child != node {
			continue
		}
		last := left[k]
		left = slices.DeleteFunc(left, func(i int) bool { return r.Ops[i].Node == op.Node && i <= last })
		return r.settleEntry(left, op.Node)
	}
	return left
}

// Folder returns the files that a cut leaves. Of the changes of one folder a
// later one is never there without the earlier: file systems keep their order.
func (r *Recording) Folder(c Cut, flushes bool) Folder {
	lost := map[int]bool{}
	for _, i := range r.Volatile(c.At, flushes) {
		lost[i] = true
	}
	for _, i := range c.Kept {
		delete(lost, i)
	}
	last := -1
	if len(c.Kept) > 0 {
		last = c.Kept[len(c.Kept)-1]
	}
	tree := &tree{map[uint64]*Image{}, map[uint64]map[string]uint64{RootNode: {}}}
	behind := map[uint64]bool{} // folders of which a change was lost
	for i, op := range r.Ops[:c.At] {
		entry := op.Kind == OpName || op.Kind == OpUnname
		if lost[i] || entry && behind[op.Node] {
			behind[op.Node] = behind[op.Node] || entry
			continue
		}
		if i == last && c.Tear > 0 {
			op.Data = op.Data[:min(c.Tear, len(op.Data))]
		}
		tree.apply(op)
	}
	all := Folder{}
	tree.list(RootNode, "", all)
	return all
}

// Sum tells the states that cuts leave apart.
func (r *Recording) Sum(c Cut) [16]byte {
	if r.OfFiles() {
		return r.Folder(c, true).Sum()
	}
	return r.Image(c, true).Sum()
}

// tree is a file system while operations are applied to it.
type tree struct {
	files   map[uint64]*Image
	folders map[uint64]map[string]uint64
}

func (t *tree) apply(op Op) {
	switch op.Kind {
	case OpWrite, OpTruncate:
		file := t.files[op.Node]
		if file == nil {
			file = NewImage(0)
			t.files[op.Node] = file
		}
		if op.Kind == OpTruncate {
			file.Truncate(op.Offset)
			return
		}
		file.Write(op.Data, op.Offset)
		file.Bytes = max(file.Bytes, op.Offset+int64(len(op.Data)))
	case OpName:
		if t.folders[op.Node] == nil {
			t.folders[op.Node] = map[string]uint64{}
		}
		t.folders[op.Node][op.Name] = op.Child
		delete(t.folders[op.Node], op.From)
		if op.Folder && t.folders[op.Child] == nil {
			t.folders[op.Child] = map[string]uint64{}
		}
	case OpUnname:
		delete(t.folders[op.Node], op.Name)
	}
}

func (t *tree) list(node uint64, at string, all Folder) {
	for name, child := range t.folders[node] {
		where := path.Join(at, name)
		if _, isFolder := t.folders[child]; isFolder {
			all[where] = NewFolder()
			t.list(child, where, all)
			continue
		}
		if all[where] = t.files[child]; all[where] == nil {
			all[where] = NewImage(0)
		}
	}
}

// Sum tells folders with different files apart.
func (f Folder) Sum() (sum [16]byte) {
	hash := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		hash.Write([]byte(name))
		hash.Write([]byte{0})
		if image := f[name]; !image.isFolder() {
			content := image.Sum()
			hash.Write(content[:])
			hash.Write([]byte{byte(image.Bytes), byte(image.Bytes >> 8), byte(image.Bytes >> 16), byte(image.Bytes >> 24), byte(image.Bytes >> 32)})
		}
	}
	copy(sum[:], hash.Sum(nil))
	return sum
}
