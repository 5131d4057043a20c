package draft

import (
	"context"
	"maps"
	"slices"
	"time"

	"assay/internal/plan"
)

// operation is what the plan measures: a statement, or those of a transaction.
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

// drawnOnce is how many rows a statement can delete, or keys that no row has it can insert,
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
