package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"assay/kit/process"
)

// installer is the name of the executable in the folder of a script's worker
// that installs what it needs from a lock file: packages of pip or npm. It runs
// in a copy of the folder, which then is the build.
//
//	build tools    prints what the result depends on apart from the folder, such
//	               as the interpreter and its version; it changes nothing
//	build install  installs beside itself
//
// Where something is missing on the machine it says on standard error what to
// install, and exits with process.NotInstalled.
const installer = "build"

// installation is the build of a worker that needs nothing compiled by us.
type installation struct {
	files   tree
	tools   string
	digest  string // of what goes in
	program string // a folder
}

func (b *Builder) newInstallation(ctx context.Context, d Driver) (installation, error) {
	var i installation
	var err error
	if i.files, err = b.Source.worker(d); err != nil {
		return i, err
	}
	if i.tools, err = installerTools(ctx, d.Dir); err != nil {
		return i, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "worker %s %q ", d.Name, i.tools)
	i.files.digest(h)
	i.digest = hex.EncodeToString(h.Sum(nil))
	i.program, err = filepath.Abs(filepath.Join(b.Cache, "workers", cacheName(d.Name, i.digest)))
	return i, err
}

// installed makes a folder of the cache with the worker's files and what its
// installer puts beside them.
func (b *Builder) installed(ctx context.Context, d Driver, start time.Time) (Worker, error) {
	i, err := b.newInstallation(ctx, d)
	if err != nil {
		return Worker{}, err
	}
	w := Worker{Name: d.Name, Program: filepath.Join(i.program, "worker"), Toolchain: i.tools, Cached: intact(i.program)}
	if !w.Cached {
		b.log(Event{d.Name, Building, time.Since(start)})
		err := i.files.building(i.program, func(temp string) error {
			own := filepath.Join(temp, "workers", d.Name)
			if err := runInstaller(ctx, own); err != nil {
				return err
			}
			return install(own, i.program)
		})
		if err != nil {
			return Worker{}, err
		}
	}
	w.Digest, err = withOutput(i.digest, i.program)
	return w, err
}

// withOutput adds what the installer made of a build to the digest of what went
// into it: a lock file without hashes, or a compiler, can make another thing of
// the same.
func withOutput(digest, program string) (string, error) {
	sum, err := os.ReadFile(program + besideSum)
	if err != nil {
		return "", fmt.Errorf("read the digest of what was installed: %w", err)
	}
	both := sha256.Sum256([]byte(digest + " " + string(sum)))
	return hex.EncodeToString(both[:]), nil
}

// installerTools asks what the result of the installer in a folder depends on.
func installerTools(ctx context.Context, dir string) (string, error) {
	out, err := execute(ctx, "", "", filepath.Join(dir, installer), "tools")
	if err != nil {
		return "", notInstalled(err)
	}
	return strings.TrimSpace(out), nil
}

func runInstaller(ctx context.Context, dir string) error {
	_, err := execute(ctx, dir, filepath.Dir(dir), filepath.Join(dir, installer), "install")
	var failed *commandError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && noConnection.MatchString(failed.stderr):
		return fmt.Errorf("install what the worker needs: %w: %w", ErrUnreachable, err)
	}
	return fmt.Errorf("install what the worker needs: %w", notInstalled(err))
}

// ErrUnreachable says that an installer had no connection to what it installs from.
var ErrUnreachable = errors.New("the registry of packages cannot be reached")

// noConnection matches what pip, npm and node-gyp say then.
var noConnection = regexp.MustCompile(`NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT`)

// NotInstalledError says in an installer's own words what this machine lacks.
type NotInstalledError struct{ Words string }

func (e *NotInstalledError) Error() string { return e.Words }

// notInstalled makes one of what an installer says that lacks something.
func notInstalled(err error) error {
	var ended *exec.ExitError
	var failed *commandError
	if !errors.As(err, &ended) || ended.ExitCode() != process.NotInstalled || !errors.As(err, &failed) {
		return err
	}
	return &NotInstalledError{lastLines(failed.stderr)}
}
