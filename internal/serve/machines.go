package serve

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/doc/chart"
	"assay/internal/history"
	"assay/internal/lab"
)

// maxForests is how many cells a page of machines draws at most.
const maxForests = 12

type machinesView struct {
	Head       doc.Head
	Cell, Plan string
	Plans      []string
	Problem    string
	Age        string
	Cells      doc.Document
	Left       int
	Unknown    int // runs that do not say which machine made them
}

// machines shows what holds over the machines of the store.
func (s *server) machines(ctx context.Context, r *http.Request, a *answer) error {
	runs, err := s.Store.Runs(ctx)
	if err != nil {
		return err
	}
	runs = finished(runs, "")
	q := r.URL.Query()
	v := machinesView{Head: doc.NewHead("Machines", "what holds over the machines of the store", "'self'", links("/machines"), ""), Cell: q.Get("cell"), Plan: shown(q.Get("plan"))}
	for _, run := range runs {
		if plan := shown(run.Plan); !slices.Contains(v.Plans, plan) {
			v.Plans = append(v.Plans, plan)
		}
	}
	if v.Plan == "" && len(v.Plans) > 0 {
		v.Plan = v.Plans[0]
	}
	filter := history.Filter{}
	if words := strings.Fields(v.Cell); len(words) > 0 {
		if filter, err = history.NewFilter(words); err != nil {
			v.Problem, a.status = err.Error(), http.StatusBadRequest
			return a.show("machines", v)
		}
	}
	known, age, err := s.library.across(ctx, slices.DeleteFunc(runs, func(r assay.Run) bool { return shown(r.Plan) != v.Plan }))
	if err != nil {
		return err
	}
	v.Age, v.Unknown = a.tell(age), known.unknown
	if age == none {
		return a.show("machines", v)
	}
	v.fill(history.Select(known.all, filter))
	return a.show("machines", v)
}

func (v *machinesView) fill(all []*history.Across) {
	if len(all) == 0 {
		v.Problem = "No two machines compare such a cell with the same baseline by the newest text of this plan."
	}
	v.Left = max(0, len(all)-maxForests)
	for _, one := range all[:len(all)-v.Left] {
		v.Cells.Add(doc.Heading, "%s", one.Name())
		v.Cells.Add(doc.Paragraph, "Plan %s: %s.", one.Plan, one.Verdict())
		v.Cells.AddChart(forest(one))
		v.Cells.AddList("Machines that failed a check (!), and count all the same", one.Marked())
		v.Cells.AddList("Hints, which chance can give too", one.Hints)
	}
}

// forest draws a row for each machine, and below them what holds over them.
func forest(a *history.Across) *chart.Chart {
	rows := &chart.Rows{Panels: []chart.Panel{{Line: 1, Axis: chart.Axis{Label: "time / time of the baseline; less is better",
		Tick: func(v float64) string { return wording.Digits(v) + "x" }}}}, Marks: []string{"ratio with its 95 % interval"}}
	add := func(section, name string, p history.Point) {
		cell := chart.Cell{Marks: []chart.Interval{doc.Drawable(p.Cost)}, Text: wording.Times(p.Cost)}
		rows.Rows = append(rows.Rows, chart.Row{Section: section, Name: name, Cells: []chart.Cell{cell}})
	}
	for i, p := range a.Points {
		name := a.Machine(i)
		if len(a.Marks[i]) > 0 {
			name += " !"
		}
		add("machines", name, p)
	}
	if a.Over.Next.Known() { // the interval of two machines would hide theirs
		add("over machines", "like these", history.Point{Cost: a.Over.Ratio})
		add("over machines", "one more such machine", history.Point{Cost: a.Over.Next})
	}
	return &chart.Chart{Title: a.Name(), Description: a.Verdict() + ".", Body: rows}
}

// across compares the machines that made the runs of a plan.
func (l *library) across(ctx context.Context, runs []assay.Run) (acrossRuns, age, error) {
	if len(runs) == 0 {
		return acrossRuns{}, current, nil
	}
	l.mutex.Lock()
	w := l.machines[runs[0].Plan]
	if w == nil {
		w = &work[acrossRuns]{}
		l.machines[runs[0].Plan] = w
	}
	l.mutex.Unlock()
	return ask(ctx, &l.slow, w, runs, func(ctx context.Context) (acrossRuns, error) {
		results, unknown, err := lab.Machines(ctx, l.store, runs)
		if err != nil {
			return acrossRuns{}, err
		}
		return acrossRuns{history.OverMachines(history.Filter{}, results), unknown}, nil
	})
}

// acrossRuns is what the runs of a plan say about machines.
type acrossRuns struct {
	all     []*history.Across
	unknown int // runs that do not say which machine made them
}
