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
func TestFileSystemThatIsMissing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	known := "nodev\tproc\n\text4\n"
	if got := missingExt4(known); !strings.Contains(got, "mkfs.ext4") || !strings.Contains(got, "apt-get install e2fsprogs") {
		t.Errorf("without its program: got %q, want mkfs.ext4 and e2fsprogs", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, "mkfs.ext4"), []byte("#!/bin/sh\n"), 0o755))
	if got := missingExt4(known); got != "" {
		t.Errorf("with its program: got %q, want that nothing is missing", got)
	}
	if got, want := missingExt4("nodev\tproc\n"), "it needs a kernel with ext4"; got != want {
		t.Errorf("in a kernel without it: got %q, want %q", got, want)
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
	if got := Missing(assay.Kill, assay.Ext4); got != "" {
		t.Errorf("a kill takes no disk: got %q, want nothing", got)
	}
}
