//go:build unix

package process

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// rowsFile is a file of rows as they are stored, which a worker writes. docs/protocol.md
// has its format.
type rowsFile struct{ path string }

// unitRows is what stands before the rows of a unit.
type unitRows struct {
	Unit uint64 // its number in the request
	Part uint32 // of a mix
	Rows uint32
}

// eachRow visits the rows of a unit, once: each of a step, with values that are nil, int64,
// float64, string or []byte.
type eachRow func(visit func(step int, values []any) error) error

func newRowsFile() (rowsFile, error) {
	file, err := os.CreateTemp("", "assay-rows-")
	if err != nil {
		return rowsFile{}, err
	}
	return rowsFile{file.Name()}, file.Close()
}

func (f rowsFile) remove() { _ = os.Remove(f.path) }

// each visits all units, which visit their rows.
func (f rowsFile) each(visit func(unitRows, eachRow) error) error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<16)
	for {
		var unit unitRows
		if err := binary.Read(in, binary.LittleEndian, &unit); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("rows of a unit: %w", err)
		}
		err := visit(unit, func(visit func(int, []any) error) error {
			for range unit.Rows {
				step, row, err := readRow(in)
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

func readRow(in *bufio.Reader) (step int, row []any, err error) {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	for range binary.LittleEndian.Uint32(head[4:]) {
		value, err := readValue(in)
		if err != nil {
			return 0, nil, err
		}
		row = append(row, value)
	}
	return int(binary.LittleEndian.Uint32(head[:])), row, nil
}

func readValue(in *bufio.Reader) (any, error) {
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
		content, err := io.ReadAll(io.LimitReader(in, int64(n)))
		if err == nil && len(content) < int(n) {
			err = io.ErrUnexpectedEOF
		}
		if tag == 4 {
			return content, err
		}
		return string(content), err
	}
	return nil, fmt.Errorf("a value has the unknown tag %d", tag)
}
