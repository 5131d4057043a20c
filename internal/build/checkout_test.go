package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkoutOf writes a checkout of the driver of driverSource.
func checkoutOf(t *testing.T, module string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my checkout")
	put(t, dir, map[string]string{
		"go.mod":     "module " + module + "\n\ngo 1.24\n\nrequire modernc.org/libc v1.1.0\n",
		"db.go":      "package db\n\nimport \"modernc.org/libc\"\n\nconst Version = \"mine \" + libc.Version\n",
		"db_test.go": "package db\n",
	})
	return dir
}

func mustCheckout(t *testing.T, dir string) Checkout {
	t.Helper()
	c, err := NewCheckout(t.Context(), dir)
	must(t, err)
	return c
}

// A checkout is built under a version that names its state, and with the modules
// that it requires.
func TestCheckout(t *testing.T) {
	source := driverSource(t)
	b, _ := builder(t, source)
	dir := checkoutOf(t, "example.test/db")
	c := mustCheckout(t, dir)
	b.Checkouts = []Checkout{c}
	w := mustBuild(t, b, Spec{Name: "db", Version: c.Version})
	if got, want := output(t, w), "one mine libc v1.1.0\n"; got != want || !w.Named || w.Version != c.Version {
		t.Errorf("got %q of %+v, want %q of the checkout %s", got, w, want, c.Version)
	}
	put(t, dir, map[string]string{"db_test.go": "package db\n\nconst another = 1\n", ".hidden/x.go": "package x\n"})
	if got := mustCheckout(t, dir); got != c {
		t.Errorf("with another test: got %+v, want %+v", got, c)
	}
	put(t, dir, map[string]string{"more.go": "package db\n"})
	if got := mustCheckout(t, dir); got.Version == c.Version {
		t.Errorf("with another file: got version %s again, want another", got.Version)
	}
	fresh, _ := builder(t, source)
	fresh.Checkouts = b.Checkouts
	_, err := fresh.Build(t.Context(), Spec{Name: "db", Version: c.Version})
	checkError(t, err, "changed since the build began: it was "+c.Version)
	checkNothingLeft(t, fresh)
}

// Nobody has fetched what a checkout requires: where that fails, its sources are
// not what does not compile. What they lack is.
func TestCheckoutWithoutNetwork(t *testing.T) {
	b, _ := builder(t, driverSource(t))
	dir := checkoutOf(t, "example.test/db")
	c := mustCheckout(t, dir)
	b.Checkouts = []Checkout{c}
	proxy := os.Getenv("GOPROXY")
	t.Setenv("GOPROXY", "http://127.0.0.1:1")
	t.Setenv("GOMODCACHE", t.TempDir())
	_, err := b.Build(t.Context(), Spec{Name: "db", Version: c.Version})
	checkError(t, err, "dial tcp", "the module proxy cannot be reached")
	if errors.Is(err, ErrNotCompiled) {
		t.Errorf("without network: got %v, want an error that is not ErrNotCompiled", err)
	}
	t.Setenv("GOPROXY", proxy)
	put(t, dir, map[string]string{"more.go": "package db\n\nvar x = missing\n"})
	c = mustCheckout(t, dir)
	b.Checkouts = []Checkout{c}
	if _, err = b.Build(t.Context(), Spec{Name: "db", Version: c.Version}); !errors.Is(err, ErrNotCompiled) {
		t.Errorf("a mistake in the sources: got %v, want an error that is ErrNotCompiled", err)
	}
}

func TestFolderThatIsNoCheckout(t *testing.T) {
	_, err := NewCheckout(t.Context(), t.TempDir())
	checkError(t, err, "is not a checkout of a Go module")
}

func TestCheckoutVersion(t *testing.T) {
	digest := strings.Repeat("0123456789abcdef", 4)
	for _, c := range []struct{ module, state, want string }{
		{"example.test/db", "", "v0.0.0-checkout.d0123456789ab"},
		{"example.test/db", "v1.61.1", "v1.61.1-checkout.d0123456789ab"},
		{"example.test/db", "v1.61.1-7-gabcdef0-dirty", "v1.61.1-7-gabcdef0-dirty.checkout.d0123456789ab"},
		{"example.test/db", "v2.0.0-3-gabcdef0", "v0.0.0-v2-0-0-3-gabcdef0.checkout.d0123456789ab"}, // a tag of another major version
		{"example.test/db/v2", "v2.0.0-rc.1-3-gabcdef0", "v2.0.0-rc-1-3-gabcdef0.checkout.d0123456789ab"},
		{"example.test/db/v2", "abcdef0", "v2.0.0-abcdef0.checkout.d0123456789ab"},
		{"example.test/db", "0071234", "v0.0.0-g0071234.checkout.d0123456789ab"},
		{"example.test/db", "release/ä", "v0.0.0-release--.checkout.d0123456789ab"},
	} {
		got := checkoutVersion(c.module, c.state, digest)
		if got != c.want {
			t.Errorf("%s %q: got %s, want %s", c.module, c.state, got, c.want)
		}
		if _, err := ParseSpec("x@" + got); err != nil {
			t.Errorf("%s is no version: %v", got, err)
		}
	}
}
