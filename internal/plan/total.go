package plan

import (
	"slices"

	"assay"
)

// total checks a sum over operations as far as no cells are needed.
func (c checker) total(o *operation) {
	for _, e := range o.Sum.byName.entries {
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
}

// total resolves a sum over operations, but for the cells that it sums.
func (r *resolver) total(name string, o *operation, others *dict[operation]) assay.Operation {
	op := assay.Operation{Name: name, Count: 1, Changes: o.Sum.all.set()}
	for _, e := range o.Sum.byName.entries {
		part, ok := others.get(e.key.value)
		if !ok || part.Sum.set() {
			continue // reported where names are checked
		}
		times := r.number(e.value, "how many times the operation is done", 1, maxCount, 0)
		op.Terms = append(op.Terms, assay.Term{Operation: e.key.value, Times: int(times)})
		if r.env.has(part.axes) {
			op.Changes = op.Changes || r.any(e.key.value, part, others).Changes
		}
	}
	return op
}

// meet meets all mistakes that values of params, and the cells, bring.
func (p *Plan) meet(m *mistakes) {
	variants, sums := p.resolve(m), p.sums()
	if len(sums) == 0 || m.err() != nil {
		return
	}
	var cases []assay.Case
	for _, v := range variants {
		if !v.spec.Only.set() {
			cases = append(cases, p.cases(m, v, []string{"any"})...)
		}
	}
	linkTotals(m, cases, sums)
}

// sums returns what the plan's text says of its sums, by workload and operation.
func (p *Plan) sums() map[[2]string]*numbers {
	sums := map[[2]string]*numbers{}
	for _, w := range p.Workloads {
		for i := range w.operations.entries {
			if e := &w.operations.entries[i]; e.value.Sum.set() {
				sums[[2]string{w.Name, e.key.value}] = &e.value.Sum
			}
		}
	}
	return sums
}

// linkTotals finds the cells that each sum adds up.
func linkTotals(m *mistakes, cases []assay.Case, sums map[[2]string]*numbers) {
	for i := range cases {
		c := &cases[i]
		s, is := sums[[2]string{c.Cell.Workload, c.Cell.Operation}]
		if !is {
			continue
		}
		var parts []*assay.Case
		for k := range cases {
			if sameTarget(c.Cell, cases[k].Cell) && c.Cell.Adds(cases[k].Cell) {
				parts = append(parts, &cases[k])
			}
		}
		if s.all.set() {
			linkCalls(m, s.place, c, parts)
		} else {
			linkTerms(m, s.place, c, parts)
		}
	}
}

// linkCalls has a sum add up all calls with its params, each once.
func linkCalls(m *mistakes, at place, c *assay.Case, parts []*assay.Case) {
	for _, part := range parts {
		if part.Operation.Call() && part.Cell.ParamString() == c.Cell.ParamString() {
			c.Operation.Terms = append(c.Operation.Terms, assay.Term{Operation: part.Cell.Operation, Peer: part.Cell.Peer(), Times: 1})
		}
	}
	if len(c.Operation.Terms) == 0 {
		m.at(at, "the sum needs a call with profile %s and its params, and there is none: give both the same profiles and params", c.Cell.Profile)
	}
}

// linkTerms finds the one cell that a sum has of each of its operations.
func linkTerms(m *mistakes, at place, c *assay.Case, parts []*assay.Case) {
	c.Operation.Terms = slices.Clone(c.Operation.Terms)
	for k := range c.Operation.Terms {
		term := &c.Operation.Terms[k]
		found := slices.DeleteFunc(slices.Clone(parts), func(part *assay.Case) bool { return part.Cell.Operation != term.Operation })
		switch {
		case len(found) == 0:
			m.at(at, "the sum needs a cell of %s with %d clients, pool %d, profile %s and its params, and there is none: give both the same clients, pool, profiles and params", term.Operation, c.Cell.Clients, c.Cell.Pool, c.Cell.Profile)
		case len(found) > 1:
			m.at(at, "the sum has several cells of %s to choose from: give the sum the same params, and %[1]s one statement, one transaction and one begin", term.Operation)
		default:
			term.Peer = found[0].Cell.Peer()
		}
	}
}

func sameTarget(a, b assay.Cell) bool {
	return a.DriverName() == b.DriverName() && a.Profile == b.Profile
}

// withTerms adds the cells of selected sums, in the order of all cases. Those that were
// not selected themselves are marked.
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
		c.ForSum = !keys[c.Cell.Key()]
		if !c.ForSum || slices.ContainsFunc(needed[c.Cell.Peer()], func(total assay.Cell) bool { return sameTarget(total, c.Cell) }) {
			with = append(with, c)
		}
	}
	return with
}
