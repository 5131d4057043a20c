package column

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
)

// Columns that wait in files become the same file as those in memory, hold
// little memory meanwhile, and leave nothing behind.
func TestFileBuilder(t *testing.T) {
	const rows = 400_000
	folder := t.TempDir()
	types := []Type{Int, Text, Bool, Real}
	spooled, inMemory := NewFileBuilder(folder, types...), NewBuilder(types...)
	text := strings.Repeat("text ", 10)
	fill := func(b *Builder) {
		for i := range rows {
			values := []any{int64(i), text[:i%50], i%3 == 0, float64(i) / 3}
			if i%1000 == 0 {
				values[i/1000%4] = nil
			}
			must(t, b.Append(values...))
		}
	}
	before := heap()
	fill(spooled)
	if held := int64(heap()) - int64(before); held > 12<<20 {
		t.Errorf("%d rows hold %d bytes of memory, want at most 12 MiB", rows, held)
	}
	fill(inMemory)
	var got, want bytes.Buffer
	if _, err := spooled.WriteTo(&got); err != nil {
		t.Fatal(err)
	}
	if n, err := inMemory.WriteTo(&want); err != nil || n != int64(want.Len()) {
		t.Fatalf("%d bytes are said to be written, %d are: %v", n, want.Len(), err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("the file has %d bytes that differ from the %d of one that was built in memory", got.Len(), want.Len())
	}
	must(t, spooled.Close())
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%d files are left behind, %v, want none", len(left), err)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
