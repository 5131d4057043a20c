package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/doc/chart"
	"assay/internal/history"
)

// What a page of history draws and lists at most.
const (
	maxSeries = 4
	maxPoints = 150 // of a chart; the table has all
	maxCells  = 200
)

type historyView struct {
	Head          doc.Head
	Cell, Machine string
	Machines      []string
	Problem       string
	Series        []seriesView
	More          []doc.Link
	Left          string
}

type seriesView struct {
	Name, Plan, Runs string
	Changes          []string
	Figures          []doc.Drawing
	Points           []pointView
}

type pointView struct{ Started, Version, Ratio, Run string }

// history shows cells over runs.
func (s *server) history(ctx context.Context, r *http.Request, a *answer) error {
	runs, err := s.Store.Runs(ctx)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	v := historyView{Head: doc.NewHead("History", "one cell over many runs, and where it shifts", "'self'", links("/history"), ""), Cell: q.Get("cell"), Machine: shown(q.Get("machine")),
		Machines: machines(finished(runs, ""))}
	if v.Machine == "" && len(v.Machines) > 0 {
		v.Machine = v.Machines[0]
	}
	filter := history.Filter{}
	if words := strings.Fields(v.Cell); len(words) > 0 {
		if filter, err = history.NewFilter(words); err != nil {
			v.Problem, a.status = err.Error(), http.StatusBadRequest
			return a.show("history", v)
		}
	}
	entries, err := s.entries(ctx, finished(runs, v.Machine))
	if err != nil {
		return err
	}
	h := history.New(filter)
	h.Add(entries)
	if err := v.fill(h, len(filter) > 0); err != nil {
		return err
	}
	return a.show("history", v)
}

// fill draws the first series, where some were asked for, and links to others.
func (v *historyView) fill(h *history.History, asked bool) error {
	all := h.List()
	if len(all) == 0 {
		v.Problem = "No finished run of this machine compares such a cell with a baseline."
	}
	drawn := 0
	if asked {
		drawn = min(maxSeries, len(all))
	}
	for _, one := range all[:drawn] {
		one.FindChanges()
		view, err := viewSeries(one)
		if err != nil {
			return err
		}
		v.Series = append(v.Series, view)
	}
	for _, one := range all[drawn:min(len(all), drawn+maxCells)] {
		values := url.Values{"cell": {one.Filter()}, "machine": {v.Machine}}
		v.More = append(v.More, doc.Link{Name: one.Name() + ", " + wording.Plural(len(one.Points), "run"), URL: "/history?" + values.Encode()})
	}
	if left := len(all) - drawn - len(v.More); left > 0 {
		v.Left = fmt.Sprintf("%d more cells are not listed: name the operation or the driver.", left)
	}
	return nil
}

func viewSeries(s *history.Series) (seriesView, error) {
	v := seriesView{Name: s.Name(), Plan: s.Plan, Runs: wording.Plural(len(s.Points), "run")}
	for _, p := range slices.Backward(s.Points) { // the newest first
		v.Points = append(v.Points, pointView{p.Started.UTC().Format("2006-01-02 15:04"), p.Version, wording.Times(p.Cost), p.Run})
	}
	for _, c := range s.Changes {
		v.Changes = append(v.Changes, s.Describe(c))
	}
	var err error
	v.Figures, err = doc.Drawings(seriesChart(s))
	return v, err
}

// seriesChart draws a series, a curve between two change points, with the version
// of the driver at each run.
func seriesChart(s *history.Series) *chart.Chart {
	first := max(0, len(s.Points)-maxPoints)
	label := func(at float64) string {
		p := s.Points[int(at)]
		return p.Started.UTC().Format("2 Jan") + " " + p.Version
	}
	lines := &chart.Lines{X: chart.Axis{Label: "run, with the version of the driver", Tick: label},
		Y: chart.Axis{Label: "time / time of the baseline; less is better", Tick: func(v float64) string { return wording.Digits(v) + "x" }}}
	for i, p := range s.Points[first:] {
		at := first + i
		begins := slices.ContainsFunc(s.Changes, func(c history.Change) bool { return c.At == at })
		if len(lines.Series) == 0 || begins && len(lines.Series) < chart.Series {
			lines.Series = append(lines.Series, chart.Curve{Name: "from " + p.Started.UTC().Format(time.DateOnly)})
		}
		last := &lines.Series[len(lines.Series)-1]
		last.Points = append(last.Points, chart.Point{X: float64(at), Y: doc.Drawable(p.Cost)})
	}
	title := s.Name()
	if first > 0 {
		title += fmt.Sprintf(" (the last %d of %d runs)", maxPoints, len(s.Points))
	}
	words := fmt.Sprintf("The ratio over %s", wording.Plural(len(s.Points), "run"))
	if len(s.Changes) == 0 {
		words += ", without a change point."
	} else {
		words += ", with " + wording.Plural(len(s.Changes), "change point") + ". The list above names them."
	}
	return &chart.Chart{Title: title, Description: words, Body: lines}
}

// finished are the runs of a machine that are finished; of all machines where it is
// empty.
func finished(runs []assay.Run, machine string) []assay.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r assay.Run) bool {
		return r.Status != assay.Finished || machine != "" && shown(history.Class(r)) != machine
	})
}

func machines(runs []assay.Run) []string {
	var all []string
	for _, run := range runs {
		if m := shown(history.Class(run)); m != "" && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// entries are the cells of some finished runs.
func (s *server) entries(ctx context.Context, runs []assay.Run) (all []history.Entry, err error) {
	for _, run := range runs {
		known, has := s.cells[run.ID]
		if !has {
			r, err := analysis.New(run, s.Store.Trials(ctx, run.ID))
			if err != nil {
				return nil, err
			}
			known = history.Entries(r)
			s.cells[run.ID] = known
		}
		all = append(all, known...)
	}
	return all, nil
}
