//go:build linux

package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay"
)

// A file system is there where its program is installed and the kernel knows it.
// What is missing is said, with what to install.
func TestFileSystemsThatAreMissing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for fs, install := range map[assay.FileSystem]string{assay.Ext4: "apt-get install e2fsprogs", assay.XFS: "apt-get install xfsprogs", assay.Btrfs: "apt-get install btrfs-progs"} {
		program := "mkfs." + string(fs)
		if got := missingFileSystem(fs, "nodev\tproc\n\t"+string(fs)+"\n"); !strings.Contains(got, program) || !strings.Contains(got, install) {
			t.Errorf("%s without its program: got %q, want %s and %s", fs, got, program, install)
		}
		must(t, os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\n"), 0o755))
		if got := missingFileSystem(fs, "nodev\tproc\n\t"+string(fs)+"\n"); got != "" {
			t.Errorf("%s with its program: got %q, want that nothing is missing", fs, got)
		}
		if got, want := missingFileSystem(fs, "nodev\tproc\n"), "it needs a kernel with "+string(fs); got != want {
			t.Errorf("%s in a kernel without it: got %q, want %q", fs, got, want)
		}
	}
}

// An ordinary user without a mount namespace is told to install fusermount3.
func TestMountThatIsMissing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if got := missingMount(false, false); !strings.Contains(got, "apt-get install fuse3") {
		t.Errorf("without a namespace and fusermount3: got %q, want what to install", got)
	}
	if got := missingMount(true, false); got != "" {
		t.Errorf("with a namespace: got %q, want nothing", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, "fusermount3"), []byte("#!/bin/sh\n"), 0o755))
	if got := missingMount(false, false); got != "" {
		t.Errorf("with fusermount3: got %q, want nothing", got)
	}
	if got := missingMount(false, true); !strings.Contains(got, "--privileged") {
		t.Errorf("root of a container: got %q, want --privileged", got)
	}
	if got := missingTmpfs(false); !strings.Contains(got, "--privileged") {
		t.Errorf("a full disk without mounts: got %q, want --privileged", got)
	}
	if got := Missing(assay.Kill, assay.XFS); got != "" {
		t.Errorf("a kill takes no disk: got %q, want nothing", got)
	}
}
