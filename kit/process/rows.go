//go:build unix

package process

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"assay/kit/wire"
)

// rowsFile is a file of rows as they are stored, which a worker writes. docs/protocol.md
// has its format. It is held open: what a worker puts in its place is not read.
type rowsFile struct{ *os.File }

// unitRows is what stands before the rows of a unit.
type unitRows struct {
	Unit uint64 // its number in the request
	Part uint32 // of a mix
	Rows uint32
}

// eachRow visits the rows of a unit, once: each of a step, with values that are nil, int64,
// float64, string or []byte.
type eachRow func(visit func(step int, values []any) error) error

// newRowsFile makes an empty file in a folder; without one, in that for temporary files.
func newRowsFile(dir string) (rowsFile, error) {
	if dir != "" {
		var err error
		if dir, err = filepath.Abs(dir); err != nil {
			return rowsFile{}, err
		}
	}
	file, err := os.CreateTemp(dir, "assay-rows-")
	return rowsFile{file}, err
}

func (f rowsFile) remove() {
	_ = f.Close()
	_ = os.Remove(f.Name())
}

// each visits all units, which visit their rows, of at most so many columns.
func (f rowsFile) each(ctx context.Context, columns int, visit func(unitRows, eachRow) error) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	rest := &io.LimitedReader{R: f, N: info.Size()}
	in := rowsReader{bufio.NewReaderSize(rest, 1<<16), rest, columns}
	for {
		var unit unitRows
		if err := binary.Read(in, binary.LittleEndian, &unit); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("rows of a unit: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := visit(unit, func(visit func(int, []any) error) error {
			for range unit.Rows {
				step, row, err := in.row()
				if err == nil {
					err = ctx.Err()
				}
				if err != nil {
					return fmt.Errorf("rows of unit %d: %w", unit.Unit, err)
				}
				if err := visit(step, row); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// rowsReader reads a file of rows as long as it was when that began.
type rowsReader struct {
	*bufio.Reader
	rest    *io.LimitedReader // what is not in the buffer yet
	columns int               // that a row has at most
}

func (in rowsReader) row() (step int, row []any, err error) {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	count := binary.LittleEndian.Uint32(head[4:])
	if int64(count) > int64(in.columns) {
		return 0, nil, &wire.Error{Code: wire.Failed, Message: fmt.Sprintf("a row has %d columns, declared are at most %d", count, in.columns)}
	}
	for range count {
		value, err := in.value()
		if err != nil {
			return 0, nil, err
		}
		row = append(row, value)
	}
	return int(binary.LittleEndian.Uint32(head[:])), row, nil
}

func (in rowsReader) value() (any, error) {
	tag, err := in.ReadByte()
	if err != nil || tag == 0 {
		return nil, err
	}
	var number [8]byte
	size := map[byte]int{1: 8, 2: 8, 3: 4, 4: 4}[tag]
	if _, err := io.ReadFull(in, number[:size]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(number[:])
	switch tag {
	case 1:
		return int64(n), nil
	case 2:
		return math.Float64frombits(n), nil
	case 3, 4:
		if int64(n) > in.rest.N+int64(in.Buffered()) {
			return nil, io.ErrUnexpectedEOF
		}
		content := make([]byte, n)
		_, err := io.ReadFull(in, content)
		if tag == 4 {
			return content, err
		}
		return string(content), err
	}
	return nil, fmt.Errorf("a value has the unknown tag %d", tag)
}
