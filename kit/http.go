package kit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"assay/kit/answer"
	"assay/kit/wire"
)

// shutdownPatience is how long requests may take that are under way when the
// worker closes.
const shutdownPatience = 5 * time.Second

// server answers requests for one prepared operation: GET PATH/POSITION.
type server struct {
	p *prepared
	// address and path are what a request must name. No page in a browser can
	// guess the path, nor name this Host by a domain that it made lead here.
	address  string
	path     string
	http     *http.Server
	ended    chan struct{} // closed when it serves no more
	handlers chan *room    // those that are free
	all      []*room
	busy     atomic.Int64 // answers of "busy" after which an operation was tried again
}

// room is a handler with the room for its answer.
type room struct {
	Handler
	body answer.Body
}

// serve starts a server on the loopback interface, so that no other machine can
// ask.
func (p *prepared) serve(clients int) (*server, error) {
	source, ok := p.operation.(Server)
	if !ok {
		return nil, wire.Errorf(wire.Unsupported, "this worker does not serve operations")
	}
	s := &server{p: p, path: "/" + rand.Text(), ended: make(chan struct{}), handlers: make(chan *room, clients)}
	for range clients {
		handler, err := source.Handler()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("handler of %q: %w", p.spec.Name, err), s.closeHandlers())
		}
		made := &room{Handler: handler}
		s.all = append(s.all, made)
		s.handlers <- made
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, s.closeHandlers())
	}
	s.address = listener.Addr().String()
	s.http = &http.Server{Handler: s}
	go func() {
		_ = s.http.Serve(listener) // ends by Shutdown
		close(s.ended)
	}()
	return s, nil
}

// ServeHTTP answers one request. Requests that are more than there are handlers
// wait.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, ours := strings.CutPrefix(r.URL.Path, s.path+"/")
	ours = ours && r.Method == http.MethodGet && r.Host == s.address
	if ours && asked == "" {
		w.WriteHeader(http.StatusNoContent) // it is ready
		return
	}
	position, err := strconv.ParseInt(asked, 10, 64)
	if !ours || err != nil || position < 0 {
		http.Error(w, "want a position of the trace, at the address and path that serve answered: GET PATH/POSITION", http.StatusNotFound)
		return
	}
	free := <-s.handlers
	defer func() { s.handlers <- free }()
	rows, err := s.answer(r.Context(), free, int(position%s.p.length))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(free.body.End(rows)) // who asked is gone
}

// answer runs the operation, again while the database is busy where the
// operation says so.
func (s *server) answer(ctx context.Context, h *room, position int) (int, error) {
	do := func() (int, error) {
		h.body.Begin()
		return h.Answer(ctx, position, h.body.Row)
	}
	rows, err := do()
	if errors.Is(err, ErrBusy) && s.p.spec.RetryBusy {
		var all busies
		rows, err = all.retry(err, do)
		s.busy.Add(all.busy)
	}
	return rows, err
}

// close ends the server, and waits for the requests that are under way: their
// answers go nowhere, but the database must be at rest when it is closed.
func (s *server) close() error {
	err := s.http.Close()
	<-s.ended
	patience := time.After(shutdownPatience)
	for range s.all {
		select {
		case <-s.handlers:
		case <-patience:
			return errors.Join(err, fmt.Errorf("a request for %q does not end", s.p.spec.Name))
		}
	}
	return errors.Join(err, s.closeHandlers())
}

func (s *server) closeHandlers() error {
	var errs []error
	for _, h := range s.all {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

// Handler returns a handler of an operation with a trace, where it has any.
func (t *traced) Handler() (Handler, error) {
	source, ok := t.Operation.(Server)
	if !ok {
		return nil, wire.Errorf(wire.Unsupported, "this worker does not serve operations")
	}
	return source.Handler()
}

// Handler returns a handler that answers by the parts'.
func (m *mix) Handler() (Handler, error) {
	h := &mixHandler{mix: m}
	for _, part := range m.parts {
		handler, err := part.(*traced).Handler() // mixes are not in mixes
		if err != nil {
			return nil, errors.Join(err, h.Close())
		}
		h.parts = append(h.parts, handler)
	}
	return h, nil
}

type mixHandler struct {
	mix   *mix
	parts []Handler
}

func (h *mixHandler) Answer(ctx context.Context, position int, visit func([]string, []any) error) (int, error) {
	part := h.mix.trace.Int(0, position)
	return h.parts[part].Answer(ctx, int(h.mix.trace.Int(1, position)), visit)
}

func (h *mixHandler) Close() error {
	var errs []error
	for _, part := range h.parts {
		errs = append(errs, part.Close())
	}
	return errors.Join(errs...)
}

func (s *session) serve(request wire.Serve) (wire.Served, error) {
	if s.database == nil {
		return wire.Served{}, errNotOpen
	}
	if s.server != nil {
		return wire.Served{}, wire.Errorf(wire.Invalid, "an operation is served already")
	}
	if request.Clients < 1 {
		return wire.Served{}, wire.Errorf(wire.Invalid, "%d clients", request.Clients)
	}
	p, err := s.find(request.Operation)
	if err != nil {
		return wire.Served{}, err
	}
	made, err := p.serve(request.Clients)
	if err != nil {
		return wire.Served{}, err
	}
	s.server = made
	return wire.Served{Address: made.address, Path: made.path}, nil
}

// stats says what the process, and the open database's pools, did so far.
func (s *session) stats() wire.Stats {
	counters, _ := countersAfter()
	stats := wire.Stats{Counters: counters}
	if pooled, ok := s.database.(Pooled); ok {
		pool := pooled.Pool()
		stats.Pool = &pool
	}
	if s.server != nil {
		busy := s.server.busy.Load()
		stats.Busy = &busy
	}
	return stats
}
