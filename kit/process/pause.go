//go:build unix

package process

import (
	"sync"
	"time"
)

const (
	// tick is how often this process notes that it runs.
	tick = 200 * time.Millisecond
	// shortestPause is for how long it must not have run: less is what a busy machine does.
	shortestPause = time.Second
)

// pauses are the times in which a process did not run: it was stopped, by a signal or with
// its container, or got no processor.
type pauses struct {
	mu    sync.Mutex
	seen  time.Time // when it ran last
	count int
	lost  time.Duration // in all of them
}

// ran notes that the process runs at a time, and returns its pauses so far.
func (p *pauses) ran(now time.Time) (count int, lost time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if gap := now.Sub(p.seen); !p.seen.IsZero() && gap > tick+shortestPause {
		p.count++
		p.lost += gap
	}
	p.seen = now
	return p.count, p.lost
}

var (
	own      pauses
	watching sync.Once
)

// Pauses returns how often this process did not run for over a second since the first call,
// and for how long altogether. Times that were taken over a pause are not those of a worker.
func Pauses() (count int, lost time.Duration) {
	watching.Do(watch)
	return own.ran(time.Now())
}

func watch() {
	go func() {
		for range time.Tick(tick) {
			own.ran(time.Now())
		}
	}()
}
