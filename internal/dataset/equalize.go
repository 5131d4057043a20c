package dataset

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// stamp holds what reports whether a file was written to: the system sets the change
// time at each write, and no program can set it back.
type stamp struct {
	inode    uint64
	size     int64
	modified int64 // ns
	changed  int64 // ns; 0 where the system does not say
}

// clockStep is longer than the steps in which file systems count time: a file
// that was changed within the last one may be changed again without a trace.
const clockStep = 50 * time.Millisecond

func stampOf(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	s := stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode, s.changed = stat.Ino, changeTime(stat)
	}
	return s, nil
}

// settled reports whether a later write would change the stamp.
func (s stamp) settled() bool {
	return s.changed != 0 && time.Now().UnixNano()-s.changed > int64(clockStep)
}

// blocksOf returns what a file takes on the disk.
func blocksOf(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}

// equalize compares a file with its source, holes left out, and writes what
// differs. It syncs what it wrote.
func equalize(src, dst string) (err error) {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	want, err := in.Stat()
	if err != nil {
		return err
	}
	have, err := out.Stat()
	if err != nil {
		return err
	}
	wrote := have.Size() != want.Size()
	if wrote {
		if err := out.Truncate(want.Size()); err != nil {
			return err
		}
	}
	changed, err := equalizeData(in, out, want.Size())
	if err == nil && (wrote || changed) {
		err = out.Sync()
	}
	return err
}

// equalizeData does it for files of the same size.
func equalizeData(in, out *os.File, size int64) (wrote bool, err error) {
	want, have := make([]byte, chunk), make([]byte, chunk)
	for at := int64(0); at < size; at += chunk {
		if at, err = nextData(in, out, at, size); err != nil || at >= size {
			return wrote, err
		}
		n, err := in.ReadAt(want, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return wrote, err
		}
		if _, err := io.ReadFull(io.NewSectionReader(out, at, int64(n)), have[:n]); err != nil {
			return wrote, err
		}
		if bytes.Equal(want[:n], have[:n]) {
			continue
		}
		wrote = true
		if _, err := out.WriteAt(want[:n], at); err != nil {
			return wrote, err
		}
	}
	return wrote, nil
}

// nextData is the beginning of the next chunk in which either file has data.
func nextData(in, out *os.File, at, size int64) (int64, error) {
	a, err := dataFrom(in, at, size)
	if err != nil {
		return 0, err
	}
	b, err := dataFrom(out, at, size)
	return max(at, min(a, b)/chunk*chunk), err
}
