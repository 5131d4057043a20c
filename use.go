package assay

import (
	"fmt"
	"slices"
	"strings"
)

// Use says how a program uses its driver: what is in its code, and no setting. What is
// empty or 0 stays as a case has it.
type Use struct {
	Statement   string // policy
	Pool        int    // connections that are open at most; all of them are kept
	Transaction int    // operations that are committed together
}

// Of is a case with another use. It is the case as it was where the use cannot be had:
// one client needs one connection, and only what changes data by itself, in blocks that
// are long enough, can be committed together.
func (u Use) Of(c Case) Case {
	op := &c.Operation
	if op.Call() || op.KV() || len(op.Terms) > 0 {
		return c
	}
	if u.Statement != "" {
		c.Cell.Statement, op.Statement = u.Statement, u.Statement
		op.Parts = slices.Clone(op.Parts)
		for i := range op.Parts {
			op.Parts[i].Operation.Statement = u.Statement
		}
	}
	if u.Pool > 0 && c.Cell.Clients > 1 {
		c.Cell.Pool = min(u.Pool, c.Cell.Clients)
		c.Cell.Idle = c.Cell.Pool
	}
	if u.Transaction > 0 && u.groups(c) {
		c.Cell.Transaction, op.Transaction = u.Transaction, u.Transaction
		op.Count = (op.Count + u.Transaction - 1) / u.Transaction * u.Transaction
	}
	return c
}

// transactionsPerClient is how many a client has in a block at least: with fewer it is
// their beginning and end that is measured.
const transactionsPerClient = 10

// groups reports whether several operations of a case can be committed together.
func (u Use) groups(c Case) bool {
	op := c.Operation
	return op.Changes && !op.Serve && len(op.Parts) == 0 && op.Transaction <= 1 && op.Count >= transactionsPerClient*c.Cell.AllClients()*u.Transaction
}

// String is the use as a plan would say it.
func (u Use) String() string {
	var parts []string
	if u.Statement != "" {
		parts = append(parts, "statement: "+u.Statement)
	}
	if u.Pool > 0 {
		parts = append(parts, fmt.Sprintf("pool: %d", u.Pool))
	}
	if u.Transaction > 0 {
		parts = append(parts, fmt.Sprintf("transaction: %d", u.Transaction))
	}
	return strings.Join(parts, ", ")
}
