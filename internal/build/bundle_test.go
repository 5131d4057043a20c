package build

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unpacked is the folder of a bundle that was written and unpacked, of a worker whose
// programs are a file and a layout of it, and of one that is a folder.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"source/kit/go.mod": "module assay/kit\n", "source/workers/c/go.mod": "module assay/workers/c\n\ngo 1.24\n", "source/workers/c/main.go": "package main\n",
		"source/workers/script/worker": "#!/bin/sh\n", "cache/c-1": "program", "cache/c-1-layout1": "layout", "cache/script-1/worker": "script", "cache/script-1/lib/a": "library", "app.db": "rows"}
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o755))
	}
	must(t, os.Symlink("a", filepath.Join(dir, "cache/script-1/lib/b")))
	at := func(name string) string { return filepath.Join(dir, name) }
	var archive bytes.Buffer
	err := Source{at("source")}.WriteBundle(&archive, "shop", BundleRequest{Assay: at("cache/c-1"), Plan: "/home/me/shop.yaml", PlanText: []byte("name: shop\n"), Drivers: []string{"c", "script"},
		Workers: map[string]Worker{"c": {Name: "c", Program: at("cache/c-1"), Layouts: []string{at("cache/c-1-layout1")}, Digest: "d"}, "script": {Name: "script", Program: at("cache/script-1/worker")}},
		Data:    []BundleData{{[]string{"/home/me/app/app.db", "app/app.db"}, at("app.db")}}})
	must(t, err)
	unpack := exec.Command("tar", "-xz", "-C", dir)
	unpack.Stdin = &archive
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return at("shop")
}

// What was packed is found again, wherever it was unpacked.
func TestBundle(t *testing.T) {
	dir := unpacked(t)
	b, err := readBundle(dir)
	if err != nil || b == nil {
		t.Fatalf("got %v, %v; want a bundle", b, err)
	}
	if diff := cmp.Diff([]string{"c", "script"}, b.Drivers); diff != "" || b.PlanFile() != filepath.Join(dir, "plan", "shop.yaml") {
		t.Errorf("plan %s, drivers (-want +got)\n%s", b.PlanFile(), diff)
	}
	w, found, err := b.worker(Spec{Name: "c"})
	want := Worker{Name: "c", Program: filepath.Join(dir, "built/c-1"), Layouts: []string{filepath.Join(dir, "built/c-1-layout1")}, Digest: "d", Cached: true}
	if diff := cmp.Diff(want, w); err != nil || !found || diff != "" {
		t.Errorf("found %v, %v, worker (-want +got)\n%s", found, err, diff)
	}
	w, found, err = b.worker(Spec{Name: "script"})
	if text, _ := os.ReadFile(filepath.Join(filepath.Dir(w.Program), "lib", "b")); err != nil || !found || string(text) != "library" {
		t.Errorf("a worker in a folder: found %v, %v, and beside it %q; want library", found, err, text)
	}
	if _, found, err := b.worker(Spec{Name: "c", Version: "v1.0.0"}); found || err != nil {
		t.Errorf("another version: found %v, %v", found, err)
	}
	for _, named := range []string{"/home/me/app/app.db", filepath.Join(dir, "plan", "app", "app.db")} {
		if got, want := b.DataFile(named), filepath.Join(dir, "data", "1"); got != want {
			t.Errorf("%s: got %s, want %s", named, got, want)
		}
	}
	for _, named := range []string{"", "/elsewhere/app.db"} {
		if got := b.DataFile(named); got != named {
			t.Errorf("%q: got %s", named, got)
		}
	}
	if source, err := findSource("", filepath.Join(dir, "assay"), nil, t.TempDir()); err != nil || source.Dir != dir {
		t.Errorf("sources: got %s, %v; want %s", source.Dir, err, dir)
	}
}

// What is not as it was packed is refused; a folder without a bundle has none.
func TestBundleRefuses(t *testing.T) {
	if b, err := readBundle(t.TempDir()); b != nil || err != nil {
		t.Errorf("no bundle: got %v, %v", b, err)
	}
	dir := unpacked(t)
	b, err := readBundle(dir)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "built/c-1-layout1"), []byte("other"), 0o755))
	if _, found, err := b.worker(Spec{Name: "c"}); found || err == nil || !strings.Contains(err.Error(), "is not what the bundle was made with") {
		t.Errorf("a changed program: found %v, %v", found, err)
	}
	path := filepath.Join(dir, bundleFile)
	text, err := os.ReadFile(path)
	must(t, err)
	for name, text := range map[string]string{"made for plan9/mips": strings.Replace(string(text), system(), "plan9/mips", 1), "invalid character": "no JSON"} {
		must(t, os.WriteFile(path, []byte(text), fs.FileMode(0o644)))
		if b, err := readBundle(dir); b != nil || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, %v", name, b, err)
		}
	}
}
