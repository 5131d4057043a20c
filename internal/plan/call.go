package plan

import (
	"slices"

	"assay"
)

// Calls reports whether the plan has operations of a worker's own.
func (p *Plan) Calls() bool {
	return slices.ContainsFunc(p.Workloads, func(w Workload) bool { return w.calls() })
}

// calls reports whether the workload has nothing but calls, and their sums.
func (w *Workload) calls() bool {
	return !w.operations.any(func(o *operation) bool { return !o.calls() })
}

// callsAlone checks what stands beside the calls of a workload.
func (c checker) callsAlone(w *workload) {
	if !c.operations.any((*operation).calls) {
		return
	}
	for _, e := range c.operations.entries {
		o := &e.value
		if !o.calls() {
			c.m.at(e.key.place, "%s is in a workload with calls, which may have only calls and their sum", e.key.value)
		}
		if o.Sum.all.set() && !c.operations.any(func(o *operation) bool { return o.Call.set() }) {
			c.m.at(o.Sum.place, "sum needs calls in its workload")
		}
	}
	for _, at := range []place{w.Schema.place, w.File.place, w.Records.place, w.Data.place} {
		if at.set() {
			c.m.at(at, "a workload with calls has none of schema, file, records and data: the worker makes its own tables")
		}
	}
}

// call checks the keys of a call as far as no values of params are needed.
func (c checker) call(o *operation) {
	if !o.calls() {
		return
	}
	for _, s := range o.Transaction.items {
		if s.set() && s.value != "none" && s.value != "1" {
			c.m.at(s.place, "a call is in a transaction or not: transaction is none or 1")
		}
	}
	if len(c.plan.Clients) != 1 || c.plan.Clients[0] != 1 {
		c.m.at(o.place, "a call is made by one client, and the plan has others: leave clients out")
	}
}

// call resolves an operation of the worker's own.
func (r *resolver) call(name string, o *operation) assay.Operation {
	op := assay.Operation{Name: name, RetryBusy: o.Busy.value == "retry", Changes: o.Changes.isTrue(), Count: 1}
	if o.Count.all.set() {
		op.Count = r.count(o, op.Changes)
	}
	step := assay.Step{Call: o.Call.value, Query: true, Rows: -1, Returns: values[assay.Type](o.Answer.Returns)}
	n, whole := parseWhole(r.env["n"])
	if !whole || n < 1 || n > maxCalls {
		r.m.at(o.place, "a call needs the param n, its size: 1 to %d", maxCalls)
	}
	step.N = int(n)
	step.SQL, _ = r.query(o.Answer.SQL, "an answer")
	op.Steps = []assay.Step{step}
	return op
}

// maxCalls bounds the size of a call: some do its cube of work.
const maxCalls = 1024

// minBlock returns how many operations a block of the variant has at least. A call is
// as long as its size makes it, and a sum is one unit of work.
func (v *variant) minBlock(t transaction, clients int) int {
	if v.operation.Call() || len(v.operation.Terms) > 0 {
		return 1
	}
	return t.minBlock(clients)
}

// restrict notes the drivers that a profile is for.
func (p *Plan) restrict(m *mistakes, profile string, drivers list[text]) {
	if drivers.set() {
		known := slices.Concat(p.Drivers, driverNames(p.Drivers))
		slices.Sort(known)
		p.drivers[profile] = m.words(drivers.items, "driver", slices.Compact(known))
	}
}

// isFor reports whether a profile is for a driver: a build that it names, or a
// build that the plan does not have of a driver that it names.
func (p *Plan) isFor(profile, driver string) bool {
	names, restricted := p.drivers[profile]
	named := assay.ParseDriverName(driver)
	build := named.String()
	return !restricted || slices.Contains(names, build) || slices.Contains(names, named.Name) && !slices.Contains(p.Drivers, build)
}
