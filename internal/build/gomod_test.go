package build

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/semver"
)

const exampleMod = `// a comment
module "assay/workers/x"

go 1.26.0

toolchain go1.26.1

require assay/kit v0.0.0

require (
	example.test/db v1.2.3
	example.test/db/v2 v2.0.0-rc.1 // indirect
)

exclude example.test/db v1.2.2

replace assay/kit => ../../kit
`

func TestParseGoMod(t *testing.T) {
	got, err := parseGoMod([]byte(exampleMod))
	want := goMod{"assay/workers/x", "1.26.0", map[string]string{
		"assay/kit": "v0.0.0", "example.test/db": "v1.2.3", "example.test/db/v2": "v2.0.0-rc.1"}}
	if diff := cmp.Diff(want, got, unexported); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
	for path, want := range map[string]string{
		"example.test/db":        "example.test/db",
		"example.test/db/v2/sql": "example.test/db/v2",
		"example.test/dbx":       "",
		"fmt":                    "",
	} {
		if provider := got.provider(path); provider != want {
			t.Errorf("%s is provided by %q, want %q", path, provider, want)
		}
	}
}

func TestOnlyDriverDropsTheRest(t *testing.T) {
	mod, err := parseGoMod([]byte(exampleMod))
	must(t, err)
	got, err := parseGoMod(mod.onlyDriver([]string{"example.test/db@v1.3.0"}, Checkout{}))
	want := goMod{"assay/workers/x", "1.26.0", map[string]string{"assay/kit": "v0.0.0", "example.test/db": "v1.3.0"}}
	if diff := cmp.Diff(want, got, unexported); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
}

func FuzzParseGoMod(f *testing.F) {
	f.Add([]byte(exampleMod))
	f.Add([]byte("module ("))
	f.Add([]byte("module x\nrequire `y` v1\n)"))
	f.Fuzz(func(t *testing.T, data []byte) {
		mod, err := parseGoMod(data)
		if err == nil && mod.module == "" {
			t.Error("no module and no error")
		}
	})
}

func TestCompareVersions(t *testing.T) {
	ascending := []string{"v0.0.0-20200101000000-abcdef012345", "v0.9.0", "v0.10.0-alpha", "v0.10.0-alpha.1", "v0.10.0-alpha.beta",
		"v0.10.0-beta.2", "v0.10.0-beta.11", "v0.10.0-rc.1", "v0.10.0", "v1.0.9", "v1.0.10+incompatible", "v1.1.0", "v10.0.0"}
	for i, a := range ascending {
		for k, b := range ascending {
			want := 0
			if i < k {
				want = -1
			} else if i > k {
				want = 1
			}
			if got := semver.Compare(a, b); got != want {
				t.Errorf("semver.Compare(%s, %s) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestMoved(t *testing.T) {
	mod := goMod{requires: map[string]string{
		"modernc.org/libc": "v1.5.0", "a.test/lower": "v1.2.0", "a.test/higher": "v1.2.0", "a.test/unused": "v1.0.0"}}
	got := mod.moved(map[string]string{
		"modernc.org/libc": "v1.6.0", "a.test/lower": "v1.1.0", "a.test/higher": "v1.3.0", "a.test/other": "v1.0.0"})
	want := []string{"a.test/lower is v1.1.0, the driver needs at least v1.2.0",
		"modernc.org/libc is v1.6.0, the driver was made with v1.5.0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// unexported has cmp compare fields that are not exported, too.
var unexported = cmp.Exporter(func(reflect.Type) bool { return true })
