// Package recorded reads logs of a program's traffic, whose format docs/traffic.md is.
package recorded

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Version is the version of the format.
const Version = 2

// maxLine is how many bytes a line has at most.
const maxLine = 64 << 20

// Value holds what a program bound: nil, int64, float64, string or []byte.
type Value struct{ Of any }

// UnmarshalJSON reads a value of a log.
func (v *Value) UnmarshalJSON(data []byte) error {
	*v = Value{}
	switch {
	case string(data) == "null":
		return nil
	case data[0] == '"':
		var text string
		err := json.Unmarshal(data, &text)
		v.Of = text
		return err
	case data[0] == '{':
		return v.object(data)
	case bytes.ContainsAny(data, ".eE"):
		real, err := strconv.ParseFloat(string(data), 64)
		v.Of = real
		return err
	}
	whole, err := strconv.ParseInt(string(data), 10, 64)
	v.Of = whole
	return err
}

// object reads a value that JSON does not have.
func (v *Value) object(data []byte) error {
	var one struct {
		Real *string
		Text json.RawMessage
		Blob json.RawMessage
	}
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	if one.Real != nil {
		real, err := strconv.ParseFloat(*one.Real, 64)
		v.Of = real
		return err
	}
	text, blob := one.Text, one.Blob
	if (text == nil) == (blob == nil) {
		return fmt.Errorf("%.80s is no value", data)
	}
	content, err := content(append(text, blob...), map[bool]byte{true: ' '}[blob == nil])
	if v.Of = content; text != nil {
		v.Of = string(content)
	}
	return err
}

// content returns the content of a text or blob: in base64, or, where the log has its length
// alone, as many spaces or zeros.
func content(data []byte, filler byte) ([]byte, error) {
	var length int
	if json.Unmarshal(data, &length) == nil {
		if length < 0 || length > math.MaxInt32 {
			return nil, errors.New("a length is negative, or too large")
		}
		return bytes.Repeat([]byte{filler}, length), nil
	}
	var encoded string
	if err := json.Unmarshal(data, &encoded); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(encoded)
}

// Line is a line of any kind.
type Line struct {
	Traffic int
	Began   string
	ID, SQL string
	Dropped *int64
	At      int64
	Conn    int64
	Tx      int64
	S       string
	Args    []Value
	Named   map[string]Value
	Rows    *int64
	NS      int64
	Prep    string
	Err     string
}

// Lines reads a log line by line. A last line that was cut off is left out.
func Lines(data []byte, take func(l *Line) error) error {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxLine)
	n := 1
	for ; lines.Scan(); n++ {
		var l Line
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			if bytes.HasSuffix(data, lines.Bytes()) && n > 1 {
				break // the program ended within it
			}
			return fmt.Errorf("line %d is not a JSON object of a log%s", n, inJSON(err))
		}
		if n == 1 && l.Traffic != Version {
			return fmt.Errorf("line 1 is not the beginning of a log of version %d: record it anew with the writer of this version", Version)
		}
		if err := l.check(); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if err := take(&l); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d has more than %d MiB: the statement is too long to be measured", n, maxLine>>20)
	}
	return lines.Err()
}

// inJSON returns where a mistake is, without the values that stand there.
func inJSON(err error) string {
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		return fmt.Sprintf(": mistake at byte %d", syntax.Offset)
	}
	if kind, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return fmt.Sprintf(": mistake in %q", kind.Field)
	}
	return ""
}

func (l *Line) check() error {
	if l.At < 0 || l.NS < 0 || l.Rows != nil && *l.Rows < 0 || l.NS > math.MaxInt64-l.At {
		return errors.New("a time or a number of rows is negative, or too large")
	}
	return nil
}
