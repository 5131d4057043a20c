package plan

import (
	"slices"
	"strings"

	"assay"
)

// transactions resolves the transaction axis to numbers of operations; 0 is
// none, and whole is the count.
func (v *variant) transactions(m *mistakes) []int {
	if len(v.spec.Transaction.items) == 0 {
		return []int{0}
	}
	var sizes []int
	for _, s := range v.spec.Transaction.items {
		size := 0
		switch n, isNumber := parseWhole(s.text); {
		case s.text == "whole" && len(v.counts) > 0:
			m.at(s.place, "a whole transaction needs one count for all profiles")
			continue
		case s.text == "whole":
			size = v.operation.Count
		case isNumber:
			size = int(n)
		}
		if slices.Contains(sizes, size) {
			m.at(s.place, "transaction %s stands for %s here, which is listed already", s.text, assay.TransactionString(size))
			continue
		}
		sizes = append(sizes, size)
	}
	return sizes
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

// leastPerClient is how many operations each client has in a block: with fewer
// it is the clients' beginning and end that is measured.
const leastPerClient = 10

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
	statements := m.words(v.spec.Statement, "statement policy", statementPolicies)
	if statements == nil {
		statements = statementPolicies[:1]
	}
	for _, c := range clients(m, v.spec.Clients, p.Clients) {
		for _, pool := range pools(m, v.spec.Pool, p.Pools) {
			for _, statement := range statements {
				for _, transaction := range v.transactions(m) {
					cell := p.cell(v, c, pool)
					cell.Statement, cell.Transaction = statement, transaction
					base := assay.Case{Cell: cell, Dataset: v.dataset, Operation: v.at(statement, transaction)}
					all = p.targets(all, base, v, drivers)
				}
			}
		}
	}
	return all
}

// cell returns the coordinates that do not depend on target and profile.
func (p *Plan) cell(v variant, clients int, pool Pool) assay.Cell {
	c := assay.Cell{Plan: p.Name, Workload: v.workload, Operation: v.operation.Name, Clients: clients}
	c.Pool, c.Idle = pool.Open, pool.Idle
	if c.Pool == 0 {
		c.Pool = clients
	}
	if c.Idle == 0 {
		c.Idle = c.Pool
	}
	if len(v.params) > 0 {
		c.Params = v.params
	}
	return c
}

// targets appends the case with each profile and driver.
func (p *Plan) targets(all []assay.Case, base assay.Case, v variant, drivers []string) []assay.Case {
	o := v.spec
	for _, profile := range p.Profiles {
		if o.Profiles.set() && !slices.ContainsFunc(o.Profiles.items, func(t text) bool { return t.value == profile.Name }) {
			continue
		}
		for _, driver := range drivers {
			c := base
			c.Cell.Driver, c.Cell.DriverVersion, _ = strings.Cut(driver, "@")
			c.Cell.Profile, c.Cell.AsPublished = profile.Name, profile.AsPublished
			c.Profile = profile
			count, ok := v.counts[profile.Name]
			if !ok {
				count = c.Operation.Count
			}
			c.Operation = counted(c.Operation, max(count, leastPerClient*c.Cell.Clients))
			c.Dataset.FileSettings = fileSettings(profile, p.prepared[profile.Name])
			all = append(all, c)
		}
	}
	return all
}
