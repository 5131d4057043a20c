//go:build unix

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"assay/kit/postgres"
)

// account is whose processes a cluster is. PostgreSQL refuses to run as root.
type account struct {
	uid, gid int
	other    bool // than this process's own
}

// owner is the account of clusters: this process's own, or postgres where that
// is root's.
func owner() (account, error) {
	if uid := os.Geteuid(); uid != 0 {
		return account{uid: uid, gid: os.Getegid()}, nil
	}
	found, err := user.Lookup(postgres.User)
	if err != nil {
		return account{}, fmt.Errorf("PostgreSQL does not run as root: make a user named %s, or run assay as another user: %w", postgres.User, err)
	}
	uid, err := strconv.Atoi(found.Uid)
	gid, errGid := strconv.Atoi(found.Gid)
	return account{uid, gid, true}, errors.Join(err, errGid)
}

// attributes are those of a process in a group of its own that belongs to the
// account and can reach a folder.
func (a account) attributes(dir string) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if a.other {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
		if !a.reaches(dir) {
			enter(attributes)
		}
	}
	return attributes
}

// reaches reports whether the account may enter all folders above a folder. The
// root user's own cache often lies where nobody else may.
func (a account) reaches(dir string) bool {
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil {
			return false
		}
		wanted := fs.FileMode(0o001)
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == a.uid {
			wanted = 0o100
		} else if ok && int(stat.Gid) == a.gid {
			wanted = 0o010
		}
		if info.Mode()&wanted == 0 {
			return false
		}
		if parent == filepath.Dir(parent) {
			return true
		}
	}
}

// give makes the account the owner of a folder with all that is in it.
func (a account) give(dir string) error {
	if !a.other {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, a.uid, a.gid)
	})
}
