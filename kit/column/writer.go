package column

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
)

// Builder collects columns row by row and writes them as a column file. Of one
// from [NewBuilder] everything is in memory: 8 bytes a value, and the bytes of
// texts.
type Builder struct {
	rows    int
	columns []buildColumn
}

type buildColumn struct {
	kind         Type
	fixed, bytes spool
	nulls        map[int]bool
}

// NewBuilder returns a builder of columns of these types.
func NewBuilder(types ...Type) *Builder { return newBuilder("", types) }

// NewFileBuilder is NewBuilder for columns that are larger than memory should
// hold: what is more than a megabyte of one waits in temporary files in a
// folder, which Close removes.
func NewFileBuilder(folder string, types ...Type) *Builder { return newBuilder(folder, types) }

func newBuilder(folder string, types []Type) *Builder {
	b := &Builder{columns: make([]buildColumn, len(types))}
	for i, kind := range types {
		c := &b.columns[i]
		*c = buildColumn{kind: kind, fixed: spool{folder: folder}, bytes: spool{folder: folder}, nulls: map[int]bool{}}
		if kind == Text || kind == Blob {
			c.fixed.number(0)
		}
	}
	return b
}

// Close removes the temporary files.
func (b *Builder) Close() error {
	var errs []error
	for i := range b.columns {
		errs = append(errs, b.columns[i].fixed.close(), b.columns[i].bytes.close())
	}
	return errors.Join(errs...)
}

// Append adds one row. Values are nil, int64, float64, string, []byte or
// bool, each as its column's type wants it. After an error about a value the
// builder is as it was before; after one about a file it cannot be used.
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
		if err := b.columns[i].append(b.rows, value); err != nil {
			return fmt.Errorf("row %d, column %d: %w", b.rows, i, err)
		}
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

func (c *buildColumn) append(row int, value any) error {
	number := uint64(0)
	switch v := value.(type) {
	case nil:
		c.nulls[row] = true
	case int64:
		number = uint64(v)
	case float64:
		number = math.Float64bits(v)
	case bool:
		if v {
			number = 1
		}
	case string:
		c.bytes.waiting = append(c.bytes.waiting, v...)
	case []byte:
		c.bytes.waiting = append(c.bytes.waiting, v...)
	}
	if c.kind == Text || c.kind == Blob {
		if err := c.bytes.spill(); err != nil {
			return err
		}
		number = uint64(c.bytes.size())
	}
	c.fixed.number(number)
	return c.fixed.spill()
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
		var written int64
		written, err = part.WriteTo(w)
		total += written
	}
	return total, err
}

// layout places byte ranges one after the other, each at a multiple of 8.
type layout struct {
	at    uint64
	parts []*spool
}

func (l *layout) place(part *spool) uint64 {
	start := l.at
	l.parts = append(l.parts, part)
	l.at += uint64(part.size()+7) / 8 * 8
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
		nullsAt = out.place(&spool{waiting: bitmap})
	}
	fixedAt := out.place(&c.fixed)
	if c.kind == Text || c.kind == Blob {
		bytesAt = out.place(&c.bytes)
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
