package build

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"assay/internal/sys/file"

	"golang.org/x/mod/module"
)

// Checkout is a driver's sources in a folder, which a build takes instead of a
// published version.
type Checkout struct {
	Module string // as its go.mod names it
	Dir    string // absolute
	// Version names this state of the folder: what git says of it, and the digest
	// of all files that can be compiled.
	Version string
}

// NewCheckout reads which module lies in a folder, and in which state.
func NewCheckout(ctx context.Context, dir string) (Checkout, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Checkout{}, err
	}
	data, err := file.Read(filepath.Join(dir, "go.mod"), file.MaxModule)
	if err != nil {
		return Checkout{}, fmt.Errorf("%s is not a checkout of a Go module: %w", dir, err)
	}
	mod, err := parseGoMod(data)
	if err != nil {
		return Checkout{}, fmt.Errorf("%s: %w", filepath.Join(dir, "go.mod"), err)
	}
	if err := file.CheckGo(dir); err != nil {
		return Checkout{}, fmt.Errorf("read the checkout %s: %w", dir, err)
	}
	digest, err := digestFolder(dir)
	if err != nil {
		return Checkout{}, fmt.Errorf("read the checkout %s: %w", dir, err)
	}
	return Checkout{mod.module, dir, checkoutVersion(mod.module, describe(ctx, dir), digest)}, nil
}

// digestFolder digests what can be compiled: all but tests and hidden files.
// The files are not kept, since a driver can have hundreds of megabytes of them.
func digestFolder(dir string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(entry.Name(), ".") && name != dir:
			return skip(entry)
		case entry.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return digestFile(h, filepath.ToSlash(relative), name)
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// digestFile adds a file to a hash, with its name and size. Only regular files
// count, which a symbolic link may lead to.
func digestFile(h hash.Hash, relative, name string) error {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil // a link to nowhere, or a folder behind a link: Go does not compile it either
	}
	if err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintf(h, "%q %d ", relative, info.Size())
	_, err = io.Copy(h, f)
	return err
}

// describe returns what git says of a folder; empty where it is none of git's.
func describe(ctx context.Context, dir string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// described matches what git says where a release is among the ancestors.
var described = regexp.MustCompile(`^(v[0-9]+\.[0-9]+\.[0-9]+)(?:-(.+))?$`)

// checkoutVersion makes a version that Go accepts for the module:
// v1.61.1-7-gabcdef0-dirty.checkout.d0123456789ab.
func checkoutVersion(path, state, digest string) string {
	_, major, _ := module.SplitPathVersion(path)
	base, rest := cmp.Or(module.PathMajorPrefix(major), "v0")+".0.0", state
	if m := described.FindStringSubmatch(state); m != nil && module.CheckPathMajor(m[1], major) == nil {
		base, rest = m[1], m[2]
	}
	rest = strings.Map(func(r rune) rune {
		if strings.ContainsRune("-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", r) {
			return r
		}
		return '-'
	}, rest)
	if rest != "" && strings.Trim(rest, "0123456789") == "" {
		rest = "g" + rest // a number with a leading zero is no version
	}
	if rest = rest[:min(len(rest), 32)]; rest != "" {
		rest += "."
	}
	return base + "-" + rest + "checkout.d" + digest[:12]
}

// checkout returns the checkout that a spec's version names.
func (b *Builder) checkout(path, version string) (Checkout, bool) {
	for _, c := range b.Checkouts {
		if c.Module == path && c.Version == version {
			return c, true
		}
	}
	return Checkout{}, false
}

// unchanged refuses a program whose sources changed while it was compiled: it
// would be measured under the wrong name.
func (c *compilation) unchanged(ctx context.Context) error {
	if c.checkout.Dir == "" {
		return nil
	}
	now, err := NewCheckout(ctx, c.checkout.Dir)
	if err == nil && now.Version != c.checkout.Version {
		err = fmt.Errorf("%s changed since the build began: it was %s and is %s; start again", c.checkout.Dir, c.checkout.Version, now.Version)
	}
	return err
}
