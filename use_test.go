package assay

import (
	"testing"
)

func TestUse(t *testing.T) {
	write := Case{Cell: Cell{Clients: 4, Pool: 4, Idle: 1, Statement: "each"}, Operation: Operation{Steps: []Step{{}}, Changes: true, Statement: "each", Count: 450}}
	alone := write
	alone.Cell.Clients, alone.Cell.Pool = 1, 1
	short := write
	short.Operation.Count = 390
	call := write
	call.Operation.Steps = []Step{{Call: "all"}}
	served := write
	served.Operation.Serve = true
	mix := Case{Cell: Cell{Clients: 1, Pool: 1, Idle: 1}, Operation: Operation{Changes: true, Count: 450, Parts: []Part{{Operation: Operation{Statement: "never"}}}}}
	for name, c := range map[string]struct {
		use         Use
		of          Case
		statement   string
		pool, idle  int
		transaction int
		count       int
	}{
		"nothing":                         {Use{}, write, "each", 4, 1, 0, 450},
		"a statement":                     {Use{Statement: "once"}, write, "once", 4, 1, 0, 450},
		"a statement of a call":           {Use{Statement: "once"}, call, "each", 4, 1, 0, 450},
		"a pool":                          {Use{Pool: 2}, write, "each", 2, 2, 0, 450},
		"a pool of more than the clients": {Use{Pool: 9}, write, "each", 4, 4, 0, 450},
		"a pool of one client":            {Use{Pool: 2}, alone, "each", 1, 1, 0, 450},
		"a transaction":                   {Use{Transaction: 11}, write, "each", 4, 1, 11, 451},
		"a transaction of a short block":  {Use{Transaction: 10}, short, "each", 4, 1, 0, 390},
		"a transaction of a request":      {Use{Transaction: 10}, served, "each", 4, 1, 0, 450},
		"a transaction of a mix":          {Use{Transaction: 10}, mix, "", 1, 1, 0, 450},
		"a statement of a mix":            {Use{Statement: "once"}, mix, "once", 1, 1, 0, 450},
	} {
		got := c.use.Of(c.of)
		if cell := got.Cell; cell.Statement != c.statement || cell.Pool != c.pool || cell.Idle != c.idle || cell.Transaction != c.transaction {
			t.Errorf("%s: got %+v, want statement %q, pool %d, idle %d, transaction %d", name, cell, c.statement, c.pool, c.idle, c.transaction)
		}
		if op := got.Operation; op.Count != c.count || op.Transaction != c.transaction || len(op.Parts) == 0 && op.Statement != c.statement {
			t.Errorf("%s: got an operation of %d in transactions of %d, want %d of %d", name, op.Count, op.Transaction, c.count, c.transaction)
		}
	}
	if got := (Use{Statement: "once"}).Of(mix).Operation.Parts[0].Operation.Statement; got != "once" {
		t.Errorf("got a part with statement %q, want once", got)
	}
	if got := mix.Operation.Parts[0].Operation.Statement; got != "never" {
		t.Errorf("the case that was given has changed: got %q, want never", got)
	}
	if got, want := (Use{"once", 8, 100}).String(), "statement: once, pool: 8, transaction: 100"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
