package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/stat"
	"assay/internal/sys/guard"
	"assay/kit/answer"
	"assay/kit/column"
	"assay/kit/column/columntest"
)

// serve answers by a handler and returns the URL.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL + "/{n}"
}

func run(t *testing.T, c Config) Result {
	t.Helper()
	r, err := Run(t.Context(), c)
	must(t, err)
	return r
}

func count(histogram [][2]int64) (n int64) {
	for _, b := range histogram {
		n += b[1]
	}
	return n
}

// expect writes a file of expected answers.
func expect(t *testing.T, rows ...[2]int64) string {
	t.Helper()
	var all [][]any
	for _, row := range rows {
		all = append(all, []any{row[0], row[1]})
	}
	return columntest.Write(t, []column.Type{column.Int, column.Int}, all...)
}

// TestEveryRequestOnce: all numbers are asked for, each once, in both loops.
func TestEveryRequestOnce(t *testing.T) {
	for _, rate := range []float64{0, 20_000} {
		var mu sync.Mutex
		asked := map[string]int{}
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			asked[r.URL.Path]++
		})
		r := run(t, Config{URL: url, Clients: 4, Requests: 200, Warm: 50, Rate: rate})
		for n := range 250 {
			if asked[fmt.Sprint("/", n)] != 1 {
				t.Errorf("rate %g: request %d was made %d times", rate, n, asked[fmt.Sprint("/", n)])
			}
		}
		if r.Offered != 200 || r.Failed+r.Wrong+r.Dropped != 0 || count(r.Histogram) != 200 || len(asked) < 250 {
			t.Errorf("rate %g: %+v", rate, r)
		}
		if rate == 0 && (r.Right < 195 || r.Right > 200) || rate > 0 && count(r.Lag) != 200 {
			t.Errorf("rate %g: %d right, %d lags", rate, r.Right, count(r.Lag))
		}
	}
}

// TestStallShows: a server that stops for 200 ms shows in the open loop, since
// latency counts from when requests were due; in the closed loop only those that
// were under way know of it.
func TestStallShows(t *testing.T) {
	for _, rate := range []float64{0, 2000} {
		var once sync.Once
		var gate sync.RWMutex
		url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/3000" {
				once.Do(func() {
					gate.Lock()
					time.Sleep(200 * time.Millisecond) // the stall itself
					gate.Unlock()
				})
			}
			gate.RLock()
			defer gate.RUnlock()
		})
		r := run(t, Config{URL: url, Clients: 4, Requests: 10_100, Warm: 100, Rate: rate})
		p99, known := stat.PercentileOf(r.Histogram, 0.99)
		if stalled := p99 > 100e6; !known || stalled != (rate > 0) {
			t.Errorf("rate %g: p99 is %s (%t)", rate, time.Duration(p99), known)
		}
		if rate > 0 && r.Late < 300 {
			t.Errorf("%d requests were late, and 400 were due while the server stood still", r.Late)
		}
	}
}

// TestDropped: what waits for a connection for too long is dropped and counted,
// and its wait is in the latencies.
func TestDropped(t *testing.T) {
	var asked atomic.Int64
	url := serve(t, func(http.ResponseWriter, *http.Request) {
		if asked.Add(1) == 1 {
			time.Sleep(maxWait + 3*time.Second) // from the first request on, until all others have given up
		}
	})
	r := run(t, Config{URL: url, Clients: 1, Requests: 20, Rate: 1000})
	if r.Dropped != 19 || r.Failed != 0 || count(r.Histogram) != 20 || Quantile(r.Histogram, 0.5) < int64(maxWait) {
		t.Errorf("%d dropped, %d failed, %d latencies, half of them up to %s", r.Dropped, r.Failed, count(r.Histogram), time.Duration(Quantile(r.Histogram, 0.5)))
	}
}

// TestWrongAndFailed: what is not as expected is in no figure.
func TestWrongAndFailed(t *testing.T) {
	bodies := []string{`{"answer":[[1]],"rows":1}`, `{"answer":[[2]],"rows":1}`, `{"answer":[],"rows":1}`, `{"answer":[[7]],"rows":1}`}
	answers := expect(t, [2]int64{answer.Sum([]byte(bodies[0])), EveryByte}, [2]int64{answer.Sum([]byte(`{"answer":[[3]],"rows":1}`)), EveryByte},
		[2]int64{answer.RowsSum([]byte(bodies[0])), Rows}, [2]int64{0, Status})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		if n >= 40 {
			http.Error(w, "out of beer", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, bodies[n%4])
	})
	for _, rate := range []float64{0, 5000} {
		r := run(t, Config{URL: url, Clients: 1, Requests: 50, Rate: rate, Expect: answers})
		r.Histogram, r.Lag, r.Nanos, r.Late = nil, nil, 0, 0
		if rate > 0 {
			r.Right = 30 // those that were answered in time
		}
		want := Result{Offered: 50, Right: 30, Wrong: 10, WrongText: `the answer to request 1 is {"answer":[[2]],"rows":1}`, Failed: 10, Error: "status 500: out of beer"}
		if fmt.Sprint(r) != fmt.Sprint(want) {
			t.Errorf("rate %g: got %+v\nwant %+v", rate, r, want)
		}
	}
}

// TestRefused: where nobody listens there is no result.
func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	l.Close()
	if _, err := Run(t.Context(), Config{URL: "http://" + l.Addr().String(), Clients: 2, Requests: 10}); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
}

// TestServerDies: all that comes after is counted as failed, until it is plain
// that nobody is there.
func TestServerDies(t *testing.T) {
	for _, rate := range []float64{0, 50_000} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		go dieAfter(l, 30)
		r := run(t, Config{URL: "http://" + l.Addr().String(), Clients: 1, Requests: 5000, Rate: rate})
		few := r.Failed < 900 && r.Dropped == 0 // on a slow machine some wait too long to be sent at all
		if few || r.Failed == 0 || r.Failed > 1100 || count(r.Histogram) != 30+r.Dropped || r.Error == "" {
			t.Errorf("rate %g: %d failed, the first: %s; %d dropped, %d latencies", rate, r.Failed, r.Error, r.Dropped, count(r.Histogram))
		}
	}
}

// dieAfter answers some requests of one connection, and nothing more.
func dieAfter(l net.Listener, requests int) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	in := bufio.NewReader(conn)
	for range requests {
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	}
	_ = l.Close()
	_ = conn.Close()
}

// TestDroppedConnections: one that the server closes is a failed request, and the
// next one gets another; one that is announced is none.
func TestDroppedConnections(t *testing.T) {
	for announced, want := range map[bool]int64{true: 0, false: 10} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "7") {
				return
			}
			if announced {
				w.Header().Set("Connection", "close")
				return
			}
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			_ = conn.Close()
		})
		if r := run(t, Config{URL: url, Clients: 2, Requests: 100}); r.Failed != want {
			t.Errorf("announced %t: %d requests failed (%s), want %d", announced, r.Failed, r.Error, want)
		}
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hold := make(chan struct{})
	url := serve(t, func(http.ResponseWriter, *http.Request) {
		cancel()
		<-hold
	})
	if _, err := Run(ctx, Config{URL: url, Clients: 2, Requests: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(hold)
}

// Answers of others are bounded, and what is not an answer is a failure.
func TestHostileAnswers(t *testing.T) {
	endless := func(out net.Conn) {
		chunk := []byte("10000\r\n" + strings.Repeat("x", 0x10000) + "\r\n")
		fmt.Fprint(out, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for {
			if _, err := out.Write(chunk); err != nil {
				return
			}
		}
	}
	say := func(text string) func(net.Conn) { return func(out net.Conn) { fmt.Fprint(out, text) } }
	for name, answer := range map[string]func(net.Conn){
		"a huge length":           say("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx"),
		"a length of no number":   say("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nx"),
		"a negative length":       say("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx"),
		"an endless body":         endless,
		"a huge chunk":            say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nx"),
		"no HTTP":                 say("\x00\xff\x1b[2J\r\n\r\n"),
		"an endless header":       say("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20)),
		"a status of no number":   say("HTTP/1.1 abc OK\r\n\r\n"),
		"the end of the line":     say(""),
		"another chunk's length":  say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx"),
		"a body without a length": endlessWithoutLength,
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, Config{URL: hostile(t, answer), Clients: 2, Requests: 4})
			if r.Failed != 4 || r.Right != 0 || r.Error == "" {
				t.Errorf("got %d failed, %d right, error %q; want 4 failed with the reason", r.Failed, r.Right, r.Error)
			}
		})
	}
}

func endlessWithoutLength(out net.Conn) {
	fmt.Fprint(out, "HTTP/1.1 200 OK\r\n\r\n")
	for {
		if _, err := out.Write(make([]byte, 1<<16)); err != nil {
			return
		}
	}
}

// hostile answers the first request of each connection, and closes it.
func hostile(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := bufio.NewReader(c).ReadString('\n'); err == nil {
					answer(c)
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

func TestConfig(t *testing.T) {
	for url, want := range map[string]target{
		"http://127.0.0.1:80/{n}?x":     {"127.0.0.1:80", "/", "?x", true},
		"http://localhost:8080":         {"127.0.0.1:8080", "/", "", false},
		"http://[::1]/a/{n}/b#fragment": {"[::1]:80", "/a/", "/b", true},
		"http://127.9.9.9:1/":           {"127.9.9.9:1", "/", "", false},
		"HTTP://LOCALHOST:1/a":          {"127.0.0.1:1", "/a", "", false},
		"http://127.0.0.1?q={n}":        {"127.0.0.1:80", "/?q=", "", true},
	} {
		if got, err := parse(url); got != want || err != nil {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
	}
	for _, url := range []string{"http://example.org/", "http://10.0.0.1/", "http://127.0.0.1.example.org/", "http://0.0.0.0/", "http://[::]/"} {
		if _, err := parse(url); !errors.Is(err, ErrNotLocal) {
			t.Errorf("%s: %v, want that it is refused", url, err)
		}
	}
	for _, url := range []string{"", "127.0.0.1", "https://127.0.0.1/", "http:///", "http://me@127.0.0.1/", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y"} {
		if _, err := parse(url); err == nil {
			t.Errorf("%q is taken", url)
		}
	}
	good := Config{URL: "http://127.0.0.1/", Clients: 1, Requests: 1}
	for want, change := range map[string]func(*Config){
		"0 clients":              func(c *Config) { c.Clients = 0 },
		"0 requests":             func(c *Config) { c.Requests = 0 },
		"-1 requests before":     func(c *Config) { c.Warm = -1 },
		"-1 requests a second":   func(c *Config) { c.Rate = -1 },
		"1.0000001e+07 requests": func(c *Config) { c.Rate = maxRate + 1 },
		"NaN requests a second":  func(c *Config) { c.Rate = math.NaN() },
		"want two int columns":   func(c *Config) { c.Expect = expectNothing(t) },
		"the expected answers:":  func(c *Config) { c.Expect = "/nowhere" },
	} {
		c := good
		change(&c)
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func expectNothing(t *testing.T) string { return expect(t) }

// TestBare: what the generator's limit is measured on answers as workers do.
func TestBare(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ended := make(chan error)
	go func() { ended <- ServeBare(l) }()
	r := run(t, Config{URL: "http://" + l.Addr().String() + "/{n}", Clients: 3, Requests: 100,
		Expect: expect(t, [2]int64{answer.RowsSum([]byte(`{"answer":[],"rows":1}`)), Rows})})
	if r.Failed+r.Wrong != 0 || count(r.Histogram) != 100 {
		t.Errorf("%+v", r)
	}
	l.Close()
	must(t, <-ended)
}

func TestQuantile(t *testing.T) {
	histogram := [][2]int64{{10, 1}, {20, 2}, {30, 1}}
	var got []int64
	for _, p := range []float64{0.25, 0.26, 0.75, 1} {
		got = append(got, Quantile(histogram, p))
	}
	if want := []int64{10, 20, 20, 30}; !slices.Equal(got, want) || Quantile(nil, 0.5) != 0 {
		t.Errorf("got %d, want %d", got, want)
	}
}

// whole is a connection of which all is there already.
type whole struct {
	net.Conn
	io.Reader
}

func (w whole) Read(p []byte) (int, error) { return w.Reader.Read(p) }

func (whole) Close() error { return nil }

// What a server answers is never taken for right where it is not whole, and never
// more than the limit is kept.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no",
		"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 99999999999999999999 OK\r\n\r\n", "\x00\xff", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 3),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		c := newConn(&generator{})
		c.net = whole{Reader: bytes.NewReader(answer)}
		c.in.Reset(c.net)
		err := c.receive(0)
		if status := c.response.StatusCode(); err == nil && (status < 200 || status > 299) {
			t.Errorf("%q: got no error, and status %d", answer, status)
		}
		if n := len(c.response.Body()); err == nil && n > len(answer) {
			t.Errorf("%q: got a body of %d bytes from %d", answer, n, len(answer))
		}
	})
}

// A fault of any goroutine of a load ends the load, in both loops, and is a panic
// of the one that waits for it.
func TestPanicInALoad(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for name, plant := range map[string]func(*conn){
		"dial":    func(c *conn) { _ = c.broken(nil); c.g = nil },
		"receive": func(c *conn) { c.in = nil },
	} {
		for _, c := range []Config{{Warm: 50}, {}, {Rate: 2000}} {
			c.URL, c.Clients, c.Requests = url, 4, 10_000_000
			g := &generator{Config: c}
			var err error
			if g.target, err = parse(url); err != nil {
				t.Fatal(err)
			}
			must(t, g.connect(t.Context()))
			plant(g.conns[1])
			err = guard.Error(func() error {
				_, err := g.run(t.Context())
				return err
			})
			var fault *guard.Panic
			if !errors.As(err, &fault) || !strings.Contains(string(fault.Stack), "load.(*conn)."+name) {
				t.Errorf("%s, %+v: got %v, want the planted panic with its stack", name, c, err)
			}
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
