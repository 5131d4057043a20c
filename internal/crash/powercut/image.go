// Package crash proves what databases promise: it cuts the power of a disk with
// a volatile write cache under a running workload, kills workers, fills the disk
// and fails its writes, and checks afterwards, in fresh processes, what was
// acknowledged and what is there.
//
// The parts without root or FUSE are pure: Image and Recording are the disk, Cut
// is one state that a power cut can leave, and history is what the workload did.
package powercut

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"maps"
)

// BlockBytes is the unit in which an image is kept and compared.
const BlockBytes = 4096

// block is never changed once an image has it: images share their blocks.
type block struct {
	Data [BlockBytes]byte
	sum  [16]byte // of its number and data
}

// Image is the content of a disk. Blocks that it does not have are zero.
type Image struct {
	Bytes  int64
	Blocks map[int64]*block
	sum    [16]byte // of all blocks, whatever the order of writing
}

// NewImage returns a disk of zeros.
func NewImage(bytes int64) *Image { return &Image{Bytes: bytes, Blocks: map[int64]*block{}} }

// Clone returns an image that can be written to apart.
func (i *Image) Clone() *Image {
	return &Image{Bytes: i.Bytes, Blocks: maps.Clone(i.Blocks), sum: i.sum}
}

// Sum tells images with different content apart.
func (i *Image) Sum() [16]byte { return i.sum }

// Read fills p from an offset; behind the end there are zeros.
func (i *Image) Read(p []byte, offset int64) {
	for len(p) > 0 {
		number, within := offset/BlockBytes, offset%BlockBytes
		n := min(int64(len(p)), BlockBytes-within)
		if b := i.Blocks[number]; b != nil {
			copy(p[:n], b.Data[within:])
		} else {
			clear(p[:n])
		}
		p, offset = p[n:], offset+n
	}
}

// Write replaces bytes at an offset.
func (i *Image) Write(p []byte, offset int64) {
	for len(p) > 0 {
		number, within := offset/BlockBytes, offset%BlockBytes
		n := min(int64(len(p)), BlockBytes-within)
		i.replace(number, within, p[:n])
		p, offset = p[n:], offset+n
	}
}

func (i *Image) replace(number, within int64, p []byte) {
	next := &block{}
	if before := i.Blocks[number]; before != nil {
		next.Data = before.Data
		i.toggle(before.sum)
	}
	copy(next.Data[within:], p)
	if next.Data == [BlockBytes]byte{} {
		delete(i.Blocks, number) // a block of zeros is like none
		return
	}
	hash := sha256.New()
	var prefix [8]byte
	binary.LittleEndian.PutUint64(prefix[:], uint64(number))
	hash.Write(prefix[:])
	hash.Write(next.Data[:])
	copy(next.sum[:], hash.Sum(nil))
	i.toggle(next.sum)
	i.Blocks[number] = next
}

func (i *Image) toggle(sum [16]byte) {
	for k := range sum {
		i.sum[k] ^= sum[k]
	}
}

// stored is an image as findings have it: without the sums of its blocks.
type stored struct {
	Bytes  int64
	Blocks map[int64][]byte
}

// GobEncode implements gob.GobEncoder.
func (i *Image) GobEncode() ([]byte, error) {
	all := stored{i.Bytes, map[int64][]byte{}}
	for number, b := range i.Blocks {
		all.Blocks[number] = b.Data[:]
	}
	var out bytes.Buffer
	err := gob.NewEncoder(&out).Encode(all)
	return out.Bytes(), err
}

// GobDecode implements gob.GobDecoder.
func (i *Image) GobDecode(text []byte) error {
	var all stored
	if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&all); err != nil {
		return err
	}
	*i = *NewImage(all.Bytes)
	for number, data := range all.Blocks {
		i.Write(data, number*BlockBytes)
	}
	return nil
}

// Folder is the files of a folder, and the folders in it, by their paths.
type Folder map[string]*Image

// NewFolder stands for a folder in another one.
func NewFolder() *Image { return NewImage(-1) }

func (i *Image) isFolder() bool { return i.Bytes < 0 }

// Truncate changes the length; what is behind it is zeros from then on.
func (i *Image) Truncate(bytes int64) {
	for number := range i.Blocks {
		if from := number * BlockBytes; from+BlockBytes > bytes {
			keep := max(0, bytes-from)
			i.replace(number, keep, make([]byte, BlockBytes-keep))
		}
	}
	i.Bytes = bytes
}
