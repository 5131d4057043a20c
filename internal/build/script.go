package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

const (
	// sharedLibrary is the name by which programs load SQLite on Linux.
	sharedLibrary = "libsqlite3.so.0"
	// columnMetadata is in every such library: Debian's bindings for Ruby do
	// not load without the functions that it adds.
	columnMetadata = "-DSQLITE_ENABLE_COLUMN_METADATA"
)

// buildLibrary makes a folder with the worker's files and a SQLite compiled for it, which the
// program finds beside itself, and moves it to its place when it is complete.
func (j *cJob) buildLibrary(ctx context.Context, temp string) error {
	own := filepath.Join(temp, j.folder)
	if err := j.libraryBeside(ctx, own); err != nil {
		return err
	}
	return j.builder.finish(ctx, j.driver, j.driver.asked(j.spec.Version), j.packages, own, j.program)
}

// libraryBeside puts SQLite beside a worker's files. It is compiled once for all
// workers that load the same one, however their files change.
func (j *cJob) libraryBeside(ctx context.Context, own string) error {
	sum := tree{}.sum("%s %s %s %q %q", j.compiled(), sharedLibrary, columnMetadata, j.spec.defines(), j.compiler[0])
	cache := filepath.Dir(filepath.Dir(j.program))
	return tree{}.copied(own, filepath.Join(cache, "libraries", sum[:16]), func(temp string) (string, error) {
		made := filepath.Join(temp, "made")
		if err := os.Mkdir(made, 0o755); err != nil {
			return "", err
		}
		if _, err := j.run(ctx, temp, j.shareSQLite(filepath.Join(made, sharedLibrary))...); err != nil {
			return "", fmt.Errorf("compile SQLite %s of %s: %w", j.sqlite.version, j.sqlite.module, notCompiled(err))
		}
		return made, nil
	})
}

func (j *cJob) shareSQLite(output string) []string {
	return slices.Concat(optimization, []string{"-w", "-fPIC", "-shared", "-Wl,-soname," + sharedLibrary, columnMetadata}, j.sqlite.flags, j.spec.defines(),
		[]string{"-I" + filepath.Dir(j.sqlite.header), j.sqlite.source, "-o", output, mathLibrary, "-ldl", "-lpthread"})
}
