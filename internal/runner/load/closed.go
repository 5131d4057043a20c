package load

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
)

// loop is the closed loop: what its clients share.
type loop struct {
	*generator
	next  atomic.Int64 // request to be drawn next
	warm  sync.WaitGroup
	began int64 // clock when all clients had done their part of the warm-up
	start chan struct{}
}

// share holds what one client did.
type share struct {
	tally
	right     int64
	before    int64 // clock when the last request was sent
	last      int64 // clock when it was answered
	lastRight bool
	exit      int64 // clock when nothing more was left to do
}

// closed has all clients ask until all requests are done. It is measured from
// the moment when all are at work until the first one finds nothing more to do.
func (g *generator) closed(ctx context.Context) Result {
	l := &loop{generator: g, start: make(chan struct{})}
	shares := make([]share, len(g.conns))
	var done sync.WaitGroup
	l.warm.Add(len(g.conns))
	for i, c := range g.conns {
		done.Go(func() {
			l.caught.Do(func() { l.warmUp(ctx, c, &shares[i]) })
			<-l.start
			l.caught.Do(func() { l.client(ctx, c, &shares[i]) })
		})
	}
	l.warm.Wait()
	l.next.Store(int64(g.Warm))
	l.began = clock()
	close(l.start)
	done.Wait()
	return l.sum(shares)
}

// warmUp does one client's part of the requests that are not measured.
func (l *loop) warmUp(ctx context.Context, c *conn, s *share) {
	defer l.warm.Done()
	for !l.lost() && ctx.Err() == nil {
		number := l.next.Add(1) - 1
		if number >= int64(l.Warm) {
			break
		}
		if err := l.ask(ctx, c, int(number)); err != nil {
			s.note(err)
		}
	}
}

// client asks until nothing is left to do.
func (l *loop) client(ctx context.Context, c *conn, s *share) {
	previous, end := clock(), int64(l.Warm)+int64(l.Requests)
	for {
		number := l.next.Add(1) - 1
		if number >= end || l.lost() || ctx.Err() != nil {
			s.exit = clock()
			return
		}
		err := l.ask(ctx, c, int(number))
		now := clock()
		if err == nil {
			s.right++
			s.histogram.Record(now - previous)
		} else {
			s.note(err)
		}
		s.before, s.last, s.lastRight = previous, now, err == nil
		previous = now
	}
}

func (l *loop) ask(ctx context.Context, c *conn, number int) error {
	err := c.send(ctx, number)
	if err == nil {
		err = c.receive(number)
	}
	l.noteRow(err)
	return err
}

// sum adds the clients' shares. What was answered after the end counts by the
// part of its time that lies before it, as workers count.
func (l *loop) sum(shares []share) Result {
	end := int64(math.MaxInt64)
	for i := range shares {
		end = min(end, shares[i].exit)
	}
	r := Result{Nanos: end - l.began, Offered: int64(l.Requests)}
	right := 0.0
	for i := range shares {
		s := &shares[i]
		right += float64(s.right)
		if s.lastRight && s.last > end {
			right -= float64(s.last-max(end, s.before)) / float64(s.last-s.before)
		}
		r.add(&s.tally)
		if i > 0 {
			shares[0].histogram.Merge(&s.histogram)
		}
	}
	r.Right = int64(math.Round(right))
	r.Histogram = shares[0].histogram.Buckets()
	return r
}
