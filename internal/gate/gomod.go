package gate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"assay/internal/build"
	"assay/internal/lint"
	"assay/internal/sys/file"

	"golang.org/x/mod/modfile"
)

// Requirement is a driver's library as the files of an application pin it.
type Requirement struct {
	Module  string
	Version string
	Folder  string // that replaces it, as go.mod has it; empty: none does
	Fork    string // the module that replaces it, with its version; empty: none does
	File    string // that pins it; empty: none does
	Line    int
}

// String names what is built.
func (r Requirement) String() string { return cmp.Or(r.Folder, r.Fork, r.Version) }

// Move is a driver whose library differs between a revision of a repository and its files of now.
type Move struct {
	Driver     build.Driver
	Base, Head Requirement
}

// Moves compares the lock files of a folder with those of a revision, and returns the drivers whose
// library moved. What only one of them has is no move.
func Moves(ctx context.Context, dir, ref string, drivers []build.Driver) ([]Move, error) {
	if ref == "" || strings.HasPrefix(ref, "-") {
		return nil, fmt.Errorf("%q is not a git revision", ref)
	}
	if _, err := git(ctx, dir, "rev-parse", "--verify", ref+"^{commit}"); err != nil {
		return nil, err
	}
	before, now := filesOf(ctx, dir, ref), filesIn(dir)
	if !slices.ContainsFunc(lint.LockFiles(), func(name string) bool { _, err := now(name); return !errors.Is(err, fs.ErrNotExist) }) {
		return nil, fmt.Errorf("%s has none of the files %s", dir, strings.Join(lint.LockFiles(), ", "))
	}
	var all []Move
	for _, d := range drivers {
		was, err := pinOf(d, before)
		if err != nil {
			return nil, fmt.Errorf("%s:%w", ref, err)
		}
		is, err := pinOf(d, now)
		if err != nil {
			return nil, err
		}
		if was.File == "" || is.File == "" || was.String() == is.String() && (is.Folder == "" || unchanged(ctx, dir, ref, is.Folder)) {
			continue
		}
		all = append(all, Move{d, was, is})
	}
	slices.SortStableFunc(all, func(a, b Move) int { return strings.Compare(a.Head.Module, b.Head.Module) })
	return all, ctx.Err()
}

// files reads a file of an application, by its name.
type files func(name string) ([]byte, error)

func filesIn(dir string) files {
	return remembered(func(name string) ([]byte, error) { return file.Read(filepath.Join(dir, name), maxLock) })
}

// filesOf returns the files of a folder at a revision.
func filesOf(ctx context.Context, dir, ref string) files {
	return remembered(func(name string) ([]byte, error) {
		if listed, err := git(ctx, dir, "ls-tree", ref, "./"+name); err != nil || len(listed) == 0 {
			return nil, cmp.Or(err, error(fs.ErrNotExist))
		}
		return git(ctx, dir, "show", ref+":./"+name)
	})
}

// maxLock bounds what is read of a lock file.
const maxLock = 64 << 20

// remembered reads each file once.
func remembered(read files) files {
	known := map[string]func() ([]byte, error){}
	return func(name string) ([]byte, error) {
		if known[name] == nil {
			known[name] = sync.OnceValues(func() ([]byte, error) { return read(name) })
		}
		return known[name]()
	}
}

// pinOf returns what files pin of a driver's library; without a File, where none does.
func pinOf(d build.Driver, read files) (Requirement, error) {
	if d.Ecosystem != build.Go {
		pin, err := lint.FindPin(string(d.Ecosystem)+":"+d.Package, read)
		return Requirement{Module: d.Package, Version: pin.Version, File: pin.File, Line: pin.Line}, err
	}
	data, err := read("go.mod")
	if errors.Is(err, fs.ErrNotExist) {
		return Requirement{}, nil
	}
	if err != nil {
		return Requirement{}, err
	}
	all, err := requirements("go.mod", data)
	return all[d.Package], err
}

// unchanged reports whether git knows the files of a folder to be those of a
// revision.
func unchanged(ctx context.Context, dir, ref, folder string) bool {
	tracked, err := exec.CommandContext(ctx, "git", "-C", dir, "ls-files", "--", folder).Output()
	if err != nil || len(tracked) == 0 {
		return false
	}
	others, err := exec.CommandContext(ctx, "git", "-C", dir, "ls-files", "--others", "--", folder).Output()
	return err == nil && len(others) == 0 && exec.CommandContext(ctx, "git", "-C", dir, "diff", "--quiet", ref, "--", folder).Run() == nil
}

// git runs git without a shell.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w: install git, or name the versions", err)
	case err != nil:
		return nil, fmt.Errorf("git %s: %s", strings.Join(args, " "), strings.TrimSpace(stderr.String()))
	}
	return out, nil
}

// requirements reads a go.mod, by module.
func requirements(name string, data []byte) (map[string]Requirement, error) {
	mod, err := modfile.Parse(name, data, nil)
	if err != nil {
		return nil, err
	}
	all := map[string]Requirement{}
	for _, r := range mod.Require {
		all[r.Mod.Path] = Requirement{Module: r.Mod.Path, Version: r.Mod.Version, File: "go.mod", Line: r.Syntax.Start.Line}
	}
	for _, r := range mod.Replace {
		one, required := all[r.Old.Path]
		if !required || r.Old.Version != "" && r.Old.Version != one.Version {
			continue
		}
		switch {
		case r.New.Version == "":
			one.Folder = r.New.Path
		case r.New.Path == r.Old.Path:
			one.Version = r.New.Version
		default:
			one.Fork = r.New.String()
		}
		all[r.Old.Path] = one
	}
	return all, nil
}
