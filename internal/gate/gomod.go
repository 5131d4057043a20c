package gate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/sys/file"

	"golang.org/x/mod/modfile"
)

// Requirement is a module as a go.mod requires it.
type Requirement struct {
	Module  string
	Version string
	Folder  string // that replaces it, as go.mod has it; empty: none does
	Fork    string // the module that replaces it, with its version; empty: none does
	Line    int    // of go.mod
}

// String names what is built.
func (r Requirement) String() string { return cmp.Or(r.Folder, r.Fork, r.Version) }

// Move is a module whose requirement differs between a revision of a repository
// and its files of now.
type Move struct{ Base, Head Requirement }

// Moves compares go.mod of a folder with the one of a revision, and returns those
// of the modules that moved. What only one of them has is no move.
func Moves(ctx context.Context, dir, ref string, modules []string) ([]Move, error) {
	if ref == "" || strings.HasPrefix(ref, "-") {
		return nil, fmt.Errorf("%q is not a git revision", ref)
	}
	now, err := file.Read(filepath.Join(dir, "go.mod"), file.MaxModule)
	if err != nil {
		return nil, err
	}
	before, err := show(ctx, dir, ref)
	if err != nil {
		return nil, err
	}
	base, err := requirements(ref+":go.mod", before)
	if err != nil {
		return nil, err
	}
	head, err := requirements(filepath.Join(dir, "go.mod"), now)
	if err != nil {
		return nil, err
	}
	var all []Move
	for _, module := range slices.Sorted(slices.Values(modules)) {
		was, had := base[module]
		is, has := head[module]
		if !had || !has || was.String() == is.String() && (is.Folder == "" || unchanged(ctx, dir, ref, is.Folder)) {
			continue
		}
		all = append(all, Move{was, is})
	}
	return all, ctx.Err()
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

// show asks git for go.mod of a revision. No shell is between.
func show(ctx context.Context, dir, ref string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "show", ref+":./go.mod")
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w: install git, or name the versions", err)
	case err != nil:
		return nil, fmt.Errorf("git show %s:./go.mod: %s", ref, strings.TrimSpace(complaint.String()))
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
		all[r.Mod.Path] = Requirement{Module: r.Mod.Path, Version: r.Mod.Version, Line: r.Syntax.Start.Line}
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

// Line is where go.mod of a folder requires a module; 0 where it does not, or
// there is none.
func Line(dir, module string) int {
	data, err := file.Read(filepath.Join(dir, "go.mod"), file.MaxModule)
	if err != nil {
		return 0
	}
	all, err := requirements("go.mod", data)
	if err != nil {
		return 0
	}
	return all[module].Line
}
