package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"

	"assay"
	"assay/internal/dataset"
	"assay/kit/answer"
	"assay/kit/column"
)

const (
	// sampledRows is how many of a table's rows are looked at of which the
	// whole is known.
	sampledRows = 10_000
	// ordersTried is in how many orders the operations of several clients are
	// played: as they come, backwards, and shuffled.
	ordersTried = 4
)

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
	data      *dataset.Data
	op        assay.Operation
	trace     *dataset.Trace
	engine    Engine
	tables    []*table
	plays     map[*table][]*play
	untouched map[*table][][]any
	args      map[string]bool // the arguments that operations have, by their text
	path      string          // of the files with keys begins so
	random    *rand.Rand
}

// Engine is the one whose rows are looked at. SQLite plays the operations for all
// of them.
type Engine int

// The engines.
const (
	SQLite Engine = iota
	PostgreSQL
)

// RowsAfter returns what the rows of tables may hold after operations. Of one
// client everything is known. The order in which
// several did theirs is not: what is the same in every order that is tried is
// known, and of the rest each value that is an argument of an operation. It
// returns nil where the operation cannot be played here, in every order, or may do
// something else in the engine.
func RowsAfter(ctx context.Context, d *dataset.Data, op assay.Operation, trace *dataset.Trace, done Done, clients int, engine Engine) (*Rows, error) {
	if engine == PostgreSQL && !Portable(op) {
		return nil, nil
	}
	r := &replays{data: d, op: op, trace: trace, engine: engine, plays: map[*table][]*play{}, untouched: map[*table][][]any{},
		path:   fmt.Sprintf("%s/rows-%s-%d", filepath.Dir(d.Path), Name(op, trace, done), clients),
		random: rand.New(rand.NewPCG(d.Spec.Seed, uint64(done.Measured)))}
	lone := done.Warm + done.Measured
	phases := [][]int{span(0, done.Warm), span(done.Warm, lone), span(lone, lone+done.Alone)}
	if err := r.replay(ctx, phases); err != nil {
		return nil, unplayable(ctx, err) // SQLite here lacks a function, or the like
	}
	for order := 1; order < ordersTried && clients > 1; order++ {
		for _, phase := range phases[:alone] {
			slices.Reverse(phase)
			if order > 1 {
				r.random.Shuffle(len(phase), func(i, j int) { phase[i], phase[j] = phase[j], phase[i] })
			}
		}
		if err := r.replay(ctx, phases); err != nil {
			return nil, unplayable(ctx, err) // it is only right in the order of the sequence
		}
	}
	if clients > 1 {
		var err error
		if r.args, err = argumentsOf(op, trace); err != nil {
			return nil, err
		}
	}
	return r.found(ctx)
}

// unplayable is nil for an error of the SQL, of which nothing can be known here,
// and the error itself where the system has failed or the time is over.
func unplayable(ctx context.Context, err error) error {
	var system syscall.Errno
	if errors.As(err, &system) {
		return err
	}
	return ctx.Err()
}

func span(from, to int) []int {
	all := make([]int, to-from)
	for i := range all {
		all[i] = from + i
	}
	return all
}

// argumentsOf are all values that operations can write as they are.
func argumentsOf(op assay.Operation, trace *dataset.Trace) (map[string]bool, error) {
	all := map[string]bool{}
	traces := []dataset.Trace{*trace}
	if len(op.Parts) > 0 {
		traces = trace.Parts
	}
	for _, t := range traces {
		if t.Length == 0 {
			continue
		}
		file, err := column.Open(t.Path)
		if err != nil {
			return nil, err
		}
		for row := range file.Rows() {
			for c := range file.Columns() {
				all[textOf(file.Value(c, row))] = true
			}
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// found turns the plays into what is to be looked at.
func (r *replays) found(ctx context.Context) (*Rows, error) {
	all := &Rows{}
	for i, t := range r.tables {
		if !slices.ContainsFunc(r.plays[t], func(p *play) bool { return len(p.lives) > 0 }) {
			continue // nothing changes it
		}
		count, same, err := countOf(t, r.plays[t])
		if err != nil {
			return nil, err
		}
		if same && (r.engine == SQLite || folded(t.name)) {
			all.Counts = append(all.Counts, count)
		}
		values, err := r.valuesOf(ctx, t, fmt.Sprintf("%s-%d", r.path, i))
		if err != nil {
			return nil, err
		}
		all.Values = append(all.Values, values...)
	}
	return all, nil
}

func countOf(t *table, plays []*play) (c Count, same bool, err error) {
	c.Query = assay.Query{SQL: "SELECT count(*) FROM " + quoted(t.name), Returns: []assay.Type{"int"}}
	for _, p := range plays {
		if p.rows != plays[0].rows {
			return c, false, nil
		}
	}
	c.Digest, err = digestRows(c.Query.Returns, []any{plays[0].rows})
	return c, true, err
}

// valuesOf is what a table's rows may hold: whole rows where they are known, and
// columns one by one where only some are, or may have one value or another.
func (r *replays) valuesOf(ctx context.Context, t *table, path string) ([]Values, error) {
	if r.engine == PostgreSQL && !t.askedElsewhere() {
		return nil, nil
	}
	l := &rowLooks{replays: r, table: t, types: r.typesOf(ctx, t)}
	if l.shifts() || slices.ContainsFunc(t.key, t.volatile) {
		return nil, nil
	}
	l.readable()
	l.sort()
	var all []Values
	whole, err := l.whole(path + ".col")
	if err != nil || whole == nil {
		return nil, err
	}
	all = append(all, *whole)
	for c := range t.columns {
		one, err := l.column(c, fmt.Sprintf("%s-%d.col", path, c))
		if err != nil {
			return nil, err
		}
		if one != nil {
			all = append(all, *one)
		}
	}
	return all, nil
}

func digestRows(types []assay.Type, rows ...[]any) (string, error) {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	hash, err := answer.New(names)
	for _, row := range rows {
		if err == nil {
			err = hash.Row(row)
		}
	}
	if err != nil {
		return "", err
	}
	return hash.Sum(), nil
}
