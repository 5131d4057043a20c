package plan

import (
	"slices"

	"assay"
)

// total checks a sum over operations as far as no cells are needed.
func (c checker) total(o *operation) {
	if o.Sum.terms.set() && len(o.Sum.terms.entries) == 0 {
		c.m.at(o.Sum.place, "the sum has no operation")
	}
	for _, e := range o.Sum.terms.entries {
		part, ok := c.operations.get(e.key.value)
		switch {
		case !ok:
			c.m.unknown(e.key.place, "operation", e.key.value, c.operations.names())
		case part.Sum.set() || part.Call.set() || part.Serve.set():
			c.m.at(e.key.place, "%s is a sum, a call or served: a sum has other operations", e.key.value)
		case part.Only.set():
			c.m.at(e.key.place, "%s is measured in a mix only, and a sum needs its own time", e.key.value)
		case part.Per.set():
			c.m.at(e.key.place, "%s is measured per row: a sum needs the time of the operation", e.key.value)
		}
	}
	for _, k := range []struct {
		key string
		place
	}{{"statement", o.Statement.place}, {"transaction", o.Transaction.place}, {"count", o.Count.place}, {"per", o.Per.place},
		{"busy", o.Busy.place}, {"phases", o.Phases.place}, {"cache", o.Cache.place}, {"check", o.Check.place}, {"serve", o.Serve.place}} {
		if o.Sum.terms.set() && k.set() {
			c.m.at(k.place, "%s is for the operations of a sum, not for the sum", k.key)
		}
	}
}

// total resolves a sum over operations, but for the cells that it sums.
func (r *resolver) total(name string, o *operation, others *dict[operation]) assay.Operation {
	op := assay.Operation{Name: name, Count: 1}
	for _, e := range o.Sum.terms.entries {
		part, ok := others.get(e.key.value)
		if !ok || part.Sum.set() {
			continue // reported where names are checked
		}
		times, _ := r.env.integer(r.m, e.value, "how many times the operation is done", 1, maxCount)
		op.Terms = append(op.Terms, assay.Term{Operation: e.key.value, Times: int(times)})
		if r.env.has(part.axes) {
			op.Changes = op.Changes || r.any(e.key.value, part, others).Changes
		}
	}
	return op
}

// meet meets all mistakes that values of params, and the cells, bring.
func (p *Plan) meet(m *mistakes) {
	variants, places := p.resolve(m), p.sumPlaces()
	if len(places) == 0 || m.err() != nil {
		return
	}
	var cases []assay.Case
	for _, v := range variants {
		if !v.spec.Only.set() {
			cases = append(cases, p.cases(m, v, []string{"any"})...)
		}
	}
	linkTotals(m, cases, places)
}

// sumPlaces are where sums over operations stand, by workload and operation.
func (p *Plan) sumPlaces() map[[2]string]place {
	places := map[[2]string]place{}
	for _, w := range p.Workloads {
		for _, e := range w.operations.entries {
			if e.value.Sum.terms.set() {
				places[[2]string{w.Name, e.key.value}] = e.value.Sum.place
			}
		}
	}
	return places
}

// linkTotals finds the one cell that each sum has of each of its operations.
func linkTotals(m *mistakes, cases []assay.Case, places map[[2]string]place) {
	if len(places) == 0 {
		return
	}
	byOperation := map[[2]string][]assay.Cell{}
	for _, c := range cases {
		key := [2]string{c.Cell.Workload, c.Cell.Operation}
		byOperation[key] = append(byOperation[key], c.Cell)
	}
	for i := range cases {
		c := &cases[i]
		at := places[[2]string{c.Cell.Workload, c.Cell.Operation}]
		c.Operation.Terms = slices.Clone(c.Operation.Terms)
		for k := range c.Operation.Terms {
			term := &c.Operation.Terms[k]
			found := slices.DeleteFunc(slices.Clone(byOperation[[2]string{c.Cell.Workload, term.Operation}]), func(part assay.Cell) bool { return !sums(c.Cell, part) })
			switch {
			case len(found) == 0:
				m.at(at, "the sum needs a cell of %s with %d clients, pool %d, profile %s and its params, and there is none: give both the same clients, pool, profiles and params", term.Operation, c.Cell.Clients, c.Cell.Pool, c.Cell.Profile)
			case len(found) > 1:
				m.at(at, "the sum has several cells of %s to choose from: give the sum the same params, and %[1]s one statement and one transaction", term.Operation)
			default:
				term.Peer = found[0].Peer()
			}
		}
	}
}

// sums reports whether a cell is one that a sum can have: alike in all that the sum
// says.
func sums(total, part assay.Cell) bool {
	for name, value := range part.Params {
		if own, has := total.Params[name]; has && own != value {
			return false
		}
	}
	return sameTarget(total, part) && total.Clients == part.Clients && total.Pool == part.Pool && total.Idle == part.Idle
}

func sameTarget(a, b assay.Cell) bool {
	return a.DriverName() == b.DriverName() && a.Profile == b.Profile
}

// withTerms adds the cells of selected sums, in the order of all cases.
func withTerms(all, selected []assay.Case) []assay.Case {
	keys, needed := map[string]bool{}, map[string][]assay.Cell{}
	for _, c := range selected {
		keys[c.Cell.Key()] = true
		for _, term := range c.Operation.Terms {
			needed[term.Peer] = append(needed[term.Peer], c.Cell)
		}
	}
	if len(needed) == 0 {
		return selected
	}
	var with []assay.Case
	for _, c := range all {
		if keys[c.Cell.Key()] || slices.ContainsFunc(needed[c.Cell.Peer()], func(total assay.Cell) bool { return sameTarget(total, c.Cell) }) {
			with = append(with, c)
		}
	}
	return with
}
