package draft

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"assay/internal/plan"
)

// operation holds what the plan measures: a statement, or those of a transaction.
type operation struct {
	script
	steps  []*statement  // as many as queries, once they are understood
	counts counts        // nil: the plan's default
	each   time.Duration // of one operation, in this process
	check  string
}

func (o *operation) changes() bool {
	return slices.ContainsFunc(o.queries, func(q *query) bool { return q.changes() })
}

func (o *operation) texts() []string {
	var all []string
	for _, q := range o.queries {
		all = append(all, q.sql)
	}
	return all
}

// The operations of a block where a commit waits for the disk, and where it
// does not: so many that it lasts about a tenth of a second.
var blocks = counts{"current": 120, "web": 5000, "durable": 120}

const (
	// warmUp is the share of a block that comes before it.
	warmUp = 0.1
	// minBlock is the smallest block that a run makes.
	minBlock = 10
	// shorter is the share of the time for a block that one takes which is cut: the
	// drivers under test may be slower than this process.
	shorter = 5
)

// complete says how many operations a block has, and what proves them.
func (o *operation) complete(ctx context.Context, s *schema) error {
	limit := blocks["web"]
	for _, st := range o.steps {
		once, err := st.drawnOnce(ctx, s)
		if err != nil {
			return err
		}
		if once > 0 { // drawn again, a row is gone, or there already
			limit = min(limit, max(1, int64(float64(once)*(1-2*warmUp))))
		}
	}
	o.bound(limit)
	return o.prove(ctx, s)
}

// bound makes blocks of at most so many operations.
func (o *operation) bound(limit int64) {
	switch {
	case o.counts == nil && o.changes():
		o.counts = maps.Clone(blocks)
	case o.counts == nil: // nothing waits for the disk
		o.counts = counts{"current": limit, "web": limit, "durable": limit}
	}
	o.counts.bound(limit)
}

// counts are the operations of a block, by profile.
type counts map[string]int64

func (c counts) bound(limit int64) {
	for profile, n := range c {
		c[profile] = min(n, limit)
	}
}

// pace bounds the blocks by what one operation takes: a run plays them in this
// process too, for the expected answers.
func (o *operation) pace(each, block time.Duration) {
	o.each = each
	operations := int64(defaultReads)
	if o.changes() {
		operations = o.counts["web"]
	}
	if time.Duration(operations)*each > block {
		o.bound(roundDown(max(minBlock, int64(block/shorter/each))))
	}
}

// roundDown leaves one digit of a number.
func roundDown(n int64) int64 {
	unit := int64(1)
	for n/unit >= 10 {
		unit *= 10
	}
	return n / unit * unit
}

// defaultReads is how many operations a block of a plan has that changes nothing.
const defaultReads = 10_000

// prove finds the check: of one changing statement the rows that it changed, of
// several counts and sums of what they changed.
func (o *operation) prove(ctx context.Context, s *schema) (err error) {
	var changing []*statement
	for _, st := range o.steps {
		if st.changes() && st.drawer.target != nil {
			changing = append(changing, st)
		}
	}
	if len(changing) == 1 {
		o.check, err = changing[0].proof(ctx, s)
		return err
	}
	var all []string
	for _, st := range changing {
		totals, err := st.totals(ctx, s)
		if err != nil {
			return err
		}
		all = append(all, "("+totals+")")
	}
	if len(all) > 0 {
		o.check = "SELECT * FROM " + strings.Join(unique(all), ", ")
	}
	return nil
}

// unique leaves out what came before.
func unique(texts []string) []string {
	var all []string
	for _, text := range texts {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// written are the columns that a statement gives values which depend on its
// arguments and the data alone.
func (o *statement) written() []*column {
	if o.verb == "UPDATE" {
		return o.assigned()
	}
	var all []*column
	for _, u := range o.drawer.all {
		if u.role == insert && u.column != nil {
			all = append(all, u.column)
		}
	}
	return all
}

// proof is a query that shows what the statement changed: the rows where that is quickly done,
// and otherwise their totals. A key that is not given may be another one each time.
func (o *statement) proof(ctx context.Context, s *schema) (string, error) {
	columns, written := o.assigned(), o.written()
	usable := func(c *column) bool { return slices.Contains(written, c) }
	switch {
	case o.verb == "DELETE":
		usable = func(*column) bool { return true }
	case o.verb == "UPDATE":
		sure := !varies(o.drawer.tokens) // else the key may be set by chance
		usable = func(*column) bool { return sure }
	default:
		if columns = append(columns, o.given()...); o.upsert() {
			break
		}
		if check, err := o.newRows(ctx, s); check != "" || err != nil {
			return check, err
		}
	}
	check, err := s.rowsInOrder(ctx, o.drawer.target, columns, usable)
	if check != "" || err != nil {
		return check, err
	}
	return o.totals(ctx, s)
}

// drawnOnce returns how many rows a statement can delete, or keys that no row has it can insert,
// before they come again; 0: that does not matter.
func (o *statement) drawnOnce(ctx context.Context, s *schema) (int64, error) {
	if o.drawer.rows > 0 || o.verb != "DELETE" || o.drawer.target == nil {
		return o.drawer.rows, nil
	}
	if len(o.args) == 0 {
		o.notes = append(o.notes, "It has no arguments: after the first time, nothing is left to delete.")
	}
	f, err := s.stats(ctx, o.drawer.target.columns[0])
	if err != nil {
		return 0, err
	}
	return max(1, f.rows), nil
}

// toDo reports whether the user must write arguments.
func (o *operation) toDo() bool {
	return slices.ContainsFunc(o.steps, func(st *statement) bool { return len(st.missing()) > 0 })
}

// missing are the numbers of the arguments that the user must write, counted from 1.
func (o *statement) missing() (all []int) {
	for _, t := range plan.ToDos(o.arguments) {
		all = append(all, t.Argument)
	}
	return all
}
