// Package serve shows a store as pages: its runs, their reports, comparisons and histories
// of cells, from a server or as files.
package serve

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"assay/internal/doc"
	"assay/internal/history"
	"assay/internal/store"
	"assay/internal/sys/guard"
	"assay/internal/sys/printable"
)

//go:embed html/pages.html
var pages string

// parsed has the parts of a report's page and the pages of this package.
var parsed = template.Must(template.Must(doc.Parts()).Parse(pages))

const htmlType = "text/html; charset=utf-8"

// Options say what is served, and to whom.
type Options struct {
	Store       *store.Store
	AllowImport bool
	Token       string // that everybody has to give; empty: none, for addresses of this machine only
	Log         io.Writer

	largest int64 // how many bytes a file may have that is sent; 0: maxImport
}

type server struct {
	Options
	hosts []string                   // names of this server; empty: any
	mutex sync.Mutex                 // of pages, which are made one at a time
	cells map[string][]history.Entry // of finished runs, by ID: they do not change
}

// Time that a client has, so that a slow one does not keep what it occupies.
const (
	headerPatience  = 10 * time.Second
	requestPatience = 5 * time.Minute
	stopPatience    = 5 * time.Second
	maxHeader       = 16 << 10
)

// Serve answers on the listener until ctx ends.
func Serve(ctx context.Context, l net.Listener, o Options) error {
	s := &server{Options: o, cells: map[string][]history.Entry{}}
	if o.Token == "" {
		s.hosts = localNames(l.Addr())
	}
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: headerPatience, ReadTimeout: requestPatience, WriteTimeout: requestPatience,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(o.Log, "assay: serve: ", 0), BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- guard.Error(func() error { return web.Serve(l) }) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	return errors.Join(web.Shutdown(late), ctx.Err())
}

// pageNames are the links at the head of every page.
var pageNames = []doc.Link{{Name: "Runs", URL: "/"}, {Name: "Compare", URL: "/compare"}, {Name: "History", URL: "/history"}}

// links returns the links of pageNames, with the current page marked.
func links(current string) []doc.Link {
	all := append([]doc.Link(nil), pageNames...)
	for i := range all {
		all[i].Current = all[i].URL == current
	}
	return all
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", s.page(s.runs))
	mux.Handle("GET /runs/{id}", s.page(s.run))
	mux.Handle("GET /runs/{id}/export", s.page(s.export))
	mux.Handle("GET /compare", s.page(s.compare))
	mux.Handle("GET /history", s.page(s.history))
	if s.AllowImport {
		mux.Handle("POST /import", s.page(s.importRun))
	}
	return s.guarded(mux)
}

// problem is an error that the reader of a page can do something about.
type problem struct {
	status int
	err    error
}

func (p *problem) Error() string { return p.err.Error() }
func (p *problem) Unwrap() error { return p.err }

// page makes a handler of a function that writes a page or fails. Nothing is sent
// before the page is whole, and no page has characters of a store's text that a browser
// or a terminal obeys.
func (s *server) page(make func(ctx context.Context, r *http.Request, w *answer) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{header: w.Header(), status: http.StatusOK}
		a.header.Set("Content-Type", htmlType)
		if err := guard.Error(func() error {
			if r.Method != http.MethodPost { // what is sent may come slowly
				s.mutex.Lock()
				defer s.mutex.Unlock()
			}
			return make(r.Context(), r, a)
		}); err != nil {
			s.fail(a, err)
		}
		body := a.body.Bytes()
		if a.header.Get("Content-Type") == htmlType {
			body = []byte(shown(string(body)))
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(body) // a client that went away is told nothing
	})
}

// shown is a text as pages have it, and as their forms send it back.
func shown(text string) string { return printable.String(text) }

// answer is a page that is being made.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) show(name string, view any) error {
	return parsed.ExecuteTemplate(&a.body, name, view)
}

// fail replaces the page by one that says what went wrong. What the reader cannot
// change is in the log only: it may name files.
func (s *server) fail(a *answer, err error) {
	var p *problem
	text, status := "The page could not be made; the log of assay serve says why.", http.StatusInternalServerError
	var panicked *guard.Panic
	switch {
	case errors.As(err, &p):
		text, status = p.Error(), p.status
	case errors.As(err, &panicked):
		fmt.Fprintf(s.Log, "assay: serve: %v\n%s\n", err, panicked.Stack)
	default:
		fmt.Fprintln(s.Log, "assay: serve:", err)
	}
	a.body.Reset()
	a.status = status
	a.header.Del("Content-Disposition")
	a.header.Set("Content-Type", htmlType)
	view := struct {
		Head    doc.Head
		Problem string
	}{doc.NewHead(http.StatusText(status), "", "'self'", links(""), ""), text}
	if err := a.show("problem", view); err != nil {
		fmt.Fprintln(s.Log, "assay: serve:", err)
	}
}
