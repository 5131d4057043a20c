package load

import (
	"context"
	"runtime"
	"sync"
	"time"

	"assay/kit/wire"
)

// schedule is the open loop: requests are sent at their times by one goroutine,
// and each connection has another one that waits for answers.
type schedule struct {
	*generator
	free     chan freed
	arrivals *arrivals
	began    int64 // clock when the load begins
	from, to int64 // that it is measured, by the clock
	lag      wire.Histogram
	dropped  tally // with the time that dropped requests waited
	counts   struct{ late, dropped int64 }
}

// freed is a connection that has nothing to do since a moment.
type freed struct {
	*conn
	since int64
}

// sent is a request that was sent, or could not be.
type sent struct {
	number int
	due    int64 // clock when it was to be sent
	err    error
}

type taken struct {
	tally
	right int64 // answers while it was measured
}

// open sends each request at its time, or as soon as a connection is free. It is
// measured while the requests after the warm-up are due.
func (g *generator) open(ctx context.Context) Result {
	// The sender sleeps in the kernel, and keeps its processor while it does.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1))
	s := &schedule{generator: g, free: make(chan freed, len(g.conns)), arrivals: newArrivals(&g.Config)}
	all := make([]taken, len(g.conns))
	var done sync.WaitGroup
	for i, c := range g.conns {
		done.Go(func() { s.caught.Do(func() { s.answers(c, &all[i]) }) })
		s.free <- freed{c, clock()}
	}
	s.began = clock() + int64(10*time.Millisecond)
	s.from, s.to = s.began+int64(s.arrivals.at(g.Warm)), s.began+int64(s.arrivals.at(g.Warm+g.Requests))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		runtime.LockOSThread() // for good: the thread ends with its priority
		s.caught.Do(func() { s.send(ctx) })
	}()
	<-sent
	for _, c := range g.conns {
		close(c.pending)
	}
	done.Wait()
	return s.sum(all)
}

// send sends all requests, in a thread of its own: it alone sleeps, and must not
// wait for a processor when it is time.
func (s *schedule) send(ctx context.Context) {
	reduceTimerSlack()
	for number := range s.Warm + s.Requests {
		if s.lost() || ctx.Err() != nil {
			return
		}
		due := s.began + s.arrivals.next()
		for wait := due - clock(); wait > 0; wait = due - clock() {
			sleep(time.Duration(wait)) // which signals end early
		}
		c, ok := s.connection(due)
		measured := number >= s.Warm
		if !ok {
			if measured {
				s.counts.dropped++
				s.dropped.histogram.Record(clock() - due)
			}
			continue
		}
		now := clock()
		err := c.send(ctx, number)
		if measured {
			s.lag.Record(now - max(due, c.since))
			if now-due > int64(lateBy) {
				s.counts.late++
			}
		}
		c.pending <- sent{number, due, err}
	}
}

// connection takes one that is free, or waits for it as long as a request may.
func (s *schedule) connection(due int64) (freed, bool) {
	select {
	case c := <-s.free:
		return c, true
	default:
	}
	left := due + int64(maxWait) - clock()
	if left <= 0 {
		return freed{}, false
	}
	timer := time.NewTimer(time.Duration(left))
	defer timer.Stop()
	select {
	case c := <-s.free:
		return c, true
	case <-timer.C:
		return freed{}, false
	}
}

// answers waits for the answers of one connection.
func (s *schedule) answers(c *conn, t *taken) {
	for request := range c.pending {
		err := request.err
		if err == nil {
			err = c.receive(request.number)
		}
		now := clock()
		s.noteRow(err)
		if err != nil {
			t.note(err)
		} else {
			if now >= s.from && now < s.to {
				t.right++
			}
			if request.number >= s.Warm {
				t.histogram.Record(now - request.due)
			}
		}
		s.free <- freed{c, now}
	}
}

func (s *schedule) sum(all []taken) Result {
	r := Result{Nanos: s.to - s.from, Offered: int64(s.Requests), Late: s.counts.late, Dropped: s.counts.dropped}
	for i := range all {
		r.Right += all[i].right
		r.add(&all[i].tally)
		s.dropped.histogram.Merge(&all[i].histogram)
	}
	r.Histogram, r.Lag = s.dropped.histogram.Buckets(), s.lag.Buckets()
	return r
}
