//go:build unix

package runner

import (
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"assay"
	"assay/internal/sys/guard"
)

// timing adds up where the wall time of launches goes.
type timing struct {
	mutex sync.Mutex
	parts assay.Spent
	wall  time.Duration
}

func (t *timing) add(part assay.Stage, took time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.parts == nil {
		t.parts = assay.Spent{}
	}
	t.parts[part] += took
}

// addWindow adds a window and what was done around it.
func (t *timing) addWindow(w measured, again bool) {
	if again {
		t.add(assay.StageAgain, w.took)
		return
	}
	t.add(assay.StageMeasured, time.Duration(w.Nanos))
	t.add(assay.StageTurns, w.took-time.Duration(w.Nanos))
}

// during adds the time of do to a part.
func (t *timing) during(part assay.Stage, do func() error) error {
	began := time.Now()
	err := do()
	t.add(part, time.Since(began))
	return err
}

// shared runs do, in which parts are added at the same time: together they get
// no more than the wall time.
func (t *timing) shared(do func()) {
	before := t.snapshot()
	began := time.Now()
	do()
	wall := time.Since(began)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	added := t.parts.Total() - before.Total()
	if added <= wall {
		return
	}
	scale := wall.Seconds() / added.Seconds()
	for part, took := range t.parts {
		t.parts[part] = before[part] + time.Duration(scale*float64(took-before[part]))
	}
}

func (t *timing) snapshot() assay.Spent {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return maps.Clone(t.parts)
}

// spent is where all of the wall time went.
func (t *timing) spent() assay.Spent {
	parts := t.snapshot().Plus(nil)
	parts[assay.StageOther] += max(0, t.wall-parts.Total())
	return parts
}

// together runs do for the numbers below n, in random order, as many at the
// same time as there are processors. It is for what is not measured.
func (t *timing) together(random *rand.Rand, n int, do func(i int)) {
	order := random.Perm(n)
	t.shared(func() {
		var all sync.WaitGroup
		var caught guard.Catcher
		free := make(chan struct{}, runtime.NumCPU())
		for _, i := range order {
			free <- struct{}{}
			all.Go(func() {
				defer func() { <-free }()
				caught.Do(func() { do(i) })
			})
		}
		all.Wait()
		caught.Rethrow()
	})
}

// only counts all that do does as one part.
func (t *timing) only(part assay.Stage, do func() error) error {
	before := t.snapshot()
	began := time.Now()
	err := do()
	took := time.Since(began)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.parts = before.Plus(assay.Spent{part: took})
	t.wall += took
	return err
}

// lineWriter lets several workers' talk be written at the same time, a line
// each.
type lineWriter struct {
	mutex sync.Mutex
	to    io.Writer
}

func (w *lineWriter) Write(line []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.to.Write(line)
}
