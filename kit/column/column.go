// Package column reads and writes the files in which datasets and traces
// travel: little-endian columns of fixed width, or of offsets and bytes, with
// an optional bitmap of NULLs. Files are memory-mapped, so that reading a
// value costs no parsing and any language can do it. docs/protocol.md has the
// layout with vectors.
package column

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// Type is the type of a column's values.
type Type uint32

// The types of columns. Numbers are part of the format.
const (
	Int  Type = 1 // int64
	Real Type = 2 // IEEE 754 double
	Text Type = 3 // UTF-8
	Blob Type = 4 // bytes
	Bool Type = 5 // stored as int64, 0 or 1
)

const (
	magic      = "ASSAYCOL"
	version    = 1
	headerSize = 24
	columnSize = 32
	hasNulls   = 1
)

// File is a memory-mapped column file. Its methods may be used by several
// goroutines. Values of text and blob columns point into the mapping and are
// valid until Close.
type File struct {
	rows    int
	columns []view
	data    []byte
	unmap   func() error
	release func()
}

type view struct {
	kind  Type
	nulls []byte
	fixed []byte // 8 bytes a row, or 8 bytes of offset a row and one more
	bytes []byte
}

// Rows returns the number of rows.
func (f *File) Rows() int { return f.rows }

// Columns returns the number of columns.
func (f *File) Columns() int { return len(f.columns) }

// Type returns the type of a column.
func (f *File) Type(column int) Type { return f.columns[column].kind }

// Null reports whether the value is NULL.
func (f *File) Null(column, row int) bool {
	n := f.columns[column].nulls
	return n != nil && n[row>>3]&(1<<(row&7)) != 0
}

// Int returns a value of an Int or Bool column.
func (f *File) Int(column, row int) int64 {
	return int64(binary.LittleEndian.Uint64(f.columns[column].fixed[row*8:]))
}

// Real returns a value of a Real column.
func (f *File) Real(column, row int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(f.columns[column].fixed[row*8:]))
}

// Bytes returns a value of a Text or Blob column without copying it. The
// caller must not change it.
func (f *File) Bytes(column, row int) []byte {
	v := &f.columns[column]
	from := binary.LittleEndian.Uint64(v.fixed[row*8:])
	to := binary.LittleEndian.Uint64(v.fixed[row*8+8:])
	return v.bytes[from:to:to]
}

// Text returns a value of a Text column without copying it.
func (f *File) Text(column, row int) string {
	b := f.Bytes(column, row)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Value returns a value as nil, int64, float64, string, []byte or bool.
func (f *File) Value(column, row int) any {
	if f.Null(column, row) {
		return nil
	}
	switch f.columns[column].kind {
	case Int:
		return f.Int(column, row)
	case Real:
		return f.Real(column, row)
	case Text:
		return f.Text(column, row)
	case Blob:
		return f.Bytes(column, row)
	default:
		return f.Int(column, row) != 0
	}
}

// Close unmaps the file.
func (f *File) Close() error {
	if f.unmap == nil {
		return nil
	}
	unmap := f.unmap
	f.unmap = nil
	return unmap()
}

// Release gives the memory of what was read back to the system: it is mapped
// again where it is read again.
func (f *File) Release() {
	if f.release != nil {
		f.release()
	}
}

// Parse checks a file's content and returns it for reading. It refuses
// anything that would make a later read fail: offsets outside of the data,
// offsets that go back, unknown types.
func Parse(data []byte) (*File, error) {
	if len(data) < headerSize || string(data[:8]) != magic {
		return nil, fmt.Errorf("not a column file")
	}
	if v := binary.LittleEndian.Uint32(data[8:]); v != version {
		return nil, fmt.Errorf("column file of version %d, this reads %d", v, version)
	}
	count := uint64(binary.LittleEndian.Uint32(data[12:]))
	rows := binary.LittleEndian.Uint64(data[16:])
	size := uint64(len(data))
	if count > (size-headerSize)/columnSize || rows > size/8 && count > 0 || rows > math.MaxInt32 {
		return nil, fmt.Errorf("column file of %d bytes says %d columns of %d rows", size, count, rows)
	}
	f := &File{rows: int(rows), data: data, columns: make([]view, count)}
	for i := range f.columns {
		if err := f.columns[i].parse(data, data[headerSize+i*columnSize:], rows); err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
	}
	return f, nil
}

func (v *view) parse(data, head []byte, rows uint64) error {
	v.kind = Type(binary.LittleEndian.Uint32(head))
	flags := binary.LittleEndian.Uint32(head[4:])
	nulls := binary.LittleEndian.Uint64(head[8:])
	fixed := binary.LittleEndian.Uint64(head[16:])
	text := binary.LittleEndian.Uint64(head[24:])
	var err error
	if flags&hasNulls != 0 {
		if v.nulls, err = cut(data, nulls, (rows+7)/8); err != nil {
			return fmt.Errorf("nulls: %w", err)
		}
	}
	switch v.kind {
	case Int, Real, Bool:
		v.fixed, err = cut(data, fixed, rows*8)
		return err
	case Text, Blob:
		if v.fixed, err = cut(data, fixed, rows*8+8); err != nil {
			return err
		}
		return v.parseBytes(data, text, rows)
	}
	return fmt.Errorf("unknown type %d", v.kind)
}

func (v *view) parseBytes(data []byte, start, rows uint64) error {
	last := binary.LittleEndian.Uint64(v.fixed[rows*8:])
	var err error
	if v.bytes, err = cut(data, start, last); err != nil {
		return err
	}
	before := uint64(0)
	for row := range rows + 1 {
		at := binary.LittleEndian.Uint64(v.fixed[row*8:])
		if at < before || at > last {
			return fmt.Errorf("row %d: offset %d goes back", row, at)
		}
		before = at
	}
	return nil
}

func cut(data []byte, start, length uint64) ([]byte, error) {
	size := uint64(len(data))
	if start > size || length > size-start {
		return nil, fmt.Errorf("bytes %d+%d lie outside of a file of %d", start, length, size)
	}
	return data[start : start+length : start+length], nil
}
