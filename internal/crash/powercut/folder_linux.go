package powercut

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func ReadFolder(dir string) (Folder, error) {
	all := Folder{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			all[name] = NewFolder()
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		all[name], err = ReadImage(path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("keep what was left: %w", err)
	}
	return all, nil
}

// Write makes the files in an empty folder.
func (f Folder) Write(dir string) error {
	for name, image := range f {
		path := filepath.Join(dir, name)
		made := filepath.Dir(path)
		if image.isFolder() {
			made = path
		}
		err := os.MkdirAll(made, 0o700)
		if err == nil && !image.isFolder() {
			err = WriteImage(image, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadImage reads a file without its holes.
func ReadImage(path string) (*Image, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	image := NewImage(info.Size())
	buf := make([]byte, 1<<20)
	for from := int64(0); from < image.Bytes; {
		start, err := unix.Seek(int(file.Fd()), from, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break // nothing but holes
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file.Name(), err)
		}
		n, err := file.ReadAt(buf, start)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read %s: %w", file.Name(), err)
		}
		image.Write(buf[:n], start)
		from = start + int64(n)
	}
	return image, nil
}

// WriteImage writes an image as a sparse file that was not there.
func WriteImage(image *Image, path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write an image: %w", err)
	}
	defer file.Close()
	if err := file.Truncate(image.Bytes); err != nil {
		return fmt.Errorf("write an image: %w", err)
	}
	for number, b := range image.Blocks {
		from := number * BlockBytes
		data := b.Data[:min(BlockBytes, image.Bytes-from)]
		if _, err := file.WriteAt(data, from); err != nil {
			return fmt.Errorf("write an image: %w", err)
		}
	}
	return file.Close()
}
