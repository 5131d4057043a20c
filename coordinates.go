package assay

import (
	"cmp"
	"fmt"
	"strings"
)

// Coordinate is one axis of a plan's matrix.
type Coordinate struct {
	Name   string             // of the CSV column, and of --only
	Value  func(Cell) string  // as CSV and --only have it
	Number func(Cell) float64 // where its values are numbers
	Short  func(Cell) string  // in few words; empty in the plain case; nil: its value says it
	Clear  func(c *Cell)      // takes it away, where figures are drawn along it; nil: they are not
	Target bool               // it tells targets and profiles apart, which one table has side by side
}

// Coordinates are all axes but the parameters of plans, in the order of tables.
// --only, CSV, the titles and the order of tables, the pairing of cells and the
// charts take theirs from it.
var Coordinates = []Coordinate{
	{Name: "plan", Value: func(c Cell) string { return c.Plan }},
	{Name: "workload", Value: func(c Cell) string { return c.Workload }},
	{Name: "operation", Value: func(c Cell) string { return c.Operation }},
	{Name: "engine", Value: func(c Cell) string { return c.Engine }, Target: true},
	{Name: "driver", Value: func(c Cell) string { return c.Driver }, Target: true},
	{Name: "options", Value: func(c Cell) string { return c.Options }, Target: true},
	{Name: "profile", Value: func(c Cell) string { return c.Profile }, Target: true},
	{Name: "without", Value: func(c Cell) string { return c.Without }, Target: true},
	{Name: "clients", Value: func(c Cell) string { return fmt.Sprint(c.Clients) }, Number: func(c Cell) float64 { return float64(c.Clients) },
		Short: func(c Cell) string { return fmt.Sprintf("%dc", c.Clients) },
		Clear: func(c *Cell) {
			if c.Pool == c.Clients {
				c.Pool, c.Idle = 0, 0 // a pool that follows the clients is no axis of its own
			}
			c.Clients = 0
		}},
	{Name: "pool", Value: func(c Cell) string { return fmt.Sprint(c.Pool) }, Number: func(c Cell) float64 { return float64(c.Pool) },
		Short: func(c Cell) string { return unless(c.Pool == c.Clients, fmt.Sprint("pool ", c.Pool)) },
		Clear: func(c *Cell) {
			if c.Idle == c.Pool {
				c.Idle = 0
			}
			c.Pool = 0
		}},
	{Name: "idle", Value: func(c Cell) string { return fmt.Sprint(c.Idle) }, Number: func(c Cell) float64 { return float64(c.Idle) },
		Short: func(c Cell) string { return unless(c.Idle == c.Pool, fmt.Sprintf("%d idle", c.Idle)) }},
	{Name: "statement", Value: func(c Cell) string { return c.Statement },
		Short: func(c Cell) string {
			return unless(c.Statement == "" || c.Statement == "once", "statement "+c.Statement)
		}},
	{Name: "transaction", Value: func(c Cell) string { return TransactionString(c.Transaction) }, Number: func(c Cell) float64 { return float64(c.Transaction) },
		Short: func(c Cell) string { return unless(c.Transaction == 0, fmt.Sprint("tx ", c.Transaction)) },
		Clear: func(c *Cell) { c.Transaction = 0 }},
	{Name: "rate", Value: func(c Cell) string { return fmt.Sprintf("%g", c.Rate) }, Number: func(c Cell) float64 { return c.Rate },
		Short: func(c Cell) string { return unless(c.Rate == 0, fmt.Sprintf("%g/s", c.Rate)) },
		Clear: func(c *Cell) { c.Rate = 0 }},
}

// unless is a text where a plain case does not hold.
func unless(plain bool, text string) string {
	if plain {
		return ""
	}
	return text
}

// TableCoordinates are those that all cells of a table share.
func TableCoordinates() []Coordinate {
	var all []Coordinate
	for _, c := range Coordinates {
		if !c.Target {
			all = append(all, c)
		}
	}
	return all
}

// Coordinate returns the value of the coordinate that --only selects by: one of
// Coordinates, or a param. The second result is false where the cell has no such
// coordinate.
func (c Cell) Coordinate(name string) (string, bool) {
	for _, coordinate := range Coordinates {
		if coordinate.Name == name {
			return coordinate.Value(c), true
		}
	}
	value, ok := c.Params[name]
	return value, ok
}

// Peer identifies what two cells have in common when only their target and
// profile differ: the row of a table.
func (c Cell) Peer() string {
	var key strings.Builder
	for _, coordinate := range Coordinates {
		if !coordinate.Target {
			key.WriteString(coordinate.Value(c) + "|")
		}
	}
	return key.String() + c.ParamString()
}

// Compare orders two cells by a coordinate, numbers as numbers.
func (k Coordinate) Compare(a, b Cell) int {
	if k.Number != nil {
		return cmp.Compare(k.Number(a), k.Number(b))
	}
	return strings.Compare(k.Value(a), k.Value(b))
}
