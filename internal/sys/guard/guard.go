// Package guard brings panics to where they can be told: a goroutine's to the one
// that waits for it, and there to an error. Without it a panic in a goroutine ends
// the program before what was started is stopped.
package guard

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Panic is an error of this program itself.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

func (p *Panic) Error() string { return fmt.Sprintf("internal error: %v", p.Value) }

// foreign is the panic of a goroutine of another module, which panicked again in
// the one that waited for it.
type foreign interface {
	error
	Stack() []byte
}

// Recovered makes an error of what recover returned in a deferred function; nil
// where that is nil. It keeps the stack of a goroutine whose panic came by Rethrow,
// or from another module.
func Recovered(value any) *Panic {
	switch known := value.(type) {
	case nil:
		return nil
	case *Panic:
		return known
	case foreign:
		return &Panic{known, known.Stack()}
	}
	return &Panic{value, debug.Stack()}
}

// Error runs a function and returns its error; a panic in it is one, too.
func Error(run func() error) (err error) {
	defer func() {
		if p := Recovered(recover()); p != nil {
			err = p
		}
	}()
	return run()
}

// Catcher keeps the first panic of several goroutines.
type Catcher struct {
	Stop  func() // called after each panic, to end the other goroutines; nil: they go on
	mutex sync.Mutex
	first *Panic
}

// Do runs a function, and keeps its panic.
func (c *Catcher) Do(run func()) {
	defer func() {
		if p := Recovered(recover()); p != nil {
			c.keep(p)
		}
	}()
	run()
}

func (c *Catcher) keep(p *Panic) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.first == nil {
		c.first = p
	}
	if c.Stop != nil {
		c.Stop()
	}
}

// Rethrow panics as the first of the functions did, if any.
func (c *Catcher) Rethrow() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.first != nil {
		panic(c.first)
	}
}

// Each calls a function with each number below n, on all processors at once, and
// returns when all calls have. The first panic of a call is panicked again.
func Each(n int, call func(int)) {
	var caught Catcher
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			caught.Do(func() { call(i) })
			return nil
		})
	}
	_ = group.Wait() // no call returns an error
	caught.Rethrow()
}
