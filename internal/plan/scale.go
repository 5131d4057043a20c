package plan

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"assay"
)

// Scale holds what a plan's amount of data and its numbers of clients are multiplied by.
// 0 leaves them as they are.
type Scale struct{ Data, Clients float64 }

// times multiplies a number; what was above zero stays so.
func times(n int64, by float64) int64 {
	if by == 0 || n <= 0 {
		return n
	}
	return max(1, int64(math.Round(float64(n)*by)))
}

// Scaled is the plan with other amounts of data, or other numbers of clients: rows and
// records are multiplied, and so are the params that they are given by. It has only the
// cells that this changes, each with the one that it was in Case.Unscaled. A user's file
// cannot be scaled, nor the clients of what one client does.
func (p *Plan) Scaled(by Scale) *Plan {
	other := *p
	other.scale = by
	other.Text += fmt.Sprintf("# scaled: data by %g, clients by %g (0: as they are)\n", by.Data, by.Clients)
	return &other
}

// point is a point of a workload's params, as given and as scaled.
type point struct{ given, scaled env }

// points returns the points of a workload. Two that scaling makes one are one.
func (p *Plan) points(w *Workload) []point {
	names := w.sizes()
	var all []point
	for _, given := range (env{}).with(w.Params) {
		scaled := maps.Clone(given)
		for _, name := range names {
			if n, ok := parseWhole(given[name]); ok && p.scale.Data != 0 {
				scaled[name] = strconv.FormatInt(times(n, p.scale.Data), 10)
			}
		}
		if !slices.ContainsFunc(all, func(other point) bool { return maps.Equal(other.scaled, scaled) }) {
			all = append(all, point{given, scaled})
		}
	}
	return all
}

// sizes are the params by which a workload says how many rows or records it has.
func (w *Workload) sizes() []string {
	var names []string
	for _, e := range w.spec.Data.entries {
		names = append(names, seriesParams(e.value.value)...)
	}
	return append(names, w.spec.Records.N.paramOf())
}

// size resolves how many records there are. What a param gives is scaled already.
func (r *resolver) size(n number) int64 {
	const what = "n"
	records := r.number(n, what, 1, maxRows, 1)
	if n.paramOf() == "" && r.scale != 0 {
		scaled := times(records, r.scale)
		r.resized = r.resized || scaled != records
		r.m.within(n.place, what, scaled, 1, maxRows)
		records = scaled
	}
	return records
}

// before is a point of a workload's and its operation's params as it was given.
func (at point) before(params env) env {
	given := maps.Clone(params)
	for name, value := range at.given {
		if params[name] == at.scaled[name] {
			given[name] = value
		}
	}
	return given
}

// population is a number of clients, as given and as scaled, in each of so many processes.
type population struct{ given, clients, processes int }

// all is the number of clients of all processes.
func (p population) all() int { return p.clients * p.processes }

// populations are the numbers of clients and processes of an operation; none where scaling
// changes none of them.
func (p *Plan) populations(m *mistakes, o *operation) []population {
	var all []population
	for _, given := range o.clients(m, p) {
		clients := given
		if p.scale.Clients != 0 {
			clients = int(times(int64(given), p.scale.Clients))
			if clients == given || o.oneClient() || slices.ContainsFunc(all, func(other population) bool { return other.clients == clients }) {
				continue
			}
		}
		for _, n := range counts(m, o.Processes, "processes", maxProcesses, p.Processes) {
			all = append(all, population{given, clients, n})
		}
	}
	return all
}

// oneClient reports whether only one client can do an operation.
func (o *operation) oneClient() bool {
	return o.calls() || slices.ContainsFunc(o.Transaction.items, func(s scalar) bool { return s.value == "whole" })
}

// most is the largest number of clients of all processes.
func most(all []population) int {
	n := 0
	for _, p := range all {
		n = max(n, p.all())
	}
	return n
}

// unscaled is the cell of a case before its plan was scaled.
func (p *Plan) unscaled(cell assay.Cell, v variant, population population, pool Pool) assay.Cell {
	if p.scale == (Scale{}) {
		return assay.Cell{}
	}
	v.params = v.given
	population.clients = population.given
	before := p.cell(v, population, pool)
	before.Statement, before.Transaction, before.Rate = cell.Statement, cell.Transaction, cell.Rate
	before.Begin = cell.Begin
	return before
}
