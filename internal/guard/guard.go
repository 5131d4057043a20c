// Package guard brings panics to where they can be told: a goroutine's to the one
// that waits for it, and there to an error. Without it a panic in a goroutine ends
// the program before what was started is stopped.
package guard

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Panic is an error of this program itself.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

func (p *Panic) Error() string { return fmt.Sprintf("internal error: %v", p.Value) }

// Recovered makes an error of what recover returned in a deferred function; nil
// where that is nil. It keeps the stack of a goroutine whose panic came by Rethrow.
func Recovered(value any) *Panic {
	if value == nil {
		return nil
	}
	if known, ok := value.(*Panic); ok {
		return known
	}
	return &Panic{value, debug.Stack()}
}

// Catcher keeps the first panic of several goroutines.
type Catcher struct {
	mutex sync.Mutex
	first *Panic
}

// Do runs a function, and keeps its panic.
func (c *Catcher) Do(run func()) {
	defer func() {
		if p := Recovered(recover()); p != nil {
			c.mutex.Lock()
			defer c.mutex.Unlock()
			if c.first == nil {
				c.first = p
			}
		}
	}()
	run()
}

// Rethrow panics as the first of the functions did, if any.
func (c *Catcher) Rethrow() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.first != nil {
		panic(c.first)
	}
}
