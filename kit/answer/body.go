package answer

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
)

// Body is what a worker that serves an operation answers to one request:
//
//	{"answer":[[1,"a"],[2,null]],"rows":2}
//
// The answer has the rows of all steps that return rows, in order; rows is how
// many were answered or changed. There is no space and no newline in it, so
// that equal answers are equal bytes. The zero value is ready.
type Body struct {
	buf  []byte
	rows bool // some row was added
	hash Hash // knows what can be of which type
}

// Begin makes the body empty and keeps its room.
func (b *Body) Begin() { b.buf, b.rows = append(b.buf[:0], `{"answer":[`...), false }

// Row adds a row with these declared types, as [Hash.Row] takes them.
func (b *Body) Row(types []string, values []any) error {
	if len(values) != len(types) {
		return fmt.Errorf("a row has %d columns, declared are %d", len(values), len(types))
	}
	if b.rows {
		b.buf = append(b.buf, ',')
	}
	b.rows = true
	b.buf = append(b.buf, '[')
	for i, v := range values {
		if i > 0 {
			b.buf = append(b.buf, ',')
		}
		var err error
		if b.buf, err = b.value(types[i], v); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	b.buf = append(b.buf, ']')
	return nil
}

// End completes the body with the number of rows answered or changed and
// returns it. It is valid until the next Begin.
func (b *Body) End(rows int) []byte {
	b.buf = strconv.AppendInt(append(b.buf, `],"rows":`...), int64(rows), 10)
	b.buf = append(b.buf, '}')
	return b.buf
}

// Sum is a digest of a whole body: FNV-1a of 64 bits.
func Sum(body []byte) int64 { return sum(body) }

// RowsSum is a digest of the number of rows in a body, whatever they are.
func RowsSum(body []byte) int64 { return sum(body[bytes.LastIndexByte(body, ',')+1:]) }

func sum(text []byte) int64 {
	hash := fnv.New64a()
	hash.Write(text)
	return int64(hash.Sum64())
}

// value adds a value in JSON, by its declared type: numbers in the fewest digits
// that give them back, a blob in base64, what is no number in JSON as a text.
func (b *Body) value(declared string, v any) ([]byte, error) {
	buf := b.buf
	b.hash.buf = b.hash.buf[:0]
	if err := b.hash.value(declared, v); err != nil {
		return buf, err
	}
	if v == nil {
		return append(buf, "null"...), nil
	}
	digits := b.hash.buf[1:] // behind the type's byte
	switch strings.TrimSuffix(declared, "?") {
	case "int":
		return strconv.AppendInt(buf, int64(binary.LittleEndian.Uint64(digits)), 10), nil
	case "real":
		return appendReal(buf, math.Float64frombits(binary.LittleEndian.Uint64(digits))), nil
	case "bool":
		return strconv.AppendBool(buf, digits[0] == 1), nil
	case "blob":
		buf = base64.StdEncoding.AppendEncode(append(buf, '"'), digits[4:])
		return append(buf, '"'), nil
	}
	return appendText(buf, digits[4:])
}

func appendReal(buf []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendQuote(buf, strconv.FormatFloat(f, 'g', -1, 64))
	}
	return strconv.AppendFloat(buf, f, 'g', -1, 64)
}

// appendText quotes what needs no escape by itself, which is nearly all.
func appendText(buf, text []byte) ([]byte, error) {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(string(text))
			return append(buf, quoted...), err
		}
	}
	return append(append(append(buf, '"'), text...), '"'), nil
}
