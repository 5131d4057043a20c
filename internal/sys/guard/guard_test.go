package guard

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"assay/kit/process"
)

func fault() { panic("planted") }

// A panic of a goroutine reaches the one that waits, with the stack that it had.
func TestCatcher(t *testing.T) {
	ended := make(chan struct{}, 3)
	caught := Catcher{Stop: func() { ended <- struct{}{} }}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { caught.Do(fault) })
	}
	all.Go(func() { caught.Do(func() { <-ended }) }) // it waits for a panic of another
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

// Of several panics the first one is told: the others may follow from it. Each of them
// stops the goroutines that are left.
func TestFirstPanic(t *testing.T) {
	stopped := 0
	caught := Catcher{Stop: func() { stopped++ }}
	for _, value := range []string{"first", "second"} {
		caught.Do(func() { panic(value) })
	}
	got := Error(func() error { caught.Rethrow(); return nil })
	if got == nil || got.Error() != "internal error: first" || stopped != 2 {
		t.Errorf("got %v, and stopped %d times; want the first panic, and 2", got, stopped)
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

// A panic is an error, with the stack of the goroutine that panicked.
func TestError(t *testing.T) {
	plain := errors.New("plain")
	if got := Error(func() error { return plain }); got != plain {
		t.Errorf("got %v, want the function's own error", got)
	}
	for name, c := range map[string]struct {
		run  func() error
		want string // in its stack
	}{
		"here":               {func() error { fault(); return nil }, "guard.fault"},
		"in another module":  {func() error { panic(&process.Panic{Value: "planted", Trace: []byte("the stack there")}) }, "the stack there"},
		"in a runtime check": {func() error { var none *Panic; return none.Value.(error) }, "guard.TestError"},
	} {
		var got *Panic
		if err := Error(c.run); !errors.As(err, &got) || !strings.Contains(string(got.Stack), c.want) {
			t.Errorf("%s: got %v, want an error with the stack of %s", name, err, c.want)
		}
	}
}

// Each makes every call once, and panics as the first call that did.
func TestEach(t *testing.T) {
	got := make([]int, 100)
	Each(len(got), func(i int) { got[i] += i })
	for i, n := range got {
		if n != i {
			t.Errorf("got %d from call %d, want %d", n, i, i)
		}
	}
	defer func() {
		p := Recovered(recover())
		if p == nil || !strings.Contains(p.Error(), "planted") || !strings.Contains(string(p.Stack), "guard.fault") {
			t.Errorf("got %v, want the planted panic, with the function's name in its stack", p)
		}
	}()
	Each(3, func(i int) {
		if i == 1 {
			fault()
		}
	})
}
