package column

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// Builder collects columns row by row and writes them as a column file. It
// holds everything in memory: 8 bytes a value, and the bytes of texts.
type Builder struct {
	rows    int
	columns []buildColumn
}

type buildColumn struct {
	kind  Type
	fixed []uint64
	bytes []byte
	nulls map[int]bool
}

// NewBuilder returns a builder of columns of these types.
func NewBuilder(types ...Type) *Builder {
	b := &Builder{columns: make([]buildColumn, len(types))}
	for i, kind := range types {
		b.columns[i] = buildColumn{kind: kind, nulls: map[int]bool{}}
		if kind == Text || kind == Blob {
			b.columns[i].fixed = []uint64{0}
		}
	}
	return b
}

// Append adds one row. Values are nil, int64, float64, string, []byte or
// bool, each as its column's type wants it. After an error the builder is as
// it was before.
func (b *Builder) Append(values ...any) error {
	if len(values) != len(b.columns) {
		return fmt.Errorf("row %d: %d values for %d columns", b.rows, len(values), len(b.columns))
	}
	for i, value := range values {
		if value != nil && typeOf(value) != b.columns[i].kind {
			return fmt.Errorf("row %d, column %d: %T in a column of type %d", b.rows, i, value, b.columns[i].kind)
		}
	}
	for i, value := range values {
		b.columns[i].append(b.rows, value)
	}
	b.rows++
	return nil
}

// typeOf returns the type of column that a value belongs in; 0: none.
func typeOf(value any) Type {
	switch value.(type) {
	case int64:
		return Int
	case float64:
		return Real
	case string:
		return Text
	case []byte:
		return Blob
	case bool:
		return Bool
	}
	return 0
}

func (c *buildColumn) append(row int, value any) {
	switch v := value.(type) {
	case nil:
		c.nulls[row] = true
		c.appendZero()
	case int64:
		c.fixed = append(c.fixed, uint64(v))
	case float64:
		c.fixed = append(c.fixed, math.Float64bits(v))
	case bool:
		c.appendZero()
		if v {
			c.fixed[row] = 1
		}
	case string:
		c.bytes = append(c.bytes, v...)
		c.fixed = append(c.fixed, uint64(len(c.bytes)))
	case []byte:
		c.bytes = append(c.bytes, v...)
		c.fixed = append(c.fixed, uint64(len(c.bytes)))
	}
}

func (c *buildColumn) appendZero() {
	if c.kind == Text || c.kind == Blob {
		c.fixed = append(c.fixed, uint64(len(c.bytes)))
	} else {
		c.fixed = append(c.fixed, 0)
	}
}

// WriteTo writes the file's content.
func (b *Builder) WriteTo(w io.Writer) (int64, error) {
	out := &layout{at: uint64(headerSize + columnSize*len(b.columns))}
	head := make([]byte, 0, out.at)
	head = append(head, magic...)
	head = binary.LittleEndian.AppendUint32(head, version)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(b.columns)))
	head = binary.LittleEndian.AppendUint64(head, uint64(b.rows))
	for i := range b.columns {
		head = b.columns[i].describe(head, out, b.rows)
	}
	n, err := w.Write(head)
	total := int64(n)
	for _, part := range out.parts {
		if err != nil {
			break
		}
		n, err = w.Write(part)
		total += int64(n)
	}
	return total, err
}

// layout places byte ranges one after the other, each at a multiple of 8.
type layout struct {
	at    uint64
	parts [][]byte
}

func (l *layout) place(data []byte) uint64 {
	start := l.at
	if pad := len(data) % 8; pad != 0 {
		data = append(data[:len(data):len(data)], make([]byte, 8-pad)...)
	}
	l.parts = append(l.parts, data)
	l.at += uint64(len(data))
	return start
}

func (c *buildColumn) describe(head []byte, out *layout, rows int) []byte {
	var flags uint32
	var nullsAt, bytesAt uint64
	if len(c.nulls) > 0 {
		flags = hasNulls
		bitmap := make([]byte, (rows+7)/8)
		for row := range c.nulls {
			bitmap[row>>3] |= 1 << (row & 7)
		}
		nullsAt = out.place(bitmap)
	}
	fixed := make([]byte, 0, len(c.fixed)*8)
	for _, v := range c.fixed {
		fixed = binary.LittleEndian.AppendUint64(fixed, v)
	}
	fixedAt := out.place(fixed)
	if c.kind == Text || c.kind == Blob {
		bytesAt = out.place(c.bytes)
	}
	head = binary.LittleEndian.AppendUint32(head, uint32(c.kind))
	head = binary.LittleEndian.AppendUint32(head, flags)
	head = binary.LittleEndian.AppendUint64(head, nullsAt)
	head = binary.LittleEndian.AppendUint64(head, fixedAt)
	return binary.LittleEndian.AppendUint64(head, bytesAt)
}

// WriteFile writes the columns to a file that appears whole or not at all.
func (b *Builder) WriteFile(path string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".column-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	buffered := bufio.NewWriterSize(file, 1<<20)
	if _, err := b.WriteTo(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
