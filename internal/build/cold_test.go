package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A cold build compiles everything again, keeps nothing, and says whether the
// driver needs cgo.
func TestCold(t *testing.T) {
	b, _ := builder(t, driverSource(t))
	cold, err := b.Cold(t.Context(), Spec{Name: "db", Version: "v1.1.0"})
	if err != nil || cold.Took <= 0 || cold.Without != "" {
		t.Errorf("got %+v, %v, want a time, and no need of cgo", cold, err)
	}
	checkNothingLeft(t, b)
	if _, built, err := b.Cached(t.Context(), Spec{Name: "db", Version: "v1.1.0"}); built || err != nil {
		t.Errorf("the cache has it: %v, %v; want nothing kept", built, err)
	}
	if cold, err := b.Cold(t.Context(), Spec{Name: "db", Version: "v1.3.0"}); err == nil && !strings.Contains(cold.Without, "package example.test/db is written with cgo") {
		t.Errorf("with cgo: got %+v, want that it is said", cold)
	}
	put(t, b.Source.Dir, map[string]string{"workers/script/worker*": "#!/bin/sh\n"})
	if _, err := b.Cold(t.Context(), Spec{Name: "script"}); !errors.Is(err, ErrNotGo) {
		t.Errorf("a script: got %v, want %v", err, ErrNotGo)
	}
}

// The clock of a cold build starts when everything is fetched.
func TestColdFetchesFirst(t *testing.T) {
	b, _ := builder(t, driverSource(t))
	record := filepath.Join(t.TempDir(), "record")
	fakeGo(t, `echo "$1" >>'`+record+`'; test "$1" = build || exec "$REAL" "$@"`)
	if _, err := b.Cold(t.Context(), Spec{Name: "db"}); err != nil {
		t.Fatal(err)
	}
	if commands, err := os.ReadFile(record); err != nil || !strings.HasPrefix(string(commands), "env\nlist\nbuild\n") {
		t.Errorf("go commands were %q, %v; want list before build", commands, err)
	}
}

// A disk that is full for the second program says nothing of cgo; what does not
// compile without cgo does.
func TestColdWithoutCgo(t *testing.T) {
	b, _ := builder(t, driverSource(t))
	fails := func(words string) {
		fakeGo(t, `test "$1" = build || exec "$REAL" "$@"
test "$CGO_ENABLED" != 0 || { echo '`+words+`' >&2; exit 1; }`)
	}
	path := os.Getenv("PATH")
	fails("write program: no space left on device")
	if cold, err := b.Cold(t.Context(), Spec{Name: "db"}); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("a full disk: got %+v, %v; want an error", cold, err)
	}
	t.Setenv("PATH", path)
	fails("build constraints exclude all Go files in db")
	if cold, err := b.Cold(t.Context(), Spec{Name: "db"}); err != nil || !strings.Contains(cold.Without, "build constraints") {
		t.Errorf("files for cgo only: got %+v, %v; want why", cold, err)
	}
}
