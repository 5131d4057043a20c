package kit

import (
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

func (h fakeHandler) Answer(position int, visit func([]string, []any) error) (int, error) {
	for _, row := range h.answers {
		if err := visit(h.op.Steps[0].Returns, row); err != nil {
			return 0, err
		}
	}
	return h.Do(position)
}

// serveIt serves an operation of a fake until the test ends.
func serveIt(t *testing.T, f *fake, op wire.Operation, clients int) (address string) {
	t.Helper()
	s, address, err := prepareFake(t, f, op, 1).serve(clients)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return address
}

// get returns status, type and text of an answer.
func get(t *testing.T, address, path string) string {
	t.Helper()
	response, err := http.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
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
	address := serveIt(t, f, op, 1)
	if !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("it serves at %s", address)
	}
	for path, want := range map[string]string{
		"/":                     "204  ",
		"/1":                    `200 application/json {"answer":[[7]],"rows":1}`,
		"/7":                    `200 application/json {"answer":[[7]],"rows":3}`, // around the trace's end
		"/2":                    "500 text/plain; charset=utf-8 disk on fire\n",
		"/-1":                   "404 text/plain; charset=utf-8 want a position of the trace: GET /POSITION\n",
		"/1/x":                  "404 text/plain; charset=utf-8 want a position of the trace: GET /POSITION\n",
		"/1e3":                  "404 text/plain; charset=utf-8 want a position of the trace: GET /POSITION\n",
		"/99999999999999999999": "404 text/plain; charset=utf-8 want a position of the trace: GET /POSITION\n",
	} {
		if got := get(t, address, path); got != want {
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
		if got := get(t, serveIt(t, f, op, 1), "/0"); got != want {
			t.Errorf("retry %t: got %q, want %q", retry, got, want)
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
	address := serveIt(t, f, oneRow("one"), 2)
	answers := make(chan string)
	for range 3 {
		go func() { answers <- get(t, address, "/0") }()
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
	if err := s.closeServer(); err != nil {
		t.Error(err)
	}
}
