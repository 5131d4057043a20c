package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay"
)

// maxCells bounds what a plan may expand to.
const maxCells = 20_000

// Expand returns the plan's cases in a fixed order: by workload, the
// workload's params, operation, the operation's params, clients, processes, pool,
// statement, transaction, begin, rate, profile and driver. drivers are
// NAME[@VERSION][:OPTION...] and replace the plan's, unless there are none. Cases share
// memory: they are for reading.
//
// A workload's settings of file scope, for example page_size, stand in its
// Dataset.FileSettings and still in its profile, by which they are proved.
func (p *Plan) Expand(drivers []string) ([]assay.Case, error) {
	if len(drivers) == 0 {
		drivers = p.Drivers
	}
	if err := p.expandable(drivers); err != nil {
		return nil, err
	}
	m := p.mistakes()
	var cases []assay.Case
	for _, v := range p.resolve(m) {
		if !v.spec.Only.set() {
			cases = append(cases, p.cases(m, v, drivers)...)
		}
	}
	linkTotals(m, cases, p.sums())
	if err := m.err(); err != nil {
		return nil, err
	}
	return cases, nil
}

// expandable says why the plan cannot be expanded with these drivers.
func (p *Plan) expandable(drivers []string) error {
	if len(drivers) == 0 {
		return fmt.Errorf("plan %s names no drivers: say which to measure", p.Name)
	}
	known := map[assay.DriverName]bool{}
	for _, d := range drivers {
		if !driverPattern().MatchString(d) {
			return fmt.Errorf("a driver is NAME[@VERSION][:OPTION[=VALUE]...], not %q", d)
		}
		name := assay.ParseDriverName(d)
		if known[name] {
			return fmt.Errorf("driver %q is listed twice", d)
		}
		known[name] = true
	}
	if n := p.size(len(drivers)); n > maxCells {
		return errors.New(tooLarge(n))
	}
	return nil
}

func tooLarge(cells float64) string {
	return fmt.Sprintf("the plan has %.0f cells, more than %d: leave values out", cells, maxCells)
}

func (p *Plan) bounded(m *mistakes) bool {
	n := p.size(max(1, len(p.Drivers)))
	if n > maxCells {
		m.at(place{}, "%s", tooLarge(n))
		return false
	}
	return true
}

// size is the number of cells that a plan can have at most.
func (p *Plan) size(drivers int) float64 {
	total := 0.0
	for _, w := range p.Workloads {
		points := 1.0
		for _, axis := range w.Params {
			points *= float64(len(axis.Values))
		}
		for _, e := range w.operations.entries {
			total += points * p.operationSize(&e.value) * float64(drivers)
		}
	}
	return total
}

func (p *Plan) operationSize(o *operation) float64 {
	axes := []int{cmp.Or(len(o.Clients.items), len(p.Clients)), len(o.Rate.items), cmp.Or(len(o.Processes.items), len(p.Processes)), cmp.Or(len(o.Pool.items), len(p.Pools)), cmp.Or(len(o.Begin.items), len(p.Begins)),
		len(o.Statement.items), len(o.Transaction.items), cmp.Or(len(o.Profiles.items), len(p.Profiles)),
	}
	for _, e := range o.Params.entries {
		axes = append(axes, len(e.value.items))
	}
	size := 1.0
	for _, n := range axes {
		size *= float64(max(1, n))
	}
	return size
}

// takes reports whether the operation is measured at a point of the workload's params.
func (o *operation) takes(point env) bool {
	for _, e := range o.Params.entries {
		value, known := point[e.key.value]
		if known && !slices.ContainsFunc(e.value.items, func(s scalar) bool { return s.ofAxis() == value }) {
			return false
		}
	}
	return true
}

// variant is an operation at one point of the params.
type variant struct {
	workload  string
	params    env
	given     env // the params before the plan was scaled
	dataset   assay.Dataset
	spec      *operation
	operation assay.Operation
	counts    map[string]int // of operations, by profile, where the plan says so
}

// resolve returns all operations at all points of their params.
func (p *Plan) resolve(m *mistakes) []variant {
	var all []variant
	for i := range p.Workloads {
		w := &p.Workloads[i]
		for _, outer := range p.points(w) {
			r := &resolver{m: m, env: outer.scaled, axes: w.Params, scale: p.scale.Data, resized: !maps.Equal(outer.given, outer.scaled)}
			d := r.dataset(p, w)
			if p.scale.Data != 0 && !r.resized {
				continue
			}
			for j := range w.operations.entries {
				e := &w.operations.entries[j]
				if !e.value.takes(outer.given) {
					continue
				}
				for _, params := range outer.scaled.with(e.value.axes) {
					at := &resolver{m: m, env: params, axes: slices.Concat(w.Params, e.value.axes), kv: r.kv}
					op := at.any(e.key.value, &e.value, w.operations)
					op.Cold = e.value.Cache.set() && params["cache"] == "cold"
					if op.Cold && op.Changes {
						m.at(e.value.Cache.place, "cache: cold is for operations that change nothing")
					}
					op.Serve = e.value.Serve.set()
					v := variant{w.Name, params, outer.before(params), d, &e.value, op, at.counts(&e.value)}
					clients := most(p.populations(m, &e.value))
					v.transacts(m, v.transactions(m, clients))
					at.retries(v)
					at.savepoints(v)
					v.latest(m, clients)
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// any resolves an operation of any form.
func (r *resolver) any(name string, o *operation, others *dict[operation]) assay.Operation {
	switch {
	case o.Mix.set():
		return r.mix(name, o, others)
	case o.KV.set() && r.kv != nil:
		return r.storeOperation(name, o)
	case o.Sum.set():
		return r.total(name, o, others)
	case o.Call.set():
		return r.call(name, o)
	case o.statements():
		return r.operation(name, o)
	}
	return assay.Operation{Name: name}
}

// with returns the env at all points of more axes, the last axis fastest.
func (e env) with(axes []Axis) []env {
	all := []env{e}
	for _, axis := range axes {
		var more []env
		for _, point := range all {
			for _, value := range axis.Values {
				next := maps.Clone(point)
				next[axis.Name] = value
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}
