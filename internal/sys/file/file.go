// Package file reads and writes the files that users name. It writes whole
// files or nothing, and reads regular files of a bounded size only.
package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// Write writes data to path. A regular file appears whole or not at all: the
// data is written to a new file in the same folder, which then takes the
// place of the old one. What is not a regular file (a device, a FIFO, a link,
// such as /dev/stdout) stays what it is: the data is written into it.
func Write(path string, data []byte) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular():
		return Replace(path, data)
	case err != nil:
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Close())
}

// Replace writes a file whose name no user gave: also a link or a FIFO there is replaced.
func Replace(path string, data []byte) error {
	return replace(path, data, renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
}

// WritePrivate writes a file that only its owner can read, also where there was another one.
func WritePrivate(path string, data []byte) error {
	return replace(path, data, renameio.WithStaticPermissions(0o600))
}

// replace writes a new file beside path and renames it to path. The new file
// is made with O_EXCL, so that it is never one that somebody has put there.
func replace(path string, data []byte, permissions ...renameio.Option) error {
	pending, err := renameio.NewPendingFile(path, append(permissions, renameio.WithTempDir(filepath.Dir(path)))...)
	if refused, is := errors.AsType[*fs.PathError](err); is {
		refused.Path = path // not the temporary name, which the user never gave
	}
	if err != nil {
		return err
	}
	defer pending.Cleanup() // does nothing after the file was replaced
	if _, err := pending.Write(data); err != nil {
		return err
	}
	return pending.CloseAtomicallyReplace()
}

// Read reads a regular file of at most limit bytes. It refuses everything
// else at once: a FIFO would be waited for, and a device may never end.
func Read(path string, limit int64) ([]byte, error) {
	in, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, err
	}
	if err := isWithin(path, int64(len(data)), limit); err != nil {
		return nil, err
	}
	return data, nil
}

func isWithin(path string, size, limit int64) error {
	if size > limit {
		return fmt.Errorf("%s has more than %d bytes, which is the most that is read", path, limit)
	}
	return nil
}

// Open opens a regular file to read it. O_NONBLOCK keeps a FIFO from blocking that has
// taken the file's place since it was looked at.
func Open(path string) (*os.File, error) {
	in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := regular(in); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return in, nil
}

func regular(in *os.File) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	return isRegular(in.Name(), info)
}

// CheckRegular refuses what is not a regular file, or a link to one.
func CheckRegular(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: give a path from the folder that assay runs in, or an absolute path", path, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	return isRegular(path, info)
}

func isRegular(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	return nil
}

// CheckCache refuses a folder from which programs are run where others may have
// put theirs: who is not in its group may write to it, or it belongs to neither
// this user nor root. One that is not there yet is as good as any.
func CheckCache(folder string) error {
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("the cache folder %s can be written to by everybody, and programs are run from it: look at what is in it, then chmod o-w it; or remove it, or set XDG_CACHE_HOME", folder)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("the cache folder %s belongs to another user (%d), and programs are run from it: set XDG_CACHE_HOME to a folder of your own", folder, owner.Uid)
	}
	return nil
}
