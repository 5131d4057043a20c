package sqldb

import (
	"context"
	"database/sql"

	"assay/kit"
)

// reader is a client that changes nothing. Its phases can be timed.
type reader struct{ *client }

// DoPhases does what Do does.
func (r reader) DoPhases(position int, phases *kit.Phases) (int, error) {
	rows, err := runAll(r.steps, position, phases, nil)
	return rows, r.o.db.busy(err)
}

// runPhases is run with the clock read between the phases.
func (p *preparedStep) runPhases(position int, phases *kit.Phases) (n int, err error) {
	phases.Begin()
	for i := range p.args {
		p.args[i] = p.trace.Value(p.first+i, position)
	}
	statement := p.statement
	if p.each {
		if statement, err = p.on.PrepareContext(context.Background(), p.SQL); err != nil {
			return 0, err
		}
		phases.End(kit.PhasePrepare)
		defer func() {
			if closed := statement.Close(); err == nil {
				err = closed
			}
			phases.End(kit.PhaseCloseStmt)
		}()
	}
	if !p.Query {
		n, err = p.exec(statement)
		phases.End(kit.PhaseQuery)
		return n, err
	}
	rows, err := p.query(statement)
	if err != nil {
		return 0, err
	}
	phases.End(kit.PhaseQuery)
	return p.dest.scanPhases(rows, phases)
}

// scanPhases is scan with the clock read between the phases.
func (d *destinations) scanPhases(rows *sql.Rows, phases *kit.Phases) (int, error) {
	for n := 0; ; n++ {
		more := rows.Next()
		phases.End(kit.PhaseNext)
		if !more {
			err := rows.Err()
			if closed := rows.Close(); err == nil {
				err = closed
			}
			phases.End(kit.PhaseCloseRows)
			return n, err
		}
		if err := rows.Scan(d.pointers...); err != nil {
			_ = rows.Close() // the first error is the one to tell
			return n, err
		}
		phases.End(kit.PhaseScan)
	}
}
