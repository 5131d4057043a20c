package kit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"assay/kit/wire"
)

const (
	// minOperations is how many operations every window has per client, so
	// that it is work and not ramp-up that is measured.
	minOperations = 10
	// BusyPatience is how long one operation is tried again before its busy
	// answer counts as an error.
	BusyPatience = 10 * time.Second
	// maxErrors ends a window early: nothing it measures will be reported.
	maxErrors = 1000
)

// missError says that a Do returned another number of rows than expected.
type missError struct{ got, want int }

func (e *missError) Error() string { return fmt.Sprintf("%d rows, expected are %d", e.got, e.want) }

// clock returns nanoseconds since an arbitrary moment, monotonic. One reading
// costs about 25 ns.
func clock() int64 { return int64(time.Since(epoch)) }

var epoch = time.Now()

// measurement is what the clients of one measurement share.
type measurement struct {
	p        *prepared
	clients  []Client
	phases   *Phases   // nil unless asked for
	marks    *os.File  // nil unless asked for
	answers  *answers  // nil unless asked for
	order    *sequence // nil where clients need not wait for each other
	batch    int64
	latency  bool
	first    int64        // unit at which the trace is entered
	units    int64        // to run; MaxInt64 in a window
	window   int64        // ns; 0 in a block
	minUnits int64        // units to run in a window whatever the clock says
	arrived  atomic.Int64 // clients that are ready
	began    int64        // clock when the last client arrived
	unix     int64        // the same as Unix time in ns
	deadline int64        // clock; MaxInt64 in a block
	running  atomic.Bool  // began and deadline are set
	errors   atomic.Int64
	_        cacheLine
	next     atomic.Int64 // unit to be drawn next; on a cache line of its own, since all clients write to it
	_        cacheLine
}

// cacheLine keeps what one client writes apart from what others read.
type cacheLine [64]byte

// share is what one client did.
type share struct {
	done      int64 // units done and right
	before    int64 // clock when the last draw began
	last      int64 // clock when it ended
	lastRight int64 // units of it done and right
	exit      int64 // clock when the client found nothing more to do; where it is alone, when its last draw ended
	executed  int64
	busies
	misses    int64
	failed    int64
	miss, err error // the first ones
	histogram *wire.Histogram
	_         cacheLine
}

// measure runs the operation. Between the two readings of the counters there
// is nothing but the clients' loops; buffers are made before.
func (p *prepared) measure(request wire.Measure) (wire.Measured, error) {
	l, err := p.newMeasurement(request)
	if err != nil {
		return wire.Measured{}, err
	}
	shares := make([]share, len(p.clients))
	for i := range shares {
		if l.latency {
			shares[i].histogram = new(wire.Histogram)
		}
	}
	before, delayed := countersBefore()
	l.run(shares)
	after, then := countersAfter()
	result := l.sum(shares)
	result.Counters = after.Since(before)
	if len(shares) == 1 { // which ran on this thread
		result.Delayed = then.since(delayed, result.Counters.CPU)
	}
	if l.marks != nil {
		err = l.marks.Close()
	}
	if l.answers != nil {
		result.Digests, err = l.answers.digests(l), l.answers.close()
	}
	if l.phases != nil {
		result.Phases, result.ClockNanos = l.phases.report(), clockNanos()
	}
	return result, err
}

func (p *prepared) newMeasurement(request wire.Measure) (*measurement, error) {
	if err := request.Check(p.unit); err != nil {
		return nil, err
	}
	l := &measurement{p: p, clients: p.clients, batch: max(1, request.Batch), latency: request.Latency, first: request.Start / p.unit % p.length,
		units: math.MaxInt64}
	if request.Operations > 0 {
		l.units = request.Operations / p.unit
	} else {
		l.window = request.Nanos
		l.minUnits = minOperations * int64(len(p.clients))
	}
	var err error
	if l.order, err = newSequence(p, request); err != nil {
		return nil, err
	}
	switch {
	case request.Marks != "":
		l.clients, l.marks, err = mark(p.clients, request.Marks)
	case request.Phases:
		l.clients, l.phases, err = profile(p.clients)
	case request.Answers:
		l.clients, l.answers, err = p.answering()
	}
	return l, err
}

func (l *measurement) run(shares []share) {
	if len(shares) == 1 {
		l.client(l.clients[0], &shares[0])
		return
	}
	var done sync.WaitGroup
	for i, client := range l.clients {
		done.Go(func() { l.client(client, &shares[i]) })
	}
	done.Wait()
}

// client is the measured loop: draw a position, do the operation, read the
// clock. Whatever is not as expected leaves by retryOrCount.
func (l *measurement) client(c Client, s *share) {
	want, length := l.p.rows, l.p.length
	previous := l.barrier()
	for {
		from := l.next.Add(l.batch) - l.batch
		if from >= l.units || from >= math.MaxInt64/2 || previous >= l.deadline && from >= l.minUnits {
			if s.exit = previous; len(l.clients) > 1 {
				s.exit = clock() // others may have worked on since then
			}
			return
		}
		position := (l.first + from) % length
		n := min(l.batch, l.units-from)
		right := n
		for range n {
			if l.order != nil {
				l.order.wait(int(position))
			}
			rows, err := c.Do(int(position))
			if err != nil || rows != want && want >= 0 {
				if !l.retryOrCount(c, s, int(position), rows, err) {
					right--
				}
			}
			if l.order != nil {
				l.order.end(int(position))
			}
			if position++; position == length {
				position = 0
			}
		}
		now := clock()
		if s.histogram != nil && right == n {
			s.histogram.Record((now - previous) / n)
		}
		s.executed += n
		s.done += right
		s.before, s.last, s.lastRight = previous, now, right
		previous = now
	}
}

// barrier holds a client until all of them are running, so that none works
// while others are still being started, and returns the clock.
func (l *measurement) barrier() int64 {
	if l.arrived.Add(1) == int64(len(l.p.clients)) {
		l.unix = time.Now().UnixNano()
		l.began = clock()
		l.deadline = math.MaxInt64
		if l.window > 0 {
			l.deadline = l.began + l.window
		}
		l.running.Store(true)
		return l.began
	}
	for !l.running.Load() {
		runtime.Gosched()
	}
	return clock()
}

// retryOrCount handles an error or an unexpected number of rows. It reports
// whether the operation was right in the end, after trying again.
func (l *measurement) retryOrCount(c Client, s *share, position, rows int, err error) bool {
	if errors.Is(err, ErrBusy) && l.p.spec.RetryBusy {
		rows, err = s.busies.retry(err, func() (int, error) { return c.Do(position) })
	} else {
		s.busies.note(err)
	}
	if err == nil && (rows == l.p.rows || l.p.rows < 0) {
		return true
	}
	if l.errors.Add(1) >= maxErrors {
		l.next.Store(math.MaxInt64 / 2) // nothing is left to draw
	}
	if err == nil {
		err = &missError{rows, l.p.rows}
	}
	s.note(err)
	return false
}

// busies counts answers of busy, and of these those that came too late to change.
type busies struct{ busy, stale int64 }

func (b *busies) note(err error) {
	if errors.Is(err, ErrBusy) {
		b.busy++
	}
	if errors.Is(err, ErrStale) {
		b.stale++
	}
}

// retry tries an operation again for which the database was busy, and counts how often it
// was.
func (b *busies) retry(err error, do func() (int, error)) (rows int, last error) {
	for began := clock(); ; runtime.Gosched() {
		b.note(err)
		rows, err = do()
		if !errors.Is(err, ErrBusy) || clock()-began > int64(BusyPatience) {
			return rows, err
		}
	}
}

func (s *share) note(err error) {
	var miss *missError
	if errors.As(err, &miss) {
		s.misses++
		if s.miss == nil {
			s.miss = err
		}
		return
	}
	s.failed++
	if s.err == nil {
		s.err = err
	}
}

// sum adds the clients' shares. The measured time runs from the moment all
// clients were running to the moment the first one stopped. What ends later
// (each client has at most one draw of it) counts by the part of its time that
// lies inside: left out, it would make few slow operations look slower.
func (l *measurement) sum(shares []share) wire.Measured {
	end := int64(math.MaxInt64)
	for i := range shares {
		end = min(end, shares[i].exit)
	}
	result := wire.Measured{Nanos: end - l.began, Began: l.unix}
	merged := new(wire.Histogram)
	units := 0.0
	for i := range shares {
		s := &shares[i]
		units += float64(s.done) - s.outside(end)*float64(s.lastRight)
		result.Executed += s.executed * l.p.unit
		result.Busy += s.busy
		result.Stale += s.stale
		result.Errors += s.failed
		result.Misses += s.misses
		if s.err != nil && result.Error == "" {
			result.Error = s.err.Error()
		}
		if s.miss != nil && result.Miss == "" {
			result.Miss = s.miss.Error()
		}
		if s.histogram != nil {
			merged.Merge(s.histogram)
		}
	}
	result.Operations = int64(math.Round(units * float64(l.p.unit)))
	if l.latency {
		result.Histogram = merged.Buckets()
	}
	return result
}

// outside is the part of the last draw's time that lies after the end.
func (s *share) outside(end int64) float64 {
	if s.last <= end {
		return 0
	}
	return float64(s.last-max(end, s.before)) / float64(s.last-s.before)
}
