package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"assay/internal/sys/file"
)

const (
	headerSize = 100
	magic      = "SQLite format 3\x00"
)

// Header returns what a SQLite file itself says, read without SQLite:
// journal_mode (wal or rollback), page_size in bytes, auto_vacuum (none, full
// or incremental) and encoding (UTF-8, UTF-16le or UTF-16be). It is how a
// worker that only claims a setting is found out. It must not be used on a
// file that this process has open through SQLite: closing the file would drop
// SQLite's locks on it.
func Header(path string) (map[string]string, error) {
	h, err := readHeader(path)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"journal_mode": h.journalMode(),
		"page_size":    strconv.Itoa(h.pageSize()),
		"auto_vacuum":  h.autoVacuum(),
		"encoding":     h.encoding(),
	}, nil
}

// header is the first 100 bytes of a database; the format is fixed by
// SQLite's documentation ("Database File Format").
type header [headerSize]byte

func readHeader(path string) (header, error) {
	var h header
	in, err := file.Open(path)
	if err != nil {
		return h, err
	}
	defer in.Close()
	_, err = io.ReadFull(in, h[:])
	if errors.Is(err, io.EOF) {
		return h, fmt.Errorf("%s is empty", path)
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return h, fmt.Errorf("read %s: %w", path, err)
	}
	if err != nil || string(h[:len(magic)]) != magic {
		return h, fmt.Errorf("%s is not a SQLite database, or an encrypted one", path)
	}
	return h, nil
}

// journalMode tells the log from all other modes: only it is in the file.
func (h *header) journalMode() string {
	if h[18] == 2 && h[19] == 2 {
		return "wal"
	}
	return "rollback"
}

func (h *header) pageSize() int {
	if size := int(binary.BigEndian.Uint16(h[16:])); size != 1 {
		return size
	}
	return 65536 // does not fit in two bytes
}

func (h *header) autoVacuum() string {
	switch {
	case binary.BigEndian.Uint32(h[52:]) == 0:
		return "none"
	case binary.BigEndian.Uint32(h[64:]) == 0:
		return "full"
	}
	return "incremental"
}

func (h *header) encoding() string {
	switch n := binary.BigEndian.Uint32(h[56:]); n {
	case 1:
		return "UTF-8"
	case 2:
		return "UTF-16le"
	case 3:
		return "UTF-16be"
	default:
		return strconv.Itoa(int(n))
	}
}
