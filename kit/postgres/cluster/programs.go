//go:build unix

// Package cluster starts private PostgreSQL servers: a Unix socket only, no
// password, a data folder of their own, and an end that is certain. A server is
// ended with the process that started it, however that ends, on Linux; elsewhere
// it ends by itself within a minute after its data folder was removed.
package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"assay/kit/postgres"
	"assay/kit/process"
)

// Programs are those of an installed PostgreSQL.
type Programs struct {
	Version string // as the server's program says: 15.18
	dir     string
}

// ErrMissing says that PostgreSQL is not installed, and how to get it.
var ErrMissing = errors.New("the programs of PostgreSQL (initdb, postgres, psql) are neither in PATH nor in /usr/lib/postgresql/*/bin: " +
	"install them with apt-get install postgresql (Debian, Ubuntu) or brew install postgresql (macOS)")

// elsewhere is where Debian keeps what it does not put into PATH.
var elsewhere = "/usr/lib/postgresql/*/bin"

var versionPattern = regexp.MustCompile(`\d+(?:\.\d+)*\S*`)

// Find finds the programs: those in PATH, or else Debian's newest. The error
// wraps ErrMissing where there are none.
func Find(ctx context.Context) (Programs, error) {
	var folders []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // all are beside one another there
			folders = append(folders, filepath.Dir(path))
		}
	}
	installed, _ := filepath.Glob(elsewhere) // the pattern is right
	slices.SortFunc(installed, func(a, b string) int { return major(b) - major(a) })
	for _, dir := range append(folders, installed...) {
		p := Programs{dir: dir}
		if !p.complete() {
			continue
		}
		out, err := exec.CommandContext(ctx, p.path("postgres"), "--version").Output()
		if err != nil {
			return Programs{}, fmt.Errorf("ask %s for its version: %w", p.path("postgres"), err)
		}
		p.Version = versionPattern.FindString(string(out))
		return p, nil
	}
	return Programs{}, ErrMissing
}

// major is the version in /usr/lib/postgresql/VERSION/bin.
func major(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	return n
}

func (p Programs) path(name string) string { return filepath.Join(p.dir, name) }

func (p Programs) complete() bool {
	for _, name := range []string{"initdb", "postgres", "psql"} {
		if info, err := os.Stat(p.path(name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// Check has pg_amcheck look at all tables and indexes of the server whose socket lies
// in a folder. Where that program, or the extension that it uses, is not installed,
// nothing is checked.
func (p Programs) Check(ctx context.Context, socket string) error {
	program := p.path("pg_amcheck")
	if _, err := os.Stat(program); err != nil {
		return nil
	}
	command := exec.CommandContext(ctx, program, "-h", socket, "-p", strconv.Itoa(postgres.Port), "-U", postgres.User,
		"-d", postgres.Database, "--install-missing", "--heapallindexed")
	command.Env, command.WaitDelay = process.WithoutPostgres(os.Environ()), quitPatience
	out, err := command.CombinedOutput()
	missing := bytes.Contains(out, []byte(`extension "amcheck" is not available`)) ||
		bytes.Contains(out, []byte("could not open extension control file")) // PostgreSQL 14
	if err != nil && !missing {
		return fmt.Errorf("pg_amcheck: %w: %s", err, tail(out))
	}
	return nil
}
