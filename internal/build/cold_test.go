package build

import (
	"errors"
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
