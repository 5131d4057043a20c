package build

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// put writes files, whose names have slashes, below a folder. Names that end
// in * become executable.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for path, content := range files {
		plain, executable := strings.CutSuffix(path, "*")
		f := tree{{plain, executable, []byte(content)}}
		must(t, f.write(dir))
	}
}

const (
	plainMod  = "module assay/workers/plain\n\ngo 1.26.0\n\nrequire assay/kit v0.0.0\n\nreplace assay/kit => ../../kit\n"
	plainMain = `// Command plain prints what kit says. It has no driver.
package main

import "assay/kit"

func main() { println(kit.Name) }
`
)

// fakeSource has a worker without a driver and a prebuilt one.
func fakeSource(t *testing.T) Source {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"kit/go.mod":               "module assay/kit\n\ngo 1.26.0\n",
		"kit/kit.go":               "package kit\n\nconst Name = \"one\"\n",
		"workers/plain/go.mod":     plainMod,
		"workers/plain/main.go":    plainMain,
		"workers/script/worker*":   "#!/bin/sh\nexit 0\n",
		"workers/script/README.md": "\n# A worker in shell\n\nMore text.\n",
		"workers/script/lib/a.sh":  "true\n",
	})
	return Source{dir}
}

func TestDrivers(t *testing.T) {
	s := fakeSource(t)
	put(t, s.Dir, map[string]string{
		"workers/README.md":        "not a worker",
		"workers/notes/text":       "not a worker",
		"workers/.hidden/go.mod":   "module hidden",
		"workers/driven/go.mod":    "module d\nrequire (\n\tassay/kit v0.0.0\n\texample.test/db/v2 v2.3.4 // indirect\n\texample.test/db v1.0.0\n)\n",
		"workers/driven/main.go":   "package main\n\nimport _ \"example.test/db/v2/sql\"\n",
		"workers/driven/README.md": "The db driver.\n",
	})
	got, err := s.Drivers()
	must(t, err)
	want := []Driver{
		{Name: "driven", Module: "example.test/db/v2", Version: "v2.3.4", Ecosystem: Go, Package: "example.test/db/v2", Pinned: "v2.3.4",
			About: "The db driver."},
		{Name: "plain", About: "Command plain prints what kit says."},
		{Name: "script", About: "A worker in shell", Prebuilt: true},
	}
	for i := range want {
		want[i].Dir = filepath.Join(s.Dir, "workers", want[i].Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDriversReportsBrokenOnes(t *testing.T) {
	s := fakeSource(t)
	put(t, s.Dir, map[string]string{
		"workers/empty/go.mod": "// nothing\n",
		"workers/two/go.mod":   "module two\nrequire a.test/a v1.0.0\nrequire b.test/b v1.0.0\n",
		"workers/two/main.go":  "package main\n\nimport (\n\t_ \"a.test/a\"\n\t_ \"b.test/b/c\"\n)\n",
	})
	drivers, err := s.Drivers()
	if len(drivers) != 2 {
		t.Errorf("%d drivers, want the 2 good ones", len(drivers))
	}
	want := "workers/empty/go.mod: no module line\n" +
		"workers/two: imports a.test/a and b.test/b: a worker imports one driver only"
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
}

func TestPackIsDeterministicAndUnpacksToTheSame(t *testing.T) {
	s := fakeSource(t)
	put(t, s.Dir, map[string]string{
		"kit/kit_test.go":             "package kit\n",
		"kit/testdata/big":            "not needed",
		"workers/plain/plain*":        "a compiled program",
		"workers/plain/.git/config":   "hidden",
		"workers/plain/part.h":        "int part;\n",
		"workers/script/.cache/thing": "hidden",
	})
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		must(t, Pack(w, s))
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two archives of the same sources differ")
	}
	cache := t.TempDir()
	for range 2 { // the second finds it there
		unpacked, err := findSource("", filepath.Join(cache, "assay"), first.Bytes(), cache)
		must(t, err)
		checkUnpacked(t, unpacked)
	}
}

func checkUnpacked(t *testing.T, s Source) {
	t.Helper()
	files, err := readTree(s.Dir, ".", anySource)
	must(t, err)
	var got []string
	for _, f := range files {
		name := f.path
		if f.executable {
			name += "*"
		}
		got = append(got, name)
	}
	want := []string{"kit/go.mod", "kit/kit.go", "workers/plain/go.mod", "workers/plain/main.go", "workers/plain/part.h",
		"workers/script/README.md", "workers/script/lib/a.sh", "workers/script/worker*"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unpacked (-want +got)\n%s", diff)
	}
	if string(files[3].data) != plainMain {
		t.Errorf("main.go has %q", files[3].data)
	}
}

func TestFindSourceOrder(t *testing.T) {
	named, beside, cache, empty := fakeSource(t).Dir, fakeSource(t).Dir, t.TempDir(), t.TempDir()
	var archive bytes.Buffer
	must(t, Pack(&archive, fakeSource(t)))
	for _, c := range []struct {
		name, variable, executable string
		archive                    []byte
		want                       string // the folder, or the start of it
	}{
		{"the variable is first", named, beside + "/assay", archive.Bytes(), named},
		{"beside the executable", "", beside + "/assay", archive.Bytes(), beside},
		{"the parent of bin", "", beside + "/bin/assay", archive.Bytes(), beside},
		{"not the parent of another folder", "", beside + "/sub/assay", archive.Bytes(), cache + "/source/"},
		{"the archive", "", empty + "/assay", archive.Bytes(), cache + "/source/"},
	} {
		got, err := findSource(c.variable, c.executable, c.archive, cache)
		if err != nil || !strings.HasPrefix(got.Dir, c.want) || !holdsSource(got.Dir) {
			t.Errorf("%s: got %q and error %v, want %q", c.name, got.Dir, err, c.want)
		}
	}
}

func TestFindSourceSaysWhereItLooked(t *testing.T) {
	empty := t.TempDir()
	_, err := findSource("", empty+"/bin/assay", nil, empty)
	want := "no worker sources: ASSAY_SOURCE is not set, " + empty + "/bin and " + empty + " has no kit/ and workers/, " +
		"and no archive is embedded; set ASSAY_SOURCE to a checkout of assay, or make the program with: make build"
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
	_, err = findSource(empty, "/assay", nil, empty)
	want = "ASSAY_SOURCE=" + empty + " has no kit/ and workers/: set it to a checkout of assay, or unset it"
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
}

func TestFindSourceUsesTheVariable(t *testing.T) {
	s := fakeSource(t)
	t.Setenv("ASSAY_SOURCE", s.Dir)
	got, err := FindSource(t.TempDir())
	if err != nil || got != s {
		t.Errorf("got %v, %v, want %v", got, err, s)
	}
}

func TestUnpackRefusesPathsOutside(t *testing.T) {
	var archive bytes.Buffer
	must(t, (tree{{"../out", false, nil}}).zip(&archive))
	cache := t.TempDir()
	for _, data := range [][]byte{archive.Bytes(), []byte("no zip")} {
		if got, err := unpack(data, cache); err == nil {
			t.Errorf("got %v, want an error", got)
		}
	}
	if entries, _ := os.ReadDir(cache); len(entries) != 0 {
		t.Errorf("refused archives left %v", entries)
	}
}
