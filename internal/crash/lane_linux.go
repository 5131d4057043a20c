package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"assay"
	"assay/internal/crash/powercut"
	"assay/kit/process"
)

const (
	diskBytes = 512 << 20
	// programPatience is how long mount and its like may take. A mount that
	// hangs longer ends the lane, and with it everything that is mounted.
	programPatience = 30 * time.Second
	// unmountPause lies between two tries to unmount: the kernel may still hold
	// what a killed worker had open.
	unmountPause = 50 * time.Millisecond
)

// lane is one disk with one mount point, on which tasks are done one after the
// other. It lives in a process and a mount namespace of its own, and the file
// system on the disk in the namespace of another process, the holder, which ends
// with it. So the kernel takes everything down in the right order however the
// lane ends: first the disk, whose reads and writes then fail, and then the file
// system. In one namespace the end of the lane would wait for its own disk.
type lane struct {
	holder  *exec.Cmd
	disk    *powercut.Server // nil without one
	fuse    string           // folder of the disk's file
	mount   string           // folder that the file system is mounted on
	work    string           // folder for argument sequences and the workers
	base    *powercut.Image  // an empty file system of the task at hand
	empty   *powercut.Image  // an empty file system, and one with a PostgreSQL cluster; nil: not made yet
	cluster *powercut.Image
	files   string // folder that a recording file system is mounted on, in the lane's own namespace
	// onFiles says that the task at hand is done there, and not on the disk.
	onFiles bool
	soon    chan os.Signal // endSoon was sent; nil where nobody sends it
	last    bool           // the state at hand is the last one
}

// newLane makes a lane below a folder, with an empty disk where that is asked
// for.
func newLane(ctx context.Context, dir string, withDisk bool) (*lane, error) {
	l := &lane{fuse: filepath.Join(dir, "fuse"), mount: filepath.Join(dir, "mnt"), work: filepath.Join(dir, "work"), files: filepath.Join(dir, filesName)}
	for _, folder := range []string{l.fuse, l.mount, l.work, l.files} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("folders of the disk: %w", err)
		}
	}
	if !withDisk {
		return l, nil // for killing
	}
	var err error
	if l.disk, err = powercut.ServeDisk(l.fuse, l.mount); err != nil {
		return nil, err
	}
	l.holder = exec.Command("sleep", "infinity")
	l.holder.SysProcAttr = namespaceAttributes()
	if err := process.Launch(l.holder); err != nil {
		return nil, fmt.Errorf("start the holder of the mount: %w", err)
	}
	return l, nil
}

// inside is the program with arguments that runs another one where the disk is
// mounted; nothing where the task takes no disk.
func (l *lane) inside() []string {
	if l.holder == nil || l.onFiles {
		return nil
	}
	return []string{"nsenter", "--mount=/proc/" + strconv.Itoa(l.holder.Process.Pid) + "/ns/mnt", "--"}
}

func (l *lane) run(ctx context.Context, name string, args ...string) error {
	all := append(append(l.inside(), name), args...)
	return program(ctx, all[0], all[1:]...)
}

// format has the disk begin with an empty file system.
func (l *lane) format(ctx context.Context) (err error) {
	if l.empty == nil {
		if l.empty, err = makeFileSystem(ctx, filepath.Join(l.work, "empty")); err != nil {
			return err
		}
	}
	l.base = l.empty
	return nil
}

// makeExt4 is the program that makes an empty file system in a file.
var makeExt4 = []string{"mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"}

// makeFileSystem makes an empty one by way of a file, which is removed.
func makeFileSystem(ctx context.Context, path string) (*powercut.Image, error) {
	defer os.Remove(path)
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, diskBytes)); err != nil {
		return nil, err
	}
	if err := program(ctx, makeExt4[0], append(makeExt4[1:len(makeExt4):len(makeExt4)], path)...); err != nil {
		return nil, err
	}
	return powercut.ReadImage(path)
}

// program runs another program; its error has what the program said.
func program(ctx context.Context, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, programPatience)
	defer cancel()
	var out bytes.Buffer
	command := exec.CommandContext(ctx, name, args...)
	command.WaitDelay, command.Stdout, command.Stderr = time.Second, &out, &out
	err := process.Launch(command) // it ends with this process
	if err == nil {
		err = command.Wait()
	}
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("%s: %w", name, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(out.Bytes()))
	}
	return nil
}

var errMount = errors.New("the file system does not mount")

// mounted puts a disk in, mounts it, and unmounts it after do.
func (l *lane) mounted(ctx context.Context, image *powercut.Image, record bool, do func() error) error {
	l.disk.Insert(image, record)
	if err := l.mountDisk(ctx); err != nil {
		return err
	}
	err := do()
	if errors.Is(err, errMount) {
		return err // it is not mounted any more
	}
	return errors.Join(err, l.unmount(context.WithoutCancel(ctx)))
}

func (l *lane) mountDisk(ctx context.Context) error {
	err := l.run(ctx, "mount", "-t", string(assay.Ext4), "-o", "loop", filepath.Join(l.fuse, powercut.DiskName), l.mount)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("%w: %w", errMount, err)
	}
	return nil
}

func (l *lane) unmount(ctx context.Context) error {
	return patiently(func() error { return l.run(ctx, "umount", l.mount) })
}

// patiently tries to unmount again for a moment.
func patiently(unmount func() error) (err error) {
	for range 20 {
		if err = unmount(); err == nil {
			return nil
		}
		time.Sleep(unmountPause)
	}
	return err
}

// close takes everything down in order; the end of the process does the same.
func (l *lane) close() {
	if l.disk == nil {
		return
	}
	_ = l.holder.Process.Kill() // with it goes the mount, while the disk still answers
	_ = l.holder.Wait()         // it was killed
	_ = l.disk.Server.Unmount() // the namespace ends with the process anyway
}

// recordFiles runs do with a fresh recording file system and returns what was recorded.
// What it was unmounted with is not in it: that was after the end.
func (t *trial) recordFiles(do func() error) (*powercut.Recording, error) {
	r, err := powercut.ServeFiles(t.files)
	if err != nil {
		return nil, err
	}
	err = do()
	recording := r.Recorded()
	if patiently(r.Unmount) != nil {
		err = errors.Join(err, errors.New("the file system of the files does not unmount"))
	}
	return recording, err
}
