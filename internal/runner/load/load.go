// Package load asks an HTTP server on this machine for something, again and
// again, checks every answer, and says how fast right answers came.
//
// In the closed loop so many clients each wait for their answer before they ask
// again. In the open loop requests have a time of their own, whether answers
// come or not, and latency counts from that time: there is no coordinated
// omission.
//
// It has connections of its own, and lets fasthttp read the answers: clients of
// net/http and of fasthttp do not say when a request was really sent, and try
// again by themselves what failed.
package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"assay/internal/sys/guard"
	"assay/kit/column"
	"assay/kit/wire"
)

// Config says what to ask for and how.
type Config struct {
	// URL is what is asked for, by GET. {n} in its path stands for the number
	// of the request, from 0. Only servers on this machine are asked.
	URL string
	// Clients is how many connections there are: in the closed loop each asks
	// again when it has its answer; in the open loop they are the most requests
	// that can be under way.
	Clients  int
	Requests int // measured
	Warm     int // before those
	// Rate is how many requests are sent a second; 0: closed loop.
	Rate float64
	// Even sends the requests of the open loop at equal distances; otherwise they
	// arrive as a Poisson process, as those of independent users do.
	Even bool
	// Seed is the seed of the Poisson process: equal seeds give equal times.
	Seed [2]uint64
	// Expect is the path of a file of the expected answers, see [Expected].
	// Without it, every answer of a status 2xx is right.
	Expect string
}

const (
	// patience is how long an answer may take.
	patience = 10 * time.Second
	// maxBody bounds the body of an answer: a longer one is a failed request.
	maxBody = 16 << 20
	// maxWait is how long a request of the open loop may wait for a connection;
	// then it is dropped.
	maxWait = time.Second
	// lateBy is how long after its time a request of the open loop is late.
	lateBy = time.Millisecond
	// maxFailed requests in a row end the load: there is no server.
	maxFailed = 1000
)

// Result holds what came of it. Failed, wrong and dropped requests are in no other
// number and, but for the time that dropped ones waited, in no histogram.
// Warm-up requests count only where they failed or were wrong.
type Result struct {
	Offered   int64      `json:"offered"` // requests that were to be sent while it was measured
	Right     int64      `json:"right"`   // answers while it was measured
	Nanos     int64      `json:"nanos"`   // that it was measured, without beginning and end
	Failed    int64      `json:"failed"`  // no answer, or another status
	Error     string     `json:"error,omitempty"`
	Wrong     int64      `json:"wrong"` // another answer than the expected one
	WrongText string     `json:"wrong_text,omitempty"`
	Late      int64      `json:"late"`                // of the open loop: sent over 1 ms after their time
	Dropped   int64      `json:"dropped"`             // likewise: not sent, for want of a connection for 1 s
	Histogram [][2]int64 `json:"histogram,omitempty"` // latencies, as workers give them
	Lag       [][2]int64 `json:"lag,omitempty"`       // of the open loop: how long requests waited for the generator alone
}

// PerSecond returns how many right answers came a second.
func (r Result) PerSecond() float64 { return float64(r.Right) / (float64(r.Nanos) / 1e9) }

// ErrNotLocal means that a URL leads to another machine.
var ErrNotLocal = errors.New("not on this machine")

// target says where requests go.
type target struct {
	address    string // host:port
	head, tail string // of the path, around {n}
	numbered   bool
}

// parse reads a URL, and refuses what is not http to this machine alone.
func parse(text string) (target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return target{}, fmt.Errorf("the URL: %w", err)
	}
	if u.Scheme != "http" || u.Host == "" || u.User != nil {
		return target{}, fmt.Errorf("the URL %q: want http://HOST:PORT/PATH", text)
	}
	port := u.Port()
	port = cmp.Or(port, "80")
	host := u.Hostname()
	if strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return target{}, fmt.Errorf("the URL %q: %w: requests go to localhost and loopback addresses only", text, ErrNotLocal)
	}
	path, _, _ := strings.Cut(text[len("http://"):], "#") // url.Parse would escape {n}
	path = path[len(u.Host):]
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // http://HOST?QUERY
	}
	if strings.ContainsAny(path, " \r\n") {
		return target{}, fmt.Errorf("the URL %q: its path is not escaped", text)
	}
	head, tail, numbered := strings.Cut(path, "{n}")
	return target{net.JoinHostPort(host, port), head, tail, numbered}, nil
}

// maxRate is beyond what one machine sends and answers.
const maxRate = 1e7

// Check says what is wrong with a Config; nil: nothing.
func (c Config) Check() error {
	switch {
	case c.Clients < 1:
		return fmt.Errorf("%d clients: want 1 or more", c.Clients)
	case c.Warm < 0:
		return fmt.Errorf("%d requests before the measured ones: want 0 or more", c.Warm)
	case !(c.Rate >= 0 && c.Rate <= maxRate):
		return fmt.Errorf("%g requests a second: want 0 to %d", c.Rate, int(maxRate))
	case c.Requests < 1:
		return fmt.Errorf("%d requests: want 1 or more", c.Requests)
	}
	_, err := parse(c.URL)
	return err
}

// generator is a load that goes on.
type generator struct {
	Config
	target   target
	expected *column.File // nil: nothing is expected
	failing  atomic.Int64 // failed requests in a row
	conns    []*conn
	caught   guard.Catcher // panics of the load's goroutines; the first one ends the load
}

// Run does it. The error says why there is no result: the server cannot be
// reached at all, or the context ended.
func Run(ctx context.Context, c Config) (result Result, err error) {
	if err := c.Check(); err != nil {
		return Result{}, err
	}
	g := &generator{Config: c}
	if g.target, err = parse(c.URL); err != nil {
		return Result{}, err
	}
	if c.Expect != "" {
		if g.expected, err = openExpected(c.Expect); err != nil {
			return Result{}, err
		}
		defer g.expected.Close()
	}
	if err := g.connect(ctx); err != nil {
		return Result{}, err
	}
	return g.run(ctx)
}

// run makes the load over open connections.
func (g *generator) run(ctx context.Context) (result Result, err error) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	g.caught.Stop = cancel
	stop := context.AfterFunc(limited, g.hangUp)
	defer g.hangUp()
	defer stop()
	if g.Rate > 0 {
		result = g.open(limited)
	} else {
		result = g.closed(limited)
	}
	g.caught.Rethrow()
	return result, ctx.Err()
}

// connect opens all connections before anything is sent.
func (g *generator) connect(ctx context.Context) error {
	for range g.Clients {
		c := newConn(g)
		if err := c.dial(ctx); err != nil {
			g.hangUp()
			return fmt.Errorf("connect to %s: %w", g.target.address, err)
		}
		g.conns = append(g.conns, c)
	}
	return nil
}

// hangUp closes all connections; requests under way fail.
func (g *generator) hangUp() {
	for _, c := range g.conns {
		c.hangUp()
	}
}

// lost reports whether there is no server any more.
func (g *generator) lost() bool { return g.failing.Load() >= maxFailed }

// tally counts what became of requests.
type tally struct {
	failed, wrong int64
	err           error // the first ones
	wrongText     error
	histogram     wire.Histogram
}

// note counts a request that was not right.
func (t *tally) note(err error) {
	if errors.As(err, new(*wrongError)) {
		t.wrong++
		if t.wrongText == nil {
			t.wrongText = err
		}
		return
	}
	t.failed++
	if t.err == nil {
		t.err = err
	}
}

func (r *Result) add(t *tally) {
	r.Failed += t.failed
	r.Wrong += t.wrong
	if t.err != nil && r.Error == "" {
		r.Error = t.err.Error()
	}
	if t.wrongText != nil && r.WrongText == "" {
		r.WrongText = t.wrongText.Error()
	}
}

// Quantile is the least upper bound of a histogram that the share p of its
// values is not above; 0 where there are none. Unlike a percentile to be shown
// it needs no number of values beyond it.
func Quantile(histogram [][2]int64, p float64) int64 {
	total, seen := int64(0), int64(0)
	for _, b := range histogram {
		total += b[1]
	}
	for _, b := range histogram {
		if seen += b[1]; float64(seen) >= p*float64(total) {
			return b[0]
		}
	}
	return 0
}
