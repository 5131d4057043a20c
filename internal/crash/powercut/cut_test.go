package powercut

import (
	"bytes"
	"slices"
	"testing"
)

// page is a block filled with one byte.
func page(b byte) []byte { return bytes.Repeat([]byte{b}, BlockBytes) }

// write, flush and ack build recordings.
func write(number int64, b byte) Op {
	return Op{Kind: OpWrite, Offset: number * BlockBytes, Data: page(b)}
}

var flush, ack = Op{Kind: OpFlush}, Op{Kind: OpAck}

func recording(ops ...Op) *Recording {
	return &Recording{Base: NewImage(16 * BlockBytes), Ops: ops}
}

// firstBytes are the first bytes of the first blocks of an image.
func firstBytes(i *Image, blocks int) []byte {
	var all []byte
	for n := range blocks {
		p := make([]byte, 1)
		i.Read(p, int64(n)*BlockBytes)
		all = append(all, p[0])
	}
	return all
}

// A flush makes durable what was written before it, and nothing that was
// written after it.
func TestVolatile(t *testing.T) {
	r := recording(write(0, 1), write(1, 2), flush, write(2, 3), ack, write(0, 4), flush)
	for _, c := range []struct {
		at      int
		flushes bool
		want    []int
	}{
		{0, true, nil}, {2, true, []int{0, 1}}, {3, true, nil}, {4, true, []int{3}}, {6, true, []int{3, 5}}, {7, true, nil},
		{7, false, []int{0, 1, 3, 5}},
	} {
		if got := r.Volatile(c.at, c.flushes); !slices.Equal(got, c.want) {
			t.Errorf("at %d, flushes %v: %v can be lost, want %v", c.at, c.flushes, got, c.want)
		}
	}
	if got := r.Acked(4); got != 0 {
		t.Errorf("%d acknowledged before the acknowledgement, want 0", got)
	}
	if got := r.Acked(5); got != 1 {
		t.Errorf("%d acknowledged, want 1", got)
	}
}

// What a cut leaves: all that was flushed, and of the rest what is kept, in the
// order in which it was written.
func TestCutImage(t *testing.T) {
	r := recording(write(0, 1), flush, write(1, 2), write(0, 3), write(2, 4))
	for name, c := range map[string]struct {
		cut     Cut
		flushes bool
		want    []byte
	}{
		"none":                    {Cut{At: 5}, true, []byte{1, 0, 0}},
		"all":                     {Cut{At: 5, Kept: []int{2, 3, 4}}, true, []byte{3, 2, 4}},
		"a later one alone":       {Cut{At: 5, Kept: []int{4}}, true, []byte{1, 0, 4}},
		"without the one between": {Cut{At: 5, Kept: []int{2, 4}}, true, []byte{1, 2, 4}},
		"a cut before":            {Cut{At: 3, Kept: []int{2}}, true, []byte{1, 2, 0}},
		"a disk that lies":        {Cut{At: 5}, false, []byte{0, 0, 0}},
	} {
		if got := firstBytes(r.Image(c.cut, c.flushes), 3); !bytes.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A torn write leaves its beginning, and behind it what was there.
func TestTornWrite(t *testing.T) {
	r := recording(Op{Kind: OpWrite, Data: bytes.Repeat([]byte{1}, 2*BlockBytes)}, flush, Op{Kind: OpWrite, Data: bytes.Repeat([]byte{2}, 2*BlockBytes)})
	for _, tear := range []int{512, 4096} {
		image := r.Image(Cut{At: 3, Kept: []int{2}, Tear: tear}, true)
		p := make([]byte, 2*BlockBytes)
		image.Read(p, 0)
		if want := append(bytes.Repeat([]byte{2}, tear), bytes.Repeat([]byte{1}, 2*BlockBytes-tear)...); !bytes.Equal(p, want) {
			t.Errorf("torn at %d: byte %d is %d, byte %d is %d", tear, tear-1, p[tear-1], tear, p[tear])
		}
	}
	two := recording(flush, write(0, 1), write(1, 2)).Image(Cut{At: 3, Kept: []int{1, 2}, Tear: 512}, true)
	ends := make([]byte, 2)
	two.Read(ends[:1], BlockBytes-1)
	two.Read(ends[1:], 2*BlockBytes-1)
	if want := []byte{1, 0}; !bytes.Equal(ends, want) {
		t.Errorf("of two writes, the last one torn, there are the ends %v, want %v", ends, want)
	}
}

// Equal content has equal sums, whatever it was written by; other content, and
// the same content elsewhere, another.
func TestImageSum(t *testing.T) {
	a, b := NewImage(16*BlockBytes), NewImage(16*BlockBytes)
	a.Write(page(1), 0)
	a.Write(page(9), BlockBytes)
	a.Write(page(2), BlockBytes)
	b.Write(page(2), BlockBytes)
	b.Write([]byte{1}, 0)
	if a.Sum() == b.Sum() {
		t.Error("different images have one sum")
	}
	b.Write(page(1)[1:], 1)
	if a.Sum() != b.Sum() {
		t.Error("equal images have two sums")
	}
	clone := a.Clone()
	a.Write(page(0), 0)
	a.Write(page(0), BlockBytes)
	if a.Sum() != NewImage(1).Sum() {
		t.Error("a disk that was overwritten with zeros is not an empty one")
	}
	if clone.Sum() != b.Sum() {
		t.Error("a clone changed with its original")
	}
}

// The snapshots by which images are made quickly change nothing.
func TestSnapshots(t *testing.T) {
	r := recording()
	for i := range 3 * SnapshotOps {
		r.Ops = append(r.Ops, write(int64(i%16), byte(i)))
	}
	for _, at := range []int{0, 1, SnapshotOps - 1, SnapshotOps, SnapshotOps + 1, 3 * SnapshotOps} {
		plain := r.Base.Clone()
		plain.Apply(r.Ops[:at])
		if r.After(at).Sum() != plain.Sum() {
			t.Errorf("after %d operations the image differs from the one without snapshots", at)
		}
	}
}

// Every cut that is drawn is possible: what is kept was written before it and
// not flushed; and the same seed draws the same cuts.
func TestChooser(t *testing.T) {
	var ops []Op
	for i := range 200 {
		ops = append(ops, write(int64(i%16), byte(i)), write(int64((i+1)%16), byte(i)))
		if i%3 == 0 {
			ops = append(ops, flush)
		}
		if i > 20 && i < 180 {
			ops = append(ops, ack)
		}
	}
	r := recording(ops...)
	a, b := NewChooser(r, true, 7), NewChooser(r, true, 7)
	moments, drawn := map[Moment]int{}, map[Choice]int{}
	for range 500 {
		cut, moment := a.Next()
		again, _ := b.Next()
		if cut.String() != again.String() || !slices.Equal(cut.Kept, again.Kept) {
			t.Fatalf("one seed draws %s and %s", cut, again)
		}
		moments[moment]++
		drawn[cut.Choice]++
		volatile := r.Volatile(cut.At, true)
		for _, i := range cut.Kept {
			if !slices.Contains(volatile, i) {
				t.Fatalf("%s keeps write %d, which was flushed or not written yet", cut, i)
			}
		}
	}
	for _, m := range []Moment{Acked, Commit, Creation, Closing} {
		if moments[m] == 0 {
			t.Errorf("no cut in the moment %s: %v", m, moments)
		}
	}
	for _, c := range []Choice{KeepNone, KeepAll, KeepPrefix, KeepOne, DropOne, KeepSome, KeepTorn} {
		if drawn[c] == 0 {
			t.Errorf("no cut keeps %s: %v", c, drawn)
		}
	}
}

// A checkpoint and a restart of SQLite's log are known by what is written. In
// rollback mode each commit writes the first page: that is no checkpoint.
func TestMoments(t *testing.T) {
	block := func(offset int64, start string) Op {
		return Op{Kind: OpWrite, Offset: offset, Data: append([]byte(start), make([]byte, BlockBytes-len(start))...)}
	}
	header, log, plain := block(0, "SQLite format 3\x00"), block(BlockBytes, "\x37\x7f\x06\x82"), block(2*BlockBytes, "x")
	for name, c := range map[string]struct {
		ops  []Op
		want map[Moment]int
	}{
		"log":      {[]Op{log, flush, ack, plain, flush, ack, header, flush, plain, ack, log, flush, ack, plain, flush, ack}, map[Moment]int{Creation: 1, Commit: 2, Checkpoint: 1, LogRestart: 1, Busy: 0}},
		"rollback": {[]Op{header, flush, ack, header, flush, ack, header, flush, ack}, map[Moment]int{Creation: 1, Commit: 2, Checkpoint: 0}},
	} {
		got := recording(c.ops...).Points()
		for m, want := range c.want {
			if n := len(got[m]); n != want {
				t.Errorf("%s: %d moments of %s, want %d", name, n, m, want)
			}
		}
	}
}
