package load

import (
	"errors"
	"reflect"
	"testing"
)

// The first errors of a load are told, and its server is lost after so many failures in a row.
func TestFirstErrors(t *testing.T) {
	var got Result
	for _, name := range []string{"first", "second"} {
		got.add(&tally{failed: 2, err: errors.New(name), wrong: 3, wrongText: errors.New("wrong, " + name)})
	}
	if want := (Result{Failed: 4, Error: "first", Wrong: 6, WrongText: "wrong, first"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for failed, want := range map[int64]bool{maxFailed - 1: false, maxFailed: true} {
		g := &generator{}
		g.failing.Store(failed)
		if got := g.lost(); got != want {
			t.Errorf("after %d failed requests: got lost %t, want %t", failed, got, want)
		}
	}
}
