package build

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"
)

// Cold says what building a worker takes where nothing was compiled before. The
// sources of its modules are fetched already.
type Cold struct {
	Took time.Duration // of the compiler and the linker
	// Without says why the worker does not compile for another processor without
	// cgo; empty where it does.
	Without string
}

// ErrNotGo says that a worker is not compiled by the go command.
var ErrNotGo = errors.New("it is not a Go program")

// crossed is the system and the processor that workers are compiled for to see
// whether they can be: any other one than most machines have.
var crossed = [2]string{"linux", "arm64"}

// Cross names it.
func Cross() string { return crossed[0] + "/" + crossed[1] }

// Cold compiles a worker twice with an empty cache of the go command: as it is, and
// for another processor without cgo. Nothing of both is kept.
func (b *Builder) Cold(ctx context.Context, spec Spec) (Cold, error) {
	cold, err := b.cold(ctx, spec)
	if err != nil {
		return Cold{}, b.failed(spec, err)
	}
	return cold, nil
}

func (b *Builder) cold(ctx context.Context, spec Spec) (Cold, error) {
	d, err := b.Source.driver(spec.Name)
	if err != nil {
		return Cold{}, err
	}
	if d.Prebuilt || d.C || d.Script {
		return Cold{}, ErrNotGo
	}
	j, err := b.newJob(ctx, d, spec)
	if err != nil {
		return Cold{}, err
	}
	var cold Cold
	err = j.do(ctx, (*compilation).get, (*compilation).download, func(c *compilation, ctx context.Context) (err error) {
		c.env = append(c.env, "GOCACHE="+filepath.Join(filepath.Dir(c.output), "cold"))
		began := time.Now()
		if err := c.compile(ctx); err != nil {
			return err
		}
		cold.Took = time.Since(began)
		cold.Without, err = c.withoutCgo(ctx)
		return err
	})
	return cold, err
}

// withoutCgo says why the worker does not compile for another processor without
// cgo. Drivers that have cgo do not, whatever the compiler says: some compile to
// a stub.
func (c *compilation) withoutCgo(ctx context.Context) (string, error) {
	with, err := cgoPackages(ctx, c.driver, c.dir, c.env)
	switch {
	case err != nil:
		return "", err
	case len(with) > 0:
		return "package " + strings.Join(with, ", ") + " is written with cgo", nil
	}
	c.env = append(c.env, "GOOS="+crossed[0], "GOARCH="+crossed[1], "CGO_ENABLED=0")
	err = c.compile(ctx)
	switch {
	case err == nil:
		return "", nil
	case ctx.Err() != nil || isEnvironmentError(err): // it says nothing of the sources
		return "", err
	}
	return err.Error(), nil
}
