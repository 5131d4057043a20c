package kit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"assay/kit/wire"
)

// fakeHandler answers what the fake's clients would do, and its answers.
type fakeHandler struct{ fakeClient }

func (o *fakeOperation) Handler() (Handler, error) {
	if o.client != nil {
		return nil, o.client
	}
	return fakeHandler{fakeClient{o}}, nil
}

func (h fakeHandler) Answer(ctx context.Context, position int, visit func([]string, []any) error) (int, error) {
	if ctx.Done() == nil {
		return 0, errors.New("the context cannot be cancelled, as that of a request can")
	}
	for _, row := range h.answers {
		if err := visit(h.op.Steps[0].Returns, row); err != nil {
			return 0, err
		}
	}
	return h.Do(position)
}

// serveIt serves an operation of a fake until the test ends.
func serveIt(t *testing.T, f *fake, op wire.Operation, clients int) *server {
	t.Helper()
	s, err := prepareFake(t, f, op, 1).serve(clients)
	must(t, err)
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// get returns status, type and text of an answer.
func get(t *testing.T, s *server, path string) string {
	t.Helper()
	response, err := http.Get("http://" + s.address + s.path + path)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return fmt.Sprint(response.StatusCode, " ", response.Header.Get("Content-Type"), " ", string(text))
}

func TestServeHTTP(t *testing.T) {
	f := &fake{answers: [][]any{{int64(7)}}, do: func(_ wire.Operation, position int) (int, error) {
		if position == 2 {
			return 0, errors.New("disk on fire")
		}
		return position, nil
	}}
	op := oneRow("one")
	op.Trace, op.Steps[0].Args = numbers(t, 4), 1
	s := serveIt(t, f, op, 1)
	if !strings.HasPrefix(s.address, "127.0.0.1:") {
		t.Errorf("it serves at %s", s.address)
	}
	for path, want := range map[string]string{
		"/":                     "204  ",
		"/1":                    `200 application/json {"answer":[[7]],"rows":1}`,
		"/7":                    `200 application/json {"answer":[[7]],"rows":3}`, // around the trace's end
		"/2":                    "500 text/plain; charset=utf-8 disk on fire\n",
		"/-1":                   "404 text/plain; charset=utf-8 want a position of the trace, at the address and path that serve answered: GET PATH/POSITION\n",
		"/1/x":                  "404 text/plain; charset=utf-8 want a position of the trace, at the address and path that serve answered: GET PATH/POSITION\n",
		"/1e3":                  "404 text/plain; charset=utf-8 want a position of the trace, at the address and path that serve answered: GET PATH/POSITION\n",
		"/99999999999999999999": "404 text/plain; charset=utf-8 want a position of the trace, at the address and path that serve answered: GET PATH/POSITION\n",
	} {
		if got := get(t, s, path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestServeBusy: a busy answer is tried again only where the operation says so.
func TestServeBusy(t *testing.T) {
	for retry, want := range map[bool]string{
		false: "500 text/plain; charset=utf-8 database is busy\n",
		true:  `200 application/json {"answer":[],"rows":1}`,
	} {
		var tries atomic.Int64
		f := &fake{do: func(wire.Operation, int) (int, error) {
			if tries.Add(1) < 3 {
				return 0, ErrBusy
			}
			return 1, nil
		}}
		op := oneRow("one")
		op.RetryBusy = retry
		s := serveIt(t, f, op, 1)
		if got := get(t, s, "/0"); got != want {
			t.Errorf("retry %t: got %q, want %q", retry, got, want)
		}
		count := map[bool]int64{true: 2}[retry] // that it was tried again
		if got := s.busy.Load(); got != count {
			t.Errorf("retry %t: got %d operations tried again, want %d", retry, got, count)
		}
	}
}

// TestServeAtOnce: as many requests are worked on at the same time as there are
// clients, and no more.
func TestServeAtOnce(t *testing.T) {
	var working atomic.Int64
	var tooMany atomic.Bool
	var both sync.Once
	full, release := make(chan struct{}), make(chan struct{})
	f := &fake{do: func(wire.Operation, int) (int, error) {
		n := working.Add(1)
		if n == 2 {
			both.Do(func() { close(full) })
		}
		if n > 2 {
			tooMany.Store(true)
		}
		<-release
		working.Add(-1)
		return 1, nil
	}}
	s := serveIt(t, f, oneRow("one"), 2)
	answers := make(chan string)
	for range 3 {
		go func() { answers <- get(t, s, "/0") }()
	}
	<-full
	close(release)
	for range 3 {
		if got := <-answers; !strings.HasPrefix(got, "200 ") {
			t.Error(got)
		}
	}
	if tooMany.Load() {
		t.Error("more than two requests were worked on at the same time")
	}
}

func TestServeRefusals(t *testing.T) {
	f := &fake{}
	s := &session{engine: f, prepared: map[string]*prepared{}}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "invalid: no database is open"},
		{func() { s.database = fakeDatabase{f} }, `invalid: operation "one" is not prepared`},
		{func() {
			s.prepared["one"] = prepareFake(t, f, oneRow("one"), 1)
			f.client = errors.New("out of handles")
		}, `handler of "one": out of handles`},
	} {
		step.do()
		if _, err := s.serve(wire.Serve{Operation: "one", Clients: 1}); refusal(err) != step.want {
			t.Errorf("got %s, want %s", refusal(err), step.want)
		}
	}
	f.client = nil
	if _, err := s.serve(wire.Serve{Operation: "one"}); refusal(err) != "invalid: 0 clients" {
		t.Error(err)
	}
	if _, err := s.serve(wire.Serve{Operation: "one", Clients: 1}); err != nil {
		t.Error(err)
	}
	if _, err := s.serve(wire.Serve{Operation: "one", Clients: 1}); refusal(err) != "invalid: an operation is served already" {
		t.Error(err)
	}
	must(t, s.closeServer())
}

// Only who knows the path may ask, by GET and for the address itself: a page in
// a browser can send other requests to a port of this machine.
func TestServeRefusesOthers(t *testing.T) {
	s := serveIt(t, &fake{}, oneRow("one"), 1)
	if other := serveIt(t, &fake{}, oneRow("one"), 1); s.path == other.path || len(s.path) < 20 {
		t.Errorf("paths %q and %q: want two that nobody can guess", s.path, other.path)
	}
	for _, try := range []struct {
		method, host, path string
		want               int
	}{
		{"GET", "", s.path + "/0", 200},
		{"GET", "", s.path + "/", 204},
		{"POST", "", s.path + "/0", 404},
		{"HEAD", "", s.path + "/0", 404},
		{"OPTIONS", "", s.path + "/", 404},
		{"GET", "example.org", s.path + "/0", 404},
		{"GET", "localhost", s.path + "/", 404},
		{"GET", "", "/0", 404},
		{"GET", "", "/", 404},
		{"GET", "", s.path, 404},
		{"GET", "", s.path + "0", 404},
		{"GET", "", "/other" + s.path + "/0", 404},
	} {
		request, err := http.NewRequest(try.method, "http://"+s.address+try.path, nil)
		must(t, err)
		request.Host = try.host
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		response.Body.Close()
		if response.StatusCode != try.want {
			t.Errorf("%s %s of host %q: got %d, want %d", try.method, try.path, try.host, response.StatusCode, try.want)
		}
	}
}
