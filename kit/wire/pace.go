package wire

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// Pace holds the times that a worker reports of its calls against the time that
// the caller saw them take. What a call takes beside what it measures is alike for
// short calls and long ones, however much it is; what a wrong clock leaves out, or
// adds, grows with the call. One call can be late by an accident, many cannot.
type Pace struct {
	all         int
	took, nanos time.Duration // of all
	used, could time.Duration // CPU time of those that measured something, and what the processors have in their time
	calls, late int           // of those that measured something
	short, long []gap
}

// gap is what the caller saw a call take beyond what was reported of it; excused is the
// part of it in which other clients may have gone on, or processes waited for a processor.
type gap struct{ nanos, over, excused float64 }

const (
	// lateSlack is by how much more than twice its time a call can be late, of which
	// most are not. Calls that measure less than minMeasured do not count.
	lateSlack, minCalls, minMeasured = 150 * time.Millisecond, 5, time.Millisecond
	// usedSlack is the CPU time that calls may have used before and after they measured,
	// beside clockSlack each.
	usedSlack = 5 * cpuSlack
	// shortCalls are kept, the shortest of all, and longCalls, the latest. Where
	// one is shortShare of another or less, the two are compared.
	shortCalls, longCalls, shortShare = 8, 32, 0.25
	// A clock is wrong where the gaps of so many long calls are all beyond those of
	// so many short ones: of right clocks on a crowded machine one in 53,130 would
	// be. Fewer will do where calls are so long that no accident makes the gap.
	minShort, minLong, minVeryLong, veryLong = 5, 20, 5, 50 * time.Millisecond
	// They are beyond by these parts of a long call's time: where a clock runs at
	// half or twice its speed, by 0.75 and -0.375 or more.
	slowShare, fastShare = 0.5, -0.3
)

// Add counts one call, and returns why all so far cannot be true.
func (p *Pace) Add(m Measured, call Call) error {
	p.all++
	p.took += call.Took
	p.nanos += time.Duration(m.Nanos)
	if limit := p.took + p.took/100 + clockSlack; p.nanos > limit {
		return fmt.Errorf("it reports %s of %d calls that took %s: its clock is too fast", p.nanos, p.all, p.took)
	}
	if call.unreported() || call.Clients > 1 && m.Errors+m.Misses > 0 { // then nobody knows how long the others went on
		return nil
	}
	if time.Duration(m.Nanos) >= minMeasured {
		p.calls++
		p.used += time.Duration(m.Counters.CPU)
		p.could += time.Duration(runtime.NumCPU())*time.Duration(m.Nanos+m.usualTail(call)) + clockSlack
		if over := call.Took - call.Waited - time.Duration(m.Nanos+m.tail(call)); over > time.Duration(m.Nanos)+lateSlack {
			p.late++
		}
	}
	if p.used > p.could+p.could/10+usedSlack {
		return fmt.Errorf("it reports %s of CPU time in calls in which %d processors have %s: its clock is too slow, or it measures only a part", p.used, runtime.NumCPU(), p.could)
	}
	if p.calls >= minCalls && 2*p.late > p.calls {
		return fmt.Errorf("%d of %d calls took over twice the time that the worker reports of them: %w", p.late, p.calls, ErrSlowClock)
	}
	if m.Errors+m.Misses == 0 {
		p.note(gap{float64(m.Nanos), float64(call.Took.Nanoseconds() - m.Nanos), float64(m.usualTail(call) + call.Waited.Nanoseconds())})
	}
	return p.check()
}

// usualTail is how long other clients usually go on after the first one stopped.
// It is shorter than tail: of many calls some are usual.
func (m Measured) usualTail(call Call) int64 {
	if call.Clients == 1 || len(m.Histogram) > 0 {
		return m.tail(call)
	}
	return 2 * m.Nanos * int64(call.Clients) / max(1, m.Operations)
}

func (p *Pace) note(g gap) {
	p.long = append(p.long, g)
	p.long = p.long[max(0, len(p.long)-longCalls):]
	p.short = append(p.short, g)
	slices.SortStableFunc(p.short, func(a, b gap) int { return cmp.Compare(a.nanos, b.nanos) })
	p.short = p.short[:min(len(p.short), shortCalls)]
}

// check returns why the gaps are not those of a right clock.
func (p *Pace) check() error {
	compared, long, lowest, highest := 0, 0, math.Inf(1), math.Inf(-1)
	for _, g := range p.long {
		least, most, ok := p.usual(g.nanos * shortShare)
		if !ok {
			continue
		}
		if compared++; g.nanos >= float64(veryLong) {
			long++
		}
		lowest = min(lowest, (g.over-g.excused-most)/g.nanos)
		highest = max(highest, (g.over-least)/g.nanos)
	}
	switch {
	case compared < minLong && (long < minVeryLong || long < compared):
		return nil
	case lowest > slowShare:
		return fmt.Errorf("%d calls took longer than the time that it reports of them by %.2g of that time and more, and short calls did not: %w", compared, lowest, ErrSlowClock)
	case highest < fastShare:
		return fmt.Errorf("%d calls took longer than the time that it reports of them by less than short calls did, by %.2g of that time and more: its clock is too fast", compared, -highest)
	}
	return nil
}

// usual are the lowest and the highest gap of the calls that are as short as that.
func (p *Pace) usual(nanos float64) (lowest, highest float64, ok bool) {
	lowest, highest, count := math.Inf(1), math.Inf(-1), 0
	for _, s := range p.short {
		if s.nanos <= nanos {
			lowest, highest, count = min(lowest, s.over), max(highest, s.over), count+1
		}
	}
	return lowest, highest, count >= minShort
}
