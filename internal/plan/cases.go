package plan

import (
	"cmp"
	"slices"

	"assay"
	"assay/kit/wire"
)

type transaction struct {
	size  int  // operations; 0: none
	whole bool // all operations of a block
}

// transactions resolves the transaction axis for blocks with up to so many
// clients.
func (v *variant) transactions(m *mistakes, clients int) []transaction {
	items := v.spec.Transaction.items
	if len(items) == 0 {
		return []transaction{{size: v.spec.atomic()}}
	}
	var all []transaction
	for _, s := range items {
		t := transaction{whole: s.value == "whole"}
		switch n, isNumber := parseWhole(s.value); {
		case t.whole && clients > 1:
			m.at(s.place, "a whole transaction is of one client, and there are %d: leave it out, or give the operation clients: 1", clients)
			continue
		case t.whole && len(v.counts) > 0:
			m.at(s.place, "a whole transaction needs one count for all profiles")
			continue
		case t.whole:
			t.size = max(v.operation.Count, minPerClient)
		case isNumber:
			t.size = int(n)
		}
		same := func(other transaction) bool { return other.size == t.size }
		if slices.ContainsFunc(all, same) {
			m.at(s.place, "transaction %s stands for %s here, which is listed already", s.value, assay.TransactionString(t.size))
			continue
		}
		if block := t.minBlock(clients); block > maxCount {
			m.at(s.place, "with %d clients, transactions of %d operations need a block of %d operations, more than %d", clients, t.size, block, maxCount)
			continue
		}
		all = append(all, t)
	}
	return all
}

// minPerClient is how many operations, or transactions where there are some,
// each client has in a block: with fewer it is the clients' beginning and end
// that is measured, and some clients would have nothing to do.
const minPerClient = 10

// minBlock returns how many operations a block has at least. Clients take whole
// transactions, one at a time.
func (t transaction) minBlock(clients int) int {
	if t.whole {
		return t.size
	}
	return minPerClient * clients * max(1, t.size)
}

// at returns the operation at a point of the statement and transaction axes.
func (v *variant) at(statement string, transaction int) assay.Operation {
	op := v.operation
	op.Statement, op.Transaction = statement, transaction
	op.Parts = slices.Clone(op.Parts)
	for i := range op.Parts {
		part := &op.Parts[i].Operation
		part.Statement, part.Transaction = statement, max(transaction, part.Transaction)
	}
	return op
}

// counted returns the operation with a count, rounded up so that every
// transaction is full.
func counted(op assay.Operation, count int) assay.Operation {
	unit := max(op.Transaction, 1)
	op.Count = (count + unit - 1) / unit * unit
	op.Parts = slices.Clone(op.Parts)
	for i := range op.Parts {
		op.Parts[i].Operation.Count = op.Count
	}
	return op
}

// cases returns the cells of one operation at one point of the params.
func (p *Plan) cases(m *mistakes, v variant, drivers []string) []assay.Case {
	var all []assay.Case
	statements := values[string](v.spec.Statement)
	if len(statements) == 0 {
		statements = []string{string(wire.Once)}
	}
	populations := p.populations(m, v.spec)
	for _, population := range populations {
		c := population.all()
		for _, pool := range pools(m, v.spec.Pool, p.Pools) {
			for _, statement := range statements {
				for _, t := range v.transactions(m, most(populations)) {
					cell := p.cell(v, population, pool)
					cell.Statement, cell.Transaction = statement, t.size
					op := v.at(statement, t.size)
					for _, cell.Begin = range p.begins(v.spec, op) {
						for _, rate := range v.spec.rates(m) {
							cell.Rate = float64(rate)
							base := assay.Case{Cell: cell, Unscaled: p.unscaled(cell, v, population, pool), Dataset: v.dataset, Operation: settled(op, c)}
							all = p.targets(all, base, v, v.minBlock(t, c), drivers)
						}
					}
				}
			}
		}
	}
	return all
}

// begins are the ways in which the transactions of an operation begin: one, that of the
// worker, where it has none that a lock matters to.
func (p *Plan) begins(o *operation, op assay.Operation) []assay.Begin {
	all := p.Begins
	if o.Begin.set() {
		all = values[assay.Begin](o.Begin)
	}
	if all != nil && op.Transacts() {
		return all
	}
	return []assay.Begin{""}
}

// transacts reports a way to begin where there are no transactions to begin so.
func (v *variant) transacts(m *mistakes, transactions []transaction) {
	if v.spec.Begin.set() && !slices.ContainsFunc(transactions, func(t transaction) bool { return v.at("", t.size).Transacts() }) {
		m.at(v.spec.Begin.place, "begin is for transactions of SQL that change data, and %s has none: give it transaction: 1, or leave begin out", v.operation.Name)
	}
}

// cell returns the coordinates that do not depend on target and profile.
func (p *Plan) cell(v variant, population population, pool Pool) assay.Cell {
	c := assay.Cell{Plan: p.Name, Workload: v.workload, Operation: v.operation.Name, Clients: population.clients, Processes: population.processes}
	c.Pool, c.Idle = pool.Open, pool.Idle
	c.Pool = cmp.Or(c.Pool, c.Clients)
	c.Idle = cmp.Or(c.Idle, c.Pool)
	if len(v.params) > 0 {
		c.Params = v.params
	}
	return c
}

// targets appends the case with each profile and driver, and at least so many
// operations.
func (p *Plan) targets(all []assay.Case, base assay.Case, v variant, minCount int, drivers []string) []assay.Case {
	o := v.spec
	for _, profile := range p.Profiles {
		as := cmp.Or(p.from, profile.Name)
		if o.Profiles.set() && !slices.ContainsFunc(o.Profiles.items, func(t text) bool { return t.value == as }) {
			continue
		}
		for _, driver := range drivers {
			if !p.isFor(profile.Name, driver) {
				continue
			}
			c := base
			name := assay.ParseDriverName(driver)
			c.Cell.Driver, c.Cell.DriverVersion, c.Cell.Options = name.Name, name.Version, name.Options
			c.Cell.Profile, c.Cell.AsPublished = profile.Name, profile.AsPublished
			c.Profile = profile
			count, ok := v.counts[as]
			if !ok {
				count = c.Operation.Count
			}
			c.Operation = counted(c.Operation, max(count, minCount))
			c = p.uses[profile.Name].Of(c)
			c.Dataset.FileSettings = fileSettings(profile, p.prepared[profile.Name])
			c.Dataset.Prepare = profile.Prepare
			all = append(all, c)
		}
	}
	return all
}
