package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"assay"
	"assay/internal/dataset"
)

// sampledRows is how many of a table's rows are looked at of which the whole is
// known.
const sampledRows = 10_000

// Rows is what the rows of SQL's tables may hold after operations that no check
// of the plan reads.
type Rows struct {
	Values []Values
	Counts []Count
}

// Count is how many rows a table has, as an answer.
type Count struct {
	Query  assay.Query
	Digest string
}

// replays is what an operation does to tables, in different orders.
type replays struct {
	Played
	tables    []*table
	plays     map[*table][]*play
	untouched map[*table][][]any
	several   bool // clients, whose order nobody knows
	// influences is what the statements do to tables, of several clients.
	influences map[*table]*influence
	path       string // of the files with keys begins so
	random     *rand.Rand
}

// Engine is the one whose rows are looked at. SQLite plays the operations for all
// of them.
type Engine int

// The engines.
const (
	SQLite Engine = iota
	PostgreSQL
)

// Rows returns what the rows of tables may hold afterwards. Of one
// client everything is known. The order in which several did theirs is not: what
// is the same in every order follows from the text of the statements, and which
// values are written to a row from playing them in the order of the sequence and
// backwards, which shows of each two operations either one behind the other. It
// returns nil where the operation cannot be played here, in both orders, or may do
// something else in the engine.
func (p Played) Rows(ctx context.Context) (*Rows, error) {
	if p.Engine == PostgreSQL && !Portable(p.Operation) {
		return nil, nil
	}
	done := p.Done
	r := &replays{Played: p, plays: map[*table][]*play{}, untouched: map[*table][][]any{}, several: p.Clients > 1 && p.Operation.Sequence == "",
		path:   fmt.Sprintf("%s/rows-%s-%d-%d", filepath.Dir(p.Data.Path), p.Name(), p.Clients, p.Engine),
		random: rand.New(rand.NewPCG(p.Data.Spec.Seed, uint64(done.Measured)))}
	lone := done.Warm + done.Measured
	all := [][]int{dataset.Span(0, done.Warm), dataset.Span(done.Warm, lone), dataset.Span(lone, lone+done.Alone)}
	if err := r.replay(ctx, all); err != nil {
		return nil, SystemError(ctx, err) // SQLite here lacks a function, or the like
	}
	var after []int
	if p.Operation.Sequence != "" {
		var err error
		if after, err = p.Trace.After(); err != nil {
			return nil, err
		}
	}
	switch {
	case after != nil: // what no order alters that the sequence leaves open is known
		all[measuring] = opposite(after)
	case r.several:
		for _, phase := range all[:alone] {
			slices.Reverse(phase)
		}
	default:
		return r.found(ctx)
	}
	if err := r.replay(ctx, all); err != nil {
		return nil, SystemError(ctx, err) // it is only right in the order of the sequence
	}
	return r.found(ctx)
}

// failing are SQLite's errors that are no fault of the SQL: there is no space, no
// memory, no file or the like.
var failing = []int{sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
	sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_INTERRUPT}

// SystemError is the error of playing SQL where the system has failed or the time
// is over, and nil for an error of the SQL itself.
func SystemError(ctx context.Context, err error) error {
	var engine *sqlite.Error
	if errors.As(err, new(syscall.Errno)) || errors.As(err, &engine) && slices.Contains(failing, engine.Code()&0xff) {
		return cmp.Or(ctx.Err(), err)
	}
	return ctx.Err()
}

// found turns the plays into what is to be looked at.
func (r *replays) found(ctx context.Context) (*Rows, error) {
	all := &Rows{}
	for i, t := range r.tables {
		if !slices.ContainsFunc(r.plays[t], func(p *play) bool { return len(p.lives) > 0 }) {
			continue // nothing changes it
		}
		looks := &rowCheck{replays: r, table: t}
		if looks.counted() && (r.Engine == SQLite || folded(t.name)) {
			count, err := looks.count()
			if err != nil {
				return nil, err
			}
			all.Counts = append(all.Counts, count)
		}
		values, err := looks.look(ctx, fmt.Sprintf("%s-%d", r.path, i))
		if err != nil {
			return nil, err
		}
		all.Values = append(all.Values, values...)
	}
	return all, nil
}
