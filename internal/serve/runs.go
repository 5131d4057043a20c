package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/history"
	"assay/internal/lab"
	"assay/internal/report"
	"assay/internal/store"
)

const (
	// pageLength is how many runs a page lists.
	pageLength = 100
	// maxPage keeps the numbers of a page's runs below the largest int.
	maxPage = math.MaxInt/pageLength - 1
)

// runsQuery selects runs; empty: all.
type runsQuery struct {
	Plan, Driver, Machine string
	Page                  int // from 0
}

func newRunsQuery(values url.Values) runsQuery {
	page, err := strconv.Atoi(values.Get("page"))
	if err != nil || page < 0 || page > maxPage {
		page = 0
	}
	return runsQuery{shown(values.Get("plan")), shown(values.Get("driver")), shown(values.Get("machine")), page}
}

func (q runsQuery) has(run assay.Run) bool {
	driver := func(t assay.Target) bool { return shown(t.Driver) == q.Driver }
	return (q.Plan == "" || q.Plan == shown(run.Plan)) && (q.Machine == "" || q.Machine == shown(history.Class(run))) &&
		(q.Driver == "" || slices.ContainsFunc(run.Targets, driver))
}

// link is the address of another page of the same selection.
func (q runsQuery) link(page int) string {
	values := url.Values{"page": {strconv.Itoa(page)}}
	for name, value := range map[string]string{"plan": q.Plan, "driver": q.Driver, "machine": q.Machine} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return "/?" + values.Encode()
}

type runsView struct {
	Head                     doc.Head
	Query                    runsQuery
	Plans, Drivers, Machines []string
	Runs                     []runLine
	Shown, Newer, Older      string
	Import                   bool
}

type runLine struct{ ID, Plan, Started, Status, Machine, Targets string }

func (s *server) runs(ctx context.Context, r *http.Request, a *answer) error {
	all, err := s.Store.Runs(ctx)
	if err != nil {
		return err
	}
	v := runsView{Head: doc.NewHead("Runs", wording.Plural(len(all), "run")+" in the store", "'self'", links("/"), ""), Query: newRunsQuery(r.URL.Query()),
		Machines: machines(all), Import: s.AllowImport}
	for _, run := range all {
		v.Plans = append(v.Plans, shown(run.Plan))
		for _, t := range run.Targets {
			v.Drivers = append(v.Drivers, shown(t.Driver))
		}
	}
	for _, list := range []*[]string{&v.Plans, &v.Drivers, &v.Machines} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	v.list(slices.DeleteFunc(all, func(run assay.Run) bool { return !v.Query.has(run) }))
	return a.show("runs", v)
}

// list fills in the page of those runs that is asked for.
func (v *runsView) list(runs []assay.Run) {
	first := min(v.Query.Page*pageLength, len(runs))
	last := min(first+pageLength, len(runs))
	for _, run := range runs[first:last] {
		v.Runs = append(v.Runs, newRunLine(run))
	}
	v.Shown = fmt.Sprintf("%d to %d of %s", min(first+1, last), last, wording.Plural(len(runs), "run"))
	if first > 0 {
		v.Newer = v.Query.link(v.Query.Page - 1)
	}
	if last < len(runs) {
		v.Older = v.Query.link(v.Query.Page + 1)
	}
}

// notFound makes an unknown run the reader's to change.
func notFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return &problem{http.StatusNotFound, errors.New("the store has no such run, or more than one that begins so")}
	}
	return err
}

func (s *server) run(ctx context.Context, r *http.Request, a *answer) error {
	result, err := lab.Analyze(ctx, s.Store, r.PathValue("id"))
	if err != nil {
		return notFound(err)
	}
	page := report.New(result)
	page.Links = append(links(""), doc.Link{Name: "Export this run", URL: "/runs/" + url.PathEscape(result.Run.ID) + "/export"},
		doc.Link{Name: "Compare parts of this run", URL: "/compare?run=" + url.QueryEscape(result.Run.ID)})
	return page.Write(&a.body, "html")
}

func (s *server) export(ctx context.Context, r *http.Request, a *answer) error {
	run, err := s.Store.Export(ctx, r.PathValue("id"), &a.body)
	if err != nil {
		return notFound(err)
	}
	a.header.Set("Content-Type", "application/octet-stream")
	a.header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": run.ID + ".assay"}))
	return nil
}

// maxImport is how large a file may be that is sent, packed and unpacked.
const maxImport = 256 << 20

// importRun adds a run that is sent. It is received first: a slow sender would keep
// the store locked.
func (s *server) importRun(ctx context.Context, r *http.Request, a *answer) error {
	largest := cmp.Or(s.largest, maxImport)
	r.Body = http.MaxBytesReader(nil, r.Body, largest)
	parts, err := r.MultipartReader()
	if err != nil {
		return &problem{http.StatusBadRequest, errors.New("send the file by the form of the page of runs")}
	}
	part, err := parts.NextPart()
	if err != nil || part.FormName() != "run" {
		return &problem{http.StatusBadRequest, errors.New("no file was sent")}
	}
	received, err := os.CreateTemp("", "assay-import-*")
	if err != nil {
		return err
	}
	defer received.Close()
	if err := os.Remove(received.Name()); err != nil { // it is gone with this process
		return err
	}
	if _, err := io.Copy(received, part); err != nil {
		return notReceived(err)
	}
	if _, err := received.Seek(0, io.SeekStart); err != nil {
		return err
	}
	run, _, err := s.Store.Import(ctx, received, largest)
	if errors.As(err, new(*store.ImportError)) {
		return &problem{http.StatusBadRequest, errors.New("the file was not imported: " + err.Error())}
	}
	if err != nil {
		return err
	}
	a.header.Set("Location", "/runs/"+url.PathEscape(run.ID))
	a.status = http.StatusSeeOther
	return nil
}

// notReceived makes what the sender did the sender's to change: the rest, such as a
// full disk, is this machine's.
func notReceived(err error) error {
	if errors.As(err, new(*http.MaxBytesError)) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &problem{http.StatusBadRequest, fmt.Errorf("the file was not received: %w", err)}
	}
	return err
}
