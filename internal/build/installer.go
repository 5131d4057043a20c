package build

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/kit/process"
)

// installer is the name of the executable in the folder of a script's worker
// that installs what it needs from lock files, such as packages of pip or npm.
//
//	build tools    prints what the result depends on apart from the lock files,
//	               such as the interpreter and its version; it changes nothing
//	build files    prints the names of its lock files, one a line
//	build install  installs into its working directory, which has nothing but
//	               itself and those files; what it makes lies beside the worker's
//	               files in the build. Of another version than the locked one, the
//	               manifest is changed and the file that locks it is not there.
//	               Its variable ASSAY_WORK is a folder that lasts, for what a
//	               compiler need not make again
//	build versions PACKAGE
//	               prints the published versions of a package
//
// Where something is missing on the machine it says on standard error what to
// install, and exits with process.NotInstalled.
const installer = "build"

// installation is the build of a worker that needs nothing compiled by us.
type installation struct {
	builder  *Builder
	driver   Driver
	spec     Spec // as it was asked for
	files    tree
	packages packages
	slot
}

func (b *Builder) newInstallation(ctx context.Context, d Driver, spec Spec) (*installation, error) {
	i := &installation{builder: b, driver: d, spec: spec}
	err := checkNotCompiled(d, spec)
	if err != nil {
		return i, err
	}
	if i.files, err = b.Source.workerAt(d, &spec); err != nil {
		return i, err
	}
	if i.packages, err = b.newPackages(ctx, d, i.files); err != nil {
		return i, err
	}
	i.slot, err = b.slot(spec, i.files.sum("worker %s %q ", d.Name, i.packages.tools))
	return i, err
}

// build makes a folder of the cache with the worker's files and what its installer puts
// beside them.
func (i *installation) build(ctx context.Context) error {
	return i.files.building(i.program, func(temp string) error {
		own := filepath.Join(temp, "workers", i.driver.Name)
		return i.builder.finish(ctx, i.driver, i.spec.Version, i.packages, own, i.program)
	})
}

// finish puts the packages of a script's worker beside its files, and moves all of it to the cache
// where the worker says hello, and that it has the version of its library that was asked for.
func (b *Builder) finish(ctx context.Context, d Driver, version string, p packages, own, program string) error {
	if d.Installs {
		if err := p.install(ctx, own); err != nil {
			return b.unpublished(ctx, d, version, err)
		}
	}
	if err := b.checkHello(ctx, d, filepath.Join(own, "worker"), version); err != nil {
		return err
	}
	return install(own, program)
}

func (i *installation) worker(cached bool) (Worker, error) {
	digest, err := withOutput(i.digest, i.program)
	return Worker{Name: i.driver.Name, Version: cmp.Or(i.driver.asked(i.spec.Version), i.driver.Pinned), Module: i.driver.Package, Program: filepath.Join(i.program, "worker"),
		Digest: digest, Toolchain: i.packages.tools, Cached: cached}, err
}

// packages holds what an installer makes of its lock files. It is made once, however
// the worker's other files change, and for all workers that have these.
type packages struct {
	files    tree   // the installer and its lock files, in installFolder
	tools    string // what the result depends on apart from them
	folder   string // in the cache
	manifest tree   // of another version than the locked one; empty: the locked one is installed
}

const installFolder = "install"

func (b *Builder) newPackages(ctx context.Context, d Driver, files tree) (packages, error) {
	var p packages
	var err error
	if p.tools, err = installerSays(ctx, d.Dir, "tools"); err != nil {
		return p, err
	}
	locks, err := installerSays(ctx, d.Dir, "files")
	if err != nil {
		return p, err
	}
	for _, name := range append(strings.Fields(locks), installer) {
		at := slices.IndexFunc(files, func(f sourceFile) bool { return f.path == "workers/"+d.Name+"/"+name })
		if at < 0 && d.Package != "" && name == ecosystems[d.Ecosystem].lock {
			manifest := "workers/" + d.Name + "/" + ecosystems[d.Ecosystem].manifest
			p.manifest = slices.DeleteFunc(slices.Clone(files), func(f sourceFile) bool { return f.path != manifest })
			continue
		}
		if at < 0 {
			return p, fmt.Errorf("workers/%s has no file %s, which its %s installs from: write it, or remove %s where the driver needs no packages", d.Name, name, installer, installer)
		}
		p.files = append(p.files, sourceFile{installFolder + "/" + name, files[at].executable, files[at].data})
	}
	p.files.sort()
	p.folder, err = filepath.Abs(filepath.Join(b.Cache, "packages", p.files.sum("packages %q ", p.tools)[:16]))
	return p, err
}

// install puts the packages beside a worker's files: what the installer makes in a folder that
// has its own files.
func (p packages) install(ctx context.Context, own string) error {
	return p.files.copied(own, p.folder, func(temp string) (string, error) {
		work, err := p.lasting()
		if err != nil {
			return "", err
		}
		folder := filepath.Join(temp, installFolder)
		if err := runInstaller(ctx, folder, work); err != nil {
			return "", err
		}
		for _, f := range p.files {
			if err := os.Remove(filepath.Join(temp, f.path)); err != nil {
				return "", fmt.Errorf("tidy up after installing: %w", err)
			}
		}
		return folder, nil
	})
}

// unusedAfter is how long what installers keep for the next build stays without one.
const unusedAfter = 30 * 24 * time.Hour

// lasting is a folder of the cache for what the installer need not make again: one for all
// locked versions, and one for each other version. What no build used for long is removed.
func (p packages) lasting() (string, error) {
	all := filepath.Join(filepath.Dir(filepath.Dir(p.folder)), "work")
	folder := filepath.Join(all, p.manifest.sum("work %q ", p.tools)[:16])
	err := os.MkdirAll(folder, 0o755)
	if err == nil {
		err = os.Chtimes(folder, time.Time{}, time.Now())
	}
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(all)
	for _, entry := range entries {
		if info, problem := entry.Info(); problem == nil && time.Since(info.ModTime()) > unusedAfter {
			err = errors.Join(err, os.RemoveAll(filepath.Join(all, entry.Name())))
		}
	}
	return folder, err
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

// installerSays asks the installer in a folder about itself.
func installerSays(ctx context.Context, dir string, what ...string) (string, error) {
	program := filepath.Join(dir, installer)
	text, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	out, err := once(program+" "+strings.Join(what, " ")+" "+string(text), func() (string, error) { return execute(ctx, "", nil, append([]string{program}, what...)...) })
	if err != nil {
		return "", notInstalled(err)
	}
	return strings.TrimSpace(out), nil
}

func runInstaller(ctx context.Context, dir, work string) error {
	env := []string{"TMPDIR=" + filepath.Dir(dir), "ASSAY_WORK=" + work}
	_, err := execute(ctx, dir, env, filepath.Join(dir, installer), "install")
	var failed *commandError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && noConnection.MatchString(failed.said):
		return fmt.Errorf("install what the worker needs: %w: %w", ErrUnreachable, err)
	case failed != nil && refused.MatchString(failed.said):
		return fmt.Errorf("install what the worker needs: %w", notCompiled(err))
	}
	return fmt.Errorf("install what the worker needs: %w", notInstalled(err))
}

// ErrUnreachable says that an installer had no connection to what it installs from.
var ErrUnreachable = errors.New("the registry of packages cannot be reached")

// noConnection matches what pip, npm, node-gyp and cargo say then.
var noConnection = regexp.MustCompile(`NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|spurious network error|[Cc]ould not (resolve host|connect to server)`)

// refused matches what cargo and node-gyp say where a compiler refuses sources.
var refused = regexp.MustCompile("error: could not compile `|gyp ERR! stack Error: `make` failed with exit code")

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
	return &NotInstalledError{lastLines(failed.said)}
}
