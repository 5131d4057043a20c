// Package wire is the contract between assay and its workers: one JSON object
// a line, on the worker's standard input and output. The worker speaks first
// (Hello); then each request is answered by one reply with the same id: ok
// with a body, or error. docs/protocol.md is the same contract in words, with
// vectors.
package wire

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Protocol is the version of the contract. A worker of another version is
// refused.
const Protocol = 1

// MaxLine is the longest line of either side in bytes, its newline included.
const MaxLine = 4 << 20

// The types of requests.
const (
	TypeOpen     = "open"
	TypeSettings = "settings"
	TypePrepare  = "prepare"
	TypeMeasure  = "measure"
	TypeVerify   = "verify"
	TypeQuery    = "query"
	TypeStats    = "stats"
	TypeServe    = "serve"
	TypeLoad     = "load"
	TypeCheck    = "check"
	TypeClose    = "close"
)

// OfDatabase are the requests, apart from query and serve, that need an open database.
var OfDatabase = []string{TypeSettings, TypePrepare, TypeMeasure, TypeVerify, TypeLoad, TypeCheck}

// The codes of errors.
const (
	Unsupported = "unsupported" // the worker does not do this; nothing happened
	Invalid     = "invalid"     // the request makes no sense; nothing happened
	Failed      = "failed"      // the engine or driver answered an error, in message
)

// Error is an error reply. Definite says that the operation certainly did not
// happen; otherwise it may have.
type Error struct {
	Code     string `json:"code"`
	Definite bool   `json:"definite"`
	Message  string `json:"message"`
}

func (e *Error) Error() string { return e.Message }

// Errorf returns a definite error with a code.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Definite: true, Message: fmt.Sprintf(format, args...)}
}

// Envelope is what every line has.
type Envelope struct {
	Type string `json:"type"`
	ID   int64  `json:"id"`
}

// ErrLine means a line longer than MaxLine.
var ErrLine = fmt.Errorf("line longer than %d bytes", MaxLine)

// Reader reads lines with a limit.
type Reader struct{ in *bufio.Reader }

// NewReader returns a reader of lines.
func NewReader(in io.Reader) *Reader { return &Reader{bufio.NewReaderSize(in, 64<<10)} }

// Line returns the next line without its newline. The slice is valid until the
// next call. It returns io.EOF at the end, io.ErrUnexpectedEOF where the last
// line has no newline, and ErrLine for a line over the limit.
func (r *Reader) Line() ([]byte, error) {
	var line []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, ErrLine
		}
		switch {
		case err == nil && line == nil:
			return part[:len(part)-1], nil
		case err == nil:
			line = append(line, part...)
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			line = append(line, part...)
		case errors.Is(err, io.EOF) && len(line)+len(part) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// Write writes v as one line.
func Write(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(line)+1 > MaxLine {
		return ErrLine
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
