package build

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

const (
	// sharedLibrary is the name by which programs load SQLite on Linux.
	sharedLibrary = "libsqlite3.so.0"
	// columnMetadata is in every such library: Debian's bindings for Ruby do
	// not load without the functions that it adds.
	columnMetadata = "-DSQLITE_ENABLE_COLUMN_METADATA"
)

// isScript tells whether a folder has an executable file named worker, and no
// Go files.
func isScript(dir string) (bool, error) {
	goFiles, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(goFiles) > 0 {
		return false, err
	}
	return isExecutable(filepath.Join(dir, "worker")), nil
}

// buildScript puts the worker's files and a SQLite compiled for it into one
// folder of the cache. The program finds the library beside itself.
func (b *Builder) buildScript(ctx context.Context, d Driver, spec Spec, start time.Time) (Worker, error) {
	j, err := b.newCJob(ctx, d, spec)
	if err != nil {
		return Worker{}, err
	}
	j.folder = filepath.Join("workers", d.Name)
	w := Worker{Name: d.Name, Program: filepath.Join(j.program, "worker"), Digest: j.digest, Module: d.Module,
		Modules: []string{j.sqlite.module}, Toolchain: j.version, Options: spec.Options, FixedLayout: "its C code"}
	if intact(j.program) {
		w.Cached = true
	} else {
		b.log(Event{spec.String(), Building, time.Since(start)})
		if err := j.buildLibrary(ctx); err != nil {
			return Worker{}, err
		}
	}
	if d.Installs {
		w.Digest, err = withOutput(j.digest, j.program)
	}
	return w, err
}

// buildLibrary makes the folder elsewhere and moves it to its place when it is
// complete.
func (j *cJob) buildLibrary(ctx context.Context) error {
	return j.files.building(j.program, func(temp string) error { return j.buildLibraryIn(ctx, temp) })
}

func (j *cJob) buildLibraryIn(ctx context.Context, temp string) error {
	own := filepath.Join(temp, j.folder)
	if _, err := j.run(ctx, temp, j.shareSQLite(filepath.Join(own, sharedLibrary))...); err != nil {
		return fmt.Errorf("compile SQLite %s of %s: %w", j.sqlite.version, j.sqlite.module, notCompiled(err))
	}
	if j.driver.Installs {
		if err := runInstaller(ctx, own); err != nil {
			return err
		}
	}
	return install(own, j.program)
}

func (j *cJob) shareSQLite(output string) []string {
	args := append([]string{}, optimization...)
	args = append(args, "-w", "-fPIC", "-shared", "-Wl,-soname,"+sharedLibrary, columnMetadata)
	args = append(args, j.sqlite.flags...)
	args = append(args, j.spec.defines()...)
	return append(args, "-I"+filepath.Dir(j.sqlite.header), j.sqlite.source, "-o", output, mathLibrary, "-ldl", "-lpthread")
}
