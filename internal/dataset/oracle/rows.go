package oracle

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"assay"
	"assay/internal/dataset"
	"assay/internal/plan/sqltext"
)

// sampledRows is how many of a table's rows are looked at of which the whole is
// known.
const sampledRows = 10_000

// Rows holds what the rows of SQL's tables may hold after operations that no check
// of the plan reads.
type Rows struct {
	Values []Values
	Counts []Count
}

// Count says how many rows a table has, as an answer.
type Count struct {
	Query  assay.Query
	Digest string
}

// rowReplays holds what is found of the rows.
type rowReplays struct {
	replays
	untouched map[*table][][]any
	several   bool   // clients, whose order nobody knows
	path      string // of the files with keys begins so
	random    *rand.Rand
}

// Engine is the engine whose rows are looked at. SQLite plays the operations for all
// of them.
type Engine int

// The engines.
const (
	SQLite Engine = iota
	PostgreSQL
)

// shuffledOrders is how many orders of several clients' operations are played besides that of
// the sequence and the opposite one.
const shuffledOrders = 3

// Rows returns what the rows of tables may hold afterwards. Of one client everything is known.
// The order in which several did theirs is not: they are played in the order of the sequence,
// backwards and shuffled. What is the same in all of them is known; else a row may hold what was
// written to it, if every operation writes the same whatever the order. It returns nil where the
// operation cannot be played here, in all orders, or may do something else in the engine.
func (p Played) Rows(ctx context.Context) (*Rows, error) {
	if p.Engine == PostgreSQL && !Portable(p.Operation) {
		return nil, nil
	}
	done := p.Done
	r := &rowReplays{replays: replays{Played: p, plays: map[*table][]*play{}}, untouched: map[*table][][]any{}, several: p.Clients > 1 && p.Operation.Sequence == "",
		path:   fmt.Sprintf("%s/rows-%s-%d-%d", filepath.Dir(p.Data.Path), p.Name(), p.Clients, p.Engine),
		random: p.random()}
	lone := done.Warm + done.Measured
	all := [][]int{dataset.Span(0, done.Warm), dataset.Span(done.Warm, lone), dataset.Span(lone, lone+done.OneClient)}
	others, err := r.orders(all)
	if err != nil {
		return nil, err
	}
	for _, order := range append([][][]int{all}, others...) {
		if err := r.replay(ctx, order, r.sample); err != nil {
			return nil, SystemError(ctx, err) // SQLite here lacks a function, or it is only right in the order of the sequence
		}
	}
	return r.found(ctx)
}

// orders returns the orders of phases that are played besides that of the sequence.
func (r *rowReplays) orders(all [][]int) (others [][][]int, err error) {
	if r.Operation.Sequence != "" {
		after, err := r.Trace.After()
		if after != nil { // what no order alters that the sequence leaves open is known
			others = append(others, [][]int{all[warmingUp], opposite(after), all[oneClient]})
		}
		return others, err
	}
	if !r.several {
		return nil, nil
	}
	for _, order := range otherOrders(r.random, all[:oneClient]) {
		others = append(others, append(order, all[oneClient]))
	}
	return others, nil
}

// otherOrders are orders of the positions in each phase: the opposite one, then shuffled ones.
func otherOrders(random *rand.Rand, phases [][]int) [][][]int {
	others := make([][][]int, 1+shuffledOrders)
	for i := range others {
		for _, phase := range phases {
			phase = slices.Clone(phase)
			if i == 0 {
				slices.Reverse(phase)
			} else {
				random.Shuffle(len(phase), func(a, b int) { phase[a], phase[b] = phase[b], phase[a] })
			}
			others[i] = append(others[i], phase)
		}
	}
	return others
}

// random is what shuffles the operations: the same for the same data and number of them.
func (p Played) random() *rand.Rand {
	return rand.New(rand.NewPCG(p.Data.Spec.Seed, uint64(p.Done.Measured)))
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
func (r *rowReplays) found(ctx context.Context) (*Rows, error) {
	all := &Rows{}
	for i, t := range r.tables {
		if !slices.ContainsFunc(r.plays[t], func(p *play) bool { return len(p.histories) > 0 }) {
			continue // nothing changes it
		}
		check := &rowCheck{rowReplays: r, table: t, compared: comparePlays(r.plays[t])}
		if check.knowsCount() && (r.Engine == SQLite || folded(t.name)) {
			count, err := check.count()
			if err != nil {
				return nil, err
			}
			all.Counts = append(all.Counts, count)
		}
		values, err := check.allowed(ctx, fmt.Sprintf("%s-%d", r.path, i))
		if err != nil {
			return nil, err
		}
		all.Values = append(all.Values, values...)
	}
	return all, nil
}

// sample chooses rows of each table in the end of the first play, of which nothing is done to most.
func (r *rowReplays) sample(ctx context.Context, conn *sql.Conn, _ *dataset.Digester) error {
	for _, t := range r.tables {
		plays := r.plays[t]
		if len(plays) != 1 || len(plays[0].histories) == 0 || r.untouched[t] != nil {
			continue
		}
		r.untouched[t] = [][]any{}
		stride := max(1, (plays[0].rows+sampledUntouched-1)/sampledUntouched)
		text := fmt.Sprintf("SELECT %s FROM (SELECT %s, row_number() OVER () AS assay_number FROM main.%s) WHERE assay_number %% %d = %d",
			t.list("+"), t.list(""), sqltext.Quote(t.name), stride, r.random.Int64N(stride))
		err := query(ctx, conn, text, func(row []any) { r.untouched[t] = append(r.untouched[t], slices.Clone(row)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// typesOf are the declared types of the table's columns.
func (r *rowReplays) typesOf(ctx context.Context, t *table) []assay.Type {
	types := make([]assay.Type, len(t.columns))
	for i, c := range t.columns {
		if t.volatile(i) || r.Engine == PostgreSQL && !t.sameElsewhere(i) {
			continue
		}
		found, err := r.Data.Describe(ctx, fmt.Sprintf("SELECT %s FROM main.%s LIMIT 1000", sqltext.Quote(c), sqltext.Quote(t.name)), nil)
		if err != nil {
			continue // nothing tells the type: it is not looked at
		}
		types[i] = assay.Type(strings.TrimSuffix(string(found[0]), "?") + "?")
	}
	return types
}
