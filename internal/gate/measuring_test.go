package gate

import (
	"context"
	"errors"
	"slices"
	"testing"

	"assay/internal/build"
	"assay/internal/plan"
)

// What was measured before an error is kept, and what was not says so.
func TestUpgradesBeforeAnError(t *testing.T) {
	m := &Measuring{request: Request{Plan: &plan.Plan{Name: "quick"}}, pairs: []pair{{driver: "fork", notMeasured: "it is a fork"}, {driver: "a"}, {driver: "b"}, {driver: "c"}, {driver: "store", notMeasured: "it is a store"}}}
	failure := errors.New("no space left on device")
	all, err := m.each(t.Context(), func(_ context.Context, p pair, u *Upgrade) error {
		if p.driver == "b" {
			return failure
		}
		u.First = &Measurement{}
		return nil
	})
	if !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
	var got []string
	for _, u := range all {
		got = append(got, u.Driver+": "+u.NotMeasured)
	}
	want := []string{"fork: it is a fork", "a: ", "b: no space left on device", "c: gate ended before it", "store: it is a store"}
	if !slices.Equal(got, want) || all[1].First == nil {
		t.Errorf("got %q, want %q and figures of a", got, want)
	}
	if !(&Report{Upgrades: all}).Measured() || (&Report{Upgrades: all[2:]}).Measured() {
		t.Error("Measured: want true with a and false without")
	}
}

// What would measure a key-value store can be pasted.
func TestHindranceOfStore(t *testing.T) {
	for dir, want := range map[string]string{
		".":   "plan quick has no kv operations: assay gate kv --base-ref origin/main --driver bbolt --dir .",
		"app": "plan quick has no kv operations: assay gate kv --base-ref origin/main --driver bbolt --dir app",
	} {
		m := &Measuring{request: Request{Plan: &plan.Plan{Name: "quick"}, Revision: "origin/main", Dir: dir}}
		if got := m.hindrance(Move{Driver: build.Driver{Name: "bbolt", Store: true}}); got != want {
			t.Errorf("%s: got %q, want %q", dir, got, want)
		}
	}
}
