package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"assay/internal/sys/scratch"
	"assay/kit/process"
	"assay/kit/wire"
)

// besideSum is added to the name of a program of the cache, or of a folder with
// one: there lies its digest. Who has changed a program, or a disk that has, is
// found before it is run.
const besideSum = ".sha256"

// intact reports whether a program of the cache is there and still what was built.
// One that is not is built again.
func intact(program string) bool {
	want, err := os.ReadFile(program + besideSum)
	if err != nil {
		return false
	}
	sum, err := sumOf(program)
	return err == nil && sum == string(want)
}

// install moves a finished program, or a folder with one, to its place in the
// cache, where its digest lies already. Of several processes that made the same,
// the first one does: what another has made may differ, and may be run by now.
func install(made, program string) error {
	sum, err := sumOf(made)
	if err != nil {
		return fmt.Errorf("move the program to the cache: %w", err)
	}
	lock, err := scratch.Lock(filepath.Join(filepath.Dir(filepath.Dir(program)), "installing.lock"), syscall.LOCK_EX)
	if err != nil {
		return fmt.Errorf("lock the cache: %w", err)
	}
	defer lock.Close()
	if intact(program) {
		return nil
	}
	if err := errors.Join(os.RemoveAll(program), os.WriteFile(program+besideSum, []byte(sum), 0o644)); err != nil {
		return fmt.Errorf("move the program to the cache: %w", err)
	}
	if err := os.Rename(made, program); err != nil {
		return fmt.Errorf("move the program to the cache: %w", err)
	}
	return nil
}

// sumOf digests a file, or the names, kinds and contents of all that a folder
// has.
func sumOf(path string) (string, error) {
	hash := sha256.New()
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(path, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%q %s\n", relative, entry.Type())
		if entry.Type()&fs.ModeSymlink != 0 { // to a folder, or to nothing
			target, err := os.Readlink(name)
			fmt.Fprintf(hash, "%q\n", target)
			return err
		}
		in, err := os.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(hash, in)
		return errors.Join(err, in.Close())
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// AskHello starts a worker and returns what it says of itself.
func AskHello(ctx context.Context, program string) (wire.Hello, error) {
	w, err := process.Start(ctx, program, process.Options{})
	if err != nil {
		return wire.Hello{}, err
	}
	w.Kill()
	return w.Hello(), nil
}

// checkHello asks a program for its hello before it is cached: what was compiled or installed without
// an error need not run. Where a version was asked for, it has to say that one.
func (b *Builder) checkHello(ctx context.Context, d Driver, program, version string) error {
	if b.Hello == nil {
		return nil
	}
	hello, err := b.Hello(ctx, program)
	ended, died := errors.AsType[*process.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case died && ended.Code == process.NotInstalled:
		return &NotInstalledError{strings.Join(ended.Tail, "\n")}
	case err != nil:
		return fmt.Errorf("%w: it says no hello: %w", ErrNoHello, err)
	case version != "" && d.Ecosystem.Compare(hello.Target.DriverVersion, version) != 0:
		return &SpecError{fmt.Errorf("the worker says that it has %s %q, and %s was asked for", d.Package, hello.Target.DriverVersion, version)}
	}
	return nil
}
