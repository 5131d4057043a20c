//go:build unix

package process

import (
	"fmt"
	"runtime/debug"
)

// Panic is the panic of one of this package's goroutines: the goroutine that waits
// for it panics with it again, so that its caller can stop what it started.
type Panic struct {
	Value any
	Trace []byte // of the goroutine that panicked first
}

func (p *Panic) Error() string { return fmt.Sprint(p.Value) }

// Stack is that of the goroutine that panicked first.
func (p *Panic) Stack() []byte { return p.Trace }

// caught runs a function and returns its panic; nil where there was none.
func caught(run func()) (p *Panic) {
	defer func() {
		if value := recover(); value != nil {
			p = &Panic{value, debug.Stack()}
		}
	}()
	run()
	return nil
}
