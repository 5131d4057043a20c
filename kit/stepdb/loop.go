package stepdb

import (
	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"
)

// Part is an operation, or a part of a mix, as a driver's own loop runs it.
type Part struct {
	Steps []wire.Step
	Trace *column.File // nil where there are no arguments
	// Connections are all of the operation's kind.
	Connections []Conn
	// Statements are compiled on each connection: one for each step that is no script, then
	// BEGIN and COMMIT where the operation is a transaction; nil where they are compiled for
	// each execution.
	Statements  map[Conn][]Stmt
	Begin       string // SQL
	Deferred    bool   // which takes no lock
	Transaction int    // operations in a transaction; 0: none
	Rows        int    // of a unit; -1: any number
	Changes     bool
	// Own says that a client keeps the connection of its number. Otherwise clients take
	// connections in turn, across all parts that change data, or across all that do not.
	Own bool
}

// looping is an operation of a driver with a loop of its own.
type looping struct{ *operation }

// Loop makes a window of the operation ready, or of the mix that it is a part of.
func (o looping) Loop(w kit.Window) (kit.Loop, error) {
	if w.Mix == nil {
		return o.db.driver.Loop(w, []Part{o.part()})
	}
	var parts []Part
	for _, part := range w.Parts {
		parts = append(parts, part.(looping).part())
	}
	return o.db.driver.Loop(w, parts)
}

func (o *operation) part() Part {
	p := Part{Steps: o.spec.Steps, Trace: o.trace, Connections: o.db.readers, Statements: o.compiled, Begin: o.db.begin(),
		Deferred: o.db.request.Settings[wire.Begin] == "deferred", Transaction: o.spec.Transaction, Rows: kit.ExpectedRows(o.spec), Changes: o.spec.Changes,
		Own: !o.spec.Changes && o.clients <= len(o.db.readers)}
	if o.spec.Changes {
		p.Connections = nil
		_ = o.db.writers.Each(func(_ string, conn Conn) error {
			p.Connections = append(p.Connections, conn)
			return nil
		})
	}
	return p
}
