// Package answer digests the answers of operations, so that equal answers
// give equal digests whatever driver, language or engine they came from.
//
// The digest is SHA-256 over the rows in order. A row is the number of its
// columns (4 bytes, little-endian) followed by each value: a tag byte, then
// nothing for NULL (tag 0), 8 bytes little-endian for int (1), the IEEE 754
// bits in 8 bytes little-endian for real (2; -0 counts as 0, and every NaN as
// 0x7ff8000000000000), the length in 4 bytes and the bytes for text (3)
// and blob (4), one byte for bool (5). Tags follow the declared type, never
// what a driver happened to return.
package answer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"strings"
)

// canonicalNaN stands for every NaN. It is the quiet one that other languages and
// processors make; math.NaN is another.
const canonicalNaN = 0x7ff8000000000000

// Hash digests rows. Create it with New.
type Hash struct {
	types []string
	hash  hash.Hash
	buf   []byte
	rows  int64
}

// New returns a hash of rows with these declared types, of wire.Types. No value is of another.
func New(types []string) *Hash { return &Hash{types: types, hash: sha256.New()} }

// Row adds a row. Values are nil, int64, float64, string, []byte or bool; one
// that cannot be of its declared type is an error.
func (h *Hash) Row(values []any) error {
	if len(values) != len(h.types) {
		return fmt.Errorf("row %d has %d columns, declared are %d", h.rows+1, len(values), len(h.types))
	}
	h.buf = binary.LittleEndian.AppendUint32(h.buf[:0], uint32(len(values)))
	for i, v := range values {
		if err := h.value(h.types[i], v); err != nil {
			return fmt.Errorf("row %d, column %d: %w", h.rows+1, i+1, err)
		}
	}
	h.hash.Write(h.buf)
	h.rows++
	return nil
}

// Rows returns the number of rows added.
func (h *Hash) Rows() int64 { return h.rows }

// Sum returns the digest of the rows so far, in hex.
func (h *Hash) Sum() string { return hex.EncodeToString(h.hash.Sum(nil)) }

func (h *Hash) value(declared string, v any) error {
	kind, nullable := strings.CutSuffix(declared, "?")
	if v == nil {
		if !nullable {
			return fmt.Errorf("NULL where %s is declared; declare %s? where NULL may occur", kind, kind)
		}
		h.buf = append(h.buf, 0)
		return nil
	}
	var ok bool
	switch kind {
	case "int":
		ok = h.integer(v)
	case "real":
		ok = h.real(v)
	case "text":
		ok = h.bytes(3, v)
	case "blob":
		ok = h.bytes(4, v)
	case "bool":
		ok = h.boolean(v)
	}
	if !ok {
		return fmt.Errorf("%T where %s is declared", v, kind)
	}
	return nil
}

func (h *Hash) integer(v any) bool {
	var n int64
	switch v := v.(type) {
	case int64:
		n = v
	case bool:
		if v {
			n = 1
		}
	default:
		return false
	}
	h.buf = binary.LittleEndian.AppendUint64(append(h.buf, 1), uint64(n))
	return true
}

func (h *Hash) real(v any) bool {
	var f float64
	switch v := v.(type) {
	case float64:
		f = v
	case int64:
		f = float64(v)
	default:
		return false
	}
	bits := math.Float64bits(f)
	if f == 0 { // also -0
		bits = 0
	}
	if math.IsNaN(f) {
		bits = canonicalNaN
	}
	h.buf = binary.LittleEndian.AppendUint64(append(h.buf, 2), bits)
	return true
}

func (h *Hash) bytes(tag byte, v any) bool {
	h.buf = append(h.buf, tag)
	switch v := v.(type) {
	case string:
		h.buf = append(binary.LittleEndian.AppendUint32(h.buf, uint32(len(v))), v...)
	case []byte:
		h.buf = append(binary.LittleEndian.AppendUint32(h.buf, uint32(len(v))), v...)
	default:
		return false
	}
	return true
}

func (h *Hash) boolean(v any) bool {
	switch v := v.(type) {
	case bool:
		if v {
			h.buf = append(h.buf, 5, 1)
		} else {
			h.buf = append(h.buf, 5, 0)
		}
	case int64:
		if v != 0 {
			h.buf = append(h.buf, 5, 1)
		} else {
			h.buf = append(h.buf, 5, 0)
		}
	default:
		return false
	}
	return true
}
