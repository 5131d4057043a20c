package column

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// maxWaiting is how many bytes of a spool with a folder wait in memory.
const maxWaiting = 1 << 20

// spool is a sequence of bytes, of which the first may lie in a file.
type spool struct {
	folder  string // of the file; empty: all is in memory
	file    *os.File
	spilled int64  // bytes in the file
	waiting []byte // those behind them
}

func (s *spool) size() int64 { return s.spilled + int64(len(s.waiting)) }

func (s *spool) number(v uint64) { s.waiting = binary.LittleEndian.AppendUint64(s.waiting, v) }

// spill moves what waits to the file where it is much.
func (s *spool) spill() (err error) {
	if s.folder == "" || len(s.waiting) < maxWaiting {
		return nil
	}
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.folder, ".column-*"); err != nil {
			return err
		}
	}
	n, err := s.file.WriteAt(s.waiting, s.spilled)
	s.spilled += int64(n)
	s.waiting = s.waiting[:copy(s.waiting, s.waiting[n:])]
	return err
}

// WriteTo writes the bytes, and zeros up to a multiple of 8.
func (s *spool) WriteTo(w io.Writer) (total int64, err error) {
	if s.file != nil {
		if total, err = io.Copy(w, io.NewSectionReader(s.file, 0, s.spilled)); err != nil {
			return total, err
		}
	}
	for _, part := range [][]byte{s.waiting, make([]byte, (8-s.size()%8)%8)} {
		n, err := w.Write(part)
		total += int64(n)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), os.Remove(s.file.Name()))
	s.file = nil
	return err
}
