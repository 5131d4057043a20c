package powercut

import (
	"bytes"
	"maps"
	"slices"
	"testing"
)

// content is a folder with its files as texts.
func content(f Folder) map[string]string {
	all := map[string]string{}
	for name, image := range f {
		if image.isFolder() {
			all[name] = "folder"
			continue
		}
		text := make([]byte, image.Bytes)
		image.Read(text, 0)
		all[name] = string(text)
	}
	return all
}

// What a cut leaves of files: what was synced, by file and by folder.
func TestFolder(t *testing.T) {
	put := func(node uint64, offset int64, text string) Op {
		return Op{Kind: OpWrite, Node: node, Offset: offset, Data: []byte(text)}
	}
	sync := func(node uint64) Op { return Op{Kind: OpFlush, Node: node} }
	name := func(at uint64, name string, child uint64, isFolder bool) Op {
		return Op{Kind: OpName, Node: at, Name: name, Child: child, Folder: isFolder}
	}
	start := []Op{name(RootNode, "d", 2, true), name(2, "a", 3, false), put(3, 0, "hello")}
	for what, c := range map[string]struct {
		ops  []Op
		kept []int
		want map[string]string
	}{
		"nothing was synced":                        {start, nil, map[string]string{}},
		"a sync of a file keeps its names":          {append(slices.Clone(start), sync(3)), nil, map[string]string{"d": "folder", "d/a": "hello"}},
		"a sync of a folder keeps no content":       {append(slices.Clone(start), sync(2)), nil, map[string]string{"d": "folder", "d/a": ""}},
		"a write that is not synced can be kept":    {append(slices.Clone(start), sync(3), put(3, 0, "J"), put(3, 4, "y")), []int{5}, map[string]string{"d": "folder", "d/a": "helly"}},
		"a name that goes can come back":            {append(slices.Clone(start), sync(3), Op{Kind: OpUnname, Node: 2, Name: "a"}), nil, map[string]string{"d": "folder", "d/a": "hello"}},
		"a name that goes is gone with its folder":  {append(slices.Clone(start), sync(3), Op{Kind: OpUnname, Node: 2, Name: "a"}, sync(2)), nil, map[string]string{"d": "folder"}},
		"a rename is whole or not there":            {append(slices.Clone(start), sync(3), Op{Kind: OpName, Node: 2, Name: "b", From: "a", Child: 3}), []int{4}, map[string]string{"d": "folder", "d/b": "hello"}},
		"a folder keeps the order of its changes":   {append(slices.Clone(start), sync(3), name(2, "b", 4, false), name(2, "c", 5, false)), []int{5}, map[string]string{"d": "folder", "d/a": "hello"}},
		"a sync of a new file keeps earlier names":  {append(slices.Clone(start), sync(3), name(2, "b", 4, false), name(2, "c", 5, false), sync(5)), nil, map[string]string{"d": "folder", "d/a": "hello", "d/b": "", "d/c": ""}},
		"a length that is not synced can come back": {append(slices.Clone(start), sync(3), Op{Kind: OpTruncate, Node: 3, Offset: 2}), nil, map[string]string{"d": "folder", "d/a": "hello"}},
		"a length that is synced stays":             {append(slices.Clone(start), Op{Kind: OpTruncate, Node: 3, Offset: 2}, sync(3)), nil, map[string]string{"d": "folder", "d/a": "he"}},
	} {
		r := &Recording{Ops: c.ops}
		if got := content(r.Folder(Cut{At: len(c.ops), Kept: c.kept}, true)); !maps.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", what, got, c.want)
		}
	}
	r := &Recording{Ops: append(slices.Clone(start), sync(3))}
	if got := content(r.Folder(Cut{At: 4}, false)); len(got) > 0 {
		t.Errorf("where syncs are ignored there is %q, want nothing", got)
	}
}

// Of the writes that are kept, the last one is torn, and no other.
func TestTornWriteOfAFile(t *testing.T) {
	r := &Recording{Ops: []Op{{Kind: OpName, Node: RootNode, Name: "a", Child: 2},
		{Kind: OpWrite, Node: 2, Data: []byte("hello")}, {Kind: OpWrite, Node: 2, Offset: 5, Data: []byte("world")}}}
	got := content(r.Folder(Cut{At: 3, Kept: []int{0, 1, 2}, Tear: 2}, true))
	if want := map[string]string{"a": "hellowo"}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Folders are the same state where they have the same files: a length of zeros and a
// name count as content does.
func TestFolderSum(t *testing.T) {
	filled := NewImage(1)
	filled.Write([]byte{1}, 0)
	seen := map[[16]byte]string{}
	for name, f := range map[string]Folder{"empty": {}, "an empty file": {"a": NewImage(0)}, "a file of a zero": {"a": NewImage(1)},
		"another name": {"b": NewImage(0)}, "a file of a one": {"a": filled}, "a folder": {"a": NewFolder()}} {
		if other, known := seen[f.Sum()]; known {
			t.Errorf("%s has the sum of %s", name, other)
		}
		seen[f.Sum()] = name
	}
}

// A length cuts an image off, and what is behind it is zeros when it grows again.
func TestTruncate(t *testing.T) {
	image, want := NewImage(0), NewImage(0)
	image.Write(bytes.Repeat([]byte{7}, 3*BlockBytes), 0)
	image.Truncate(BlockBytes + 10)
	want.Write(bytes.Repeat([]byte{7}, BlockBytes+10), 0)
	if image.Sum() != want.Sum() || image.Bytes != BlockBytes+10 {
		t.Errorf("after Truncate there are %d bytes in %d blocks, want %d in 2", image.Bytes, len(image.Blocks), BlockBytes+10)
	}
	end := make([]byte, 8)
	if image.Read(end, BlockBytes+6); !bytes.Equal(end, []byte{7, 7, 7, 7, 0, 0, 0, 0}) {
		t.Errorf("around the end there is %v", end)
	}
}
