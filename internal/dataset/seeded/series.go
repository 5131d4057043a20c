package seeded

import (
	"cmp"
	"errors"
	"fmt"

	"modernc.org/sqlite/vtab"
)

// series is a table of whole numbers, called with arguments as a table: generate_series
// counts from its first argument to its second by its third, and operations, which is of
// this package, goes through what its argument names.
type series struct {
	session   *Session
	operation bool
}

func (t *series) Create(c vtab.Context, args []string) (vtab.Table, error) { return t.Connect(c, args) }

func (t *series) Connect(c vtab.Context, _ []string) (vtab.Table, error) {
	return t, c.Declare("CREATE TABLE series (value INTEGER, start HIDDEN, stop HIDDEN, step HIDDEN)")
}

// BestIndex wants all arguments that can be had. Which they are is in IdxNum, one bit each.
func (t *series) BestIndex(info *vtab.IndexInfo) error {
	next, missing := 0, false
	for column := 1; column <= 3; column++ {
		for i := range info.Constraints {
			c := &info.Constraints[i]
			if c.Column != column || c.Op != vtab.OpEQ {
				continue
			}
			if !c.Usable { // an argument is of a table that comes later: never so
				missing = true
				continue
			}
			c.ArgIndex, c.Omit = next, true
			next++
			info.IdxNum |= 1 << (column - 1)
			break
		}
	}
	info.EstimatedCost, info.EstimatedRows = 1000, 1000
	if next == 0 || missing {
		info.EstimatedCost = 1e12
	}
	return nil
}

func (t *series) Open() (vtab.Cursor, error) { return &cursor{series: t}, nil }
func (t *series) Disconnect() error          { return nil }
func (t *series) Destroy() error             { return nil }

// cursor is at one number.
type cursor struct {
	series            *series
	value, stop, step int64
	ended             bool
	each              *Each
	row               int
}

// Filter begins. generate_series without a stop has no end, which SQLite's own has too.
func (c *cursor) Filter(given int, _ string, values []vtab.Value) error {
	all := [3]int64{0, 1<<32 - 1, 1}
	for i := range all {
		if given&(1<<i) == 0 {
			continue
		}
		var err error
		if all[i], err = arguments(values).whole(0); err != nil {
			return fmt.Errorf("generate_series: %w", err)
		}
		values = values[1:]
	}
	if c.series.operation {
		c.each, c.row = c.series.session.each[all[0]], -1
		if c.each == nil {
			return errors.New("operations is not for SQL that is written by hand")
		}
		return c.Next()
	}
	c.value, c.stop, c.step = all[0], all[1], all[2]
	c.step = cmp.Or(c.step, 1)
	c.ended = c.step > 0 && c.value > c.stop || c.step < 0 && c.value < c.stop
	return nil
}

func (c *cursor) Next() error {
	if c.each != nil {
		c.row++
		if c.ended = c.row >= c.each.Rows; !c.ended {
			var position int
			c.value, position = c.each.At(c.row)
			c.series.session.random = random{words: WordsOf(c.each.key, position)}
		}
		return nil
	}
	left := uint64(c.stop) - uint64(c.value)
	by := uint64(c.step)
	if c.step < 0 {
		left, by = -left, -by
	}
	if c.ended = left < by; !c.ended {
		c.value += c.step
	}
	return nil
}

func (c *cursor) Eof() bool                      { return c.ended }
func (c *cursor) Column(int) (vtab.Value, error) { return c.value, nil }
func (c *cursor) Rowid() (int64, error)          { return c.value, nil }
func (c *cursor) Close() error                   { return nil }
