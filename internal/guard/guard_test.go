package guard

import (
	"strings"
	"sync"
	"testing"
)

func fault() { panic("planted") }

// A panic of a goroutine reaches the one that waits, with the stack that it had.
func TestCatcher(t *testing.T) {
	var caught Catcher
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { caught.Do(fault) })
	}
	all.Go(func() { caught.Do(func() {}) })
	all.Wait()
	var got *Panic
	func() {
		defer func() { got = Recovered(recover()) }()
		caught.Rethrow()
	}()
	if got == nil || got.Error() != "internal error: planted" || !strings.Contains(string(got.Stack), "guard.fault") {
		t.Errorf("got %v, want the planted panic, with the function's name in its stack", got)
	}
}

func TestNoPanic(t *testing.T) {
	var caught Catcher
	caught.Do(func() {})
	caught.Rethrow()
	if got := Recovered(nil); got != nil {
		t.Errorf("got %v, want nothing", got)
	}
}
