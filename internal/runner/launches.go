//go:build unix

package runner

import (
	"cmp"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"assay"
	"assay/internal/stat"
	"assay/internal/sys/guard"
)

type launches struct {
	last      int  // the highest number that was given to one
	noisy     bool // the one that goes on was disturbed from outside
	finished  int
	disturbed int           // of the finished: they do not count
	cost      time.Duration // mean wall time of one with all members; zero while unknown
	// Of the one that goes on: the trials that it has, and the pauses of this process
	// before it.
	has    map[string]bool
	pauses int
}

func (l *launches) begin() int {
	l.last, l.noisy, l.has = l.last+1, false, map[string]bool{}
	return l.last
}

// left are the members of the launch that goes on, with the jobs of which it has no trial
// yet.
func (l *launches) left(members []*member) (left []*member) {
	for _, m := range members {
		part := *m
		part.jobs = slices.DeleteFunc(slices.Clone(m.jobs), func(j *job) bool { return l.has[figuresKey(j.Cell, m.twin)] })
		if len(part.jobs) > 0 {
			left = append(left, &part)
		}
	}
	return left
}

// end adds the launch that went on, which would have taken so long with all members.
func (l *launches) end(took time.Duration) { l.add(took, l.noisy) }

func (l *launches) add(took time.Duration, disturbed bool) {
	l.cost = (l.cost*time.Duration(l.finished) + took) / time.Duration(l.finished+1)
	l.finished++
	if disturbed {
		l.disturbed++
	}
}

// counted returns how many were finished and not disturbed.
func (l launches) counted() int { return l.finished - l.disturbed }

// record holds what the trials of a group showed, by cell.
type record struct {
	// counted are the ok and undisturbed trials, by launch, without what no schedule
	// needs; twins have keys of their own.
	counted map[string]map[int]*assay.Trial
	samples map[string]map[int][]float64 // the windows of the same trials, in nanoseconds per operation
	tried   map[string]int               // trials of cells, whatever became of them
	spent   map[string]spent             // on the same trials, and on those of twins
	// keepsDisturbed says that disturbed trials count too.
	keepsDisturbed bool
	unlike         map[string]bool // cells that have a trial with figures that are never compared
	// promises are what cells promise about the data that they change.
	promises map[string]assay.Durability
}

type spent struct {
	trials int
	took   time.Duration
}

func newRecord() record {
	return record{counted: map[string]map[int]*assay.Trial{}, samples: map[string]map[int][]float64{},
		tried: map[string]int{}, spent: map[string]spent{}, unlike: map[string]bool{}, promises: map[string]assay.Durability{}}
}

func (r *record) note(t *assay.Trial) {
	cell, key := t.Cell.Key(), figuresKey(t.Cell, t.Twin)
	if t.Outcome != assay.NotRun {
		s := r.spent[key]
		r.spent[key] = spent{s.trials + 1, s.took + t.Took}
	}
	if !t.Twin {
		r.tried[cell]++
		r.unlike[cell] = r.unlike[cell] || t.Outcome != assay.OK && t.Outcome != assay.NotRun
	}
	if t.Disqualified && !r.keepsDisturbed || t.Outcome != assay.OK {
		return
	}
	if r.counted[key] == nil {
		r.counted[key] = map[int]*assay.Trial{}
	}
	r.promises[cell] = t.Durability
	r.counted[key][t.Launch] = &assay.Trial{Cell: t.Cell, Mode: t.Mode, Outcome: t.Outcome, Durability: t.Durability, Figures: t.Figures}
	if t.Twin {
		return
	}
	var windows []float64
	for _, s := range t.Samples {
		windows = append(windows, float64(s.Nanos)/float64(s.Operations))
	}
	if r.samples[cell] == nil {
		r.samples[cell] = map[int][]float64{}
	}
	r.samples[cell][t.Launch] = windows
}

// unequal reports whether two cells, both of which were measured, are of different classes
// of durability.
func (r *record) unequal(a, b assay.Cell) bool {
	ours, one := r.promises[a.Key()]
	theirs, both := r.promises[b.Key()]
	return one && both && ours != theirs
}

// ranked reports whether a report ranks two cells together: they promise the same
// durability.
func (r *record) ranked(a, b assay.Cell) bool {
	return r.promises[a.Key()] == r.promises[b.Key()]
}

// changes reports whether one of some cells promises anything about data: the operation
// changes it.
func (r *record) changes(jobs []*job) bool {
	return slices.ContainsFunc(jobs, func(j *job) bool { return r.promises[j.Cell.Key()] != assay.DurabilityUnknown })
}

// figuresKey names the figures of a cell, or of its twin, in a group.
func figuresKey(c assay.Cell, twin bool) string {
	if twin {
		return c.Key() + "|twin"
	}
	return c.Key()
}

func (r *record) trials(key string) []*assay.Trial {
	return slices.Collect(maps.Values(r.counted[key]))
}

func (r *record) figures(key, metric string) []float64 {
	var figures []float64
	for _, t := range r.counted[key] {
		if figure, has := t.Figures[metric]; has {
			figures = append(figures, figure)
		}
	}
	return figures
}

// pairs compares the figures of two keys in the launches that both have, of an operation
// that changes data or not.
func (r *record) pairs(key, other, metric string, changes bool) stat.Pairs {
	var figures, partners []float64
	kind, members := "", [2]string{}
	for launch, t := range r.counted[key] {
		partner := r.counted[other][launch]
		if partner == nil {
			continue
		}
		a, has := t.Figures[metric]
		b, both := partner.Figures[metric]
		if has && both {
			figures, partners = append(figures, a), append(partners, b)
			kind = stat.CommonKind(assay.Kind(t.Cell, changes), assay.Kind(partner.Cell, changes))
			members = [2]string{t.Cell.Target() + "/" + t.Cell.Profile, partner.Cell.Target() + "/" + partner.Cell.Profile}
		}
	}
	p, err := stat.NewPairs(figures, partners)
	if err != nil { // a figure of zero has no ratio
		return stat.Pairs{}
	}
	p.Kind, p.Members = kind, members
	return p
}

// windowRatios are the ratios of windows that were measured next to each other,
// by launch.
func (r *record) windowRatios(key, base string) [][]float64 {
	var launches [][]float64
	for launch, windows := range r.samples[key] {
		others := r.samples[base][launch]
		if len(windows) == 0 || len(windows) != len(others) {
			continue
		}
		ratios := slices.Clone(windows)
		for i := range ratios {
			ratios[i] /= others[i]
		}
		launches = append(launches, ratios)
	}
	return launches
}

// timing adds up where the wall time of launches goes.
type timing struct {
	mutex sync.Mutex
	parts assay.Spent
	wall  time.Duration
	// atOnce is how many things happen at the same time where nothing is measured; 0: as many as
	// there are processors.
	atOnce int
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

// spent returns where all of the wall time went.
func (t *timing) spent() assay.Spent {
	parts := t.snapshot().Plus(nil)
	parts[assay.StageOther] += max(0, t.wall-parts.Total())
	return parts
}

// inParallel runs do for the numbers below n, in random order, as many at the
// same time as there are processors, and returns the errors in the order of the numbers. It
// is for what is not measured.
func (t *timing) inParallel(random *rand.Rand, n int, do func(i int) error) []error {
	order, errs := random.Perm(n), make([]error, n)
	t.shared(func() {
		var all sync.WaitGroup
		var caught guard.Catcher
		free := make(chan struct{}, cmp.Or(t.atOnce, runtime.NumCPU()))
		for _, i := range order {
			free <- struct{}{}
			all.Go(func() {
				defer func() { <-free }()
				caught.Do(func() { errs[i] = do(i) })
			})
		}
		all.Wait()
		caught.Rethrow()
	})
	return errs
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
