package assay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Coordinate is one axis of a plan's matrix.
type Coordinate struct {
	Name   string             // of the CSV column, and of --only
	Value  func(Cell) string  // as CSV and --only have it
	Number func(Cell) float64 // where its values are numbers
	Long   func(Cell) string  // in words; nil: its value says it
	Plain  func(Cell) bool    // whether nobody has to be told; there where Long is
	Clear  func(c *Cell)      // takes it away, where figures are drawn along it; nil: they are not
	Target bool               // it tells targets and profiles apart, which one table has side by side
	Silent bool               // the plain case is in no key, as in those of runs that did not know the coordinate
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
		Plain: func(c Cell) bool { return c.Clients == 0 }, // it was cleared
		Long: func(c Cell) string {
			if c.Clients == 1 {
				return "1 client"
			}
			return fmt.Sprintf("%d clients", c.Clients)
		},
		Clear: func(c *Cell) {
			if c.Pool == c.Clients {
				c.Pool, c.Idle = 0, 0 // a pool that follows the clients is no axis of its own
			}
			c.Clients = 0
		}},
	{Name: "processes", Silent: true, Value: func(c Cell) string { return fmt.Sprint(max(1, c.Processes)) }, Number: func(c Cell) float64 { return float64(max(1, c.Processes)) },
		Plain: func(c Cell) bool { return c.Processes <= 1 },
		Long: func(c Cell) string {
			if c.Processes <= 1 {
				return "1 process"
			}
			return fmt.Sprint(c.Processes, " processes")
		},
		Clear: func(c *Cell) { c.Processes = 0 }},
	{Name: "pool", Value: func(c Cell) string { return fmt.Sprint(c.Pool) }, Number: func(c Cell) float64 { return float64(c.Pool) },
		Plain: func(c Cell) bool { return c.Pool == c.Clients || c.Pool == 0 || c.Clients == 0 },
		Long:  func(c Cell) string { return fmt.Sprint("pool ", c.Pool) },
		Clear: func(c *Cell) {
			if c.Idle == c.Pool {
				c.Idle = 0
			}
			c.Pool = 0
		}},
	{Name: "idle", Value: func(c Cell) string { return fmt.Sprint(c.Idle) }, Number: func(c Cell) float64 { return float64(c.Idle) },
		Plain: func(c Cell) bool { return c.Idle == c.Pool },
		Long:  func(c Cell) string { return fmt.Sprintf("%d idle", c.Idle) }},
	{Name: "statement", Value: func(c Cell) string { return c.Statement },
		Plain: func(c Cell) bool { return c.Statement == "" || c.Statement == "once" },
		Long:  func(c Cell) string { return "statement " + c.Statement }},
	{Name: "transaction", Value: func(c Cell) string { return TransactionString(c.Transaction) }, Number: func(c Cell) float64 { return float64(c.Transaction) },
		Plain: func(c Cell) bool { return c.Transaction == 0 },
		Long:  func(c Cell) string { return fmt.Sprint("transaction ", c.Transaction) },
		Clear: func(c *Cell) { c.Transaction = 0 }},
	{Name: "begin", Silent: true, Value: func(c Cell) string { return string(c.Begin) },
		Plain: func(c Cell) bool { return c.Begin == "" },
		Long:  func(c Cell) string { return string(c.Begin) }},
	{Name: "rate", Value: func(c Cell) string { return fmt.Sprintf("%g", c.Rate) }, Number: func(c Cell) float64 { return c.Rate },
		Plain: func(c Cell) bool { return c.Rate == 0 },
		Long:  func(c Cell) string { return fmt.Sprintf("%g arrivals/s", c.Rate) },
		Clear: func(c *Cell) { c.Rate = 0 }},
}

// ParamWords are the parameters of a cell, sorted by name: numbers of what their names count
// as 100k rows.
func (c Cell) ParamWords() []string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		value := roundNumber(c.Params[name])
		if _, err := strconv.ParseFloat(c.Params[name], 64); err == nil && strings.HasSuffix(name, "s") {
			words = append(words, value+" "+name)
		} else {
			words = append(words, name+"="+value)
		}
	}
	return words
}

// roundNumber shortens 100000 to 100k; other texts stay.
func roundNumber(value string) string {
	for _, s := range []struct{ zeros, suffix string }{{"000000", "M"}, {"000", "k"}} {
		head, cut := strings.CutSuffix(value, s.zeros)
		if cut && head != "" && strings.Trim(head, "0123456789") == "" {
			return head + s.suffix
		}
	}
	return value
}

// Words are the parameters of a cell, and those of its coordinates that are not the
// plain case or that are named.
func (c Cell) Words(named ...string) []string {
	words := c.ParamWords()
	for _, k := range Coordinates {
		if k.Long != nil && (!k.Plain(c) || slices.Contains(named, k.Name)) {
			words = append(words, k.Long(c))
		}
	}
	return words
}

// TableCoordinates returns the coordinates that all cells of a table share.
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

// Has reports whether a cell has a value of a coordinate, as users and data select cells
// by it. A driver may be named with its version and compile options; names are those of
// the cell's plan or run.
func (c Cell) Has(name, value string, names DriverNames) bool {
	if name == "driver" {
		return names.Select(ParseDriverName(value), c)
	}
	if name == "begin" && value == string(c.Begun()) {
		return true // that of a cell whose plan does not say is one, too
	}
	is, ok := c.Coordinate(name)
	return ok && is == value
}

// Peer identifies what two cells have in common when only their target and
// profile differ: the row of a table.
func (c Cell) Peer() string {
	var key strings.Builder
	for _, coordinate := range Coordinates {
		if !coordinate.Target && !(coordinate.Silent && coordinate.Plain(c)) {
			key.WriteString(coordinate.Value(c) + "|")
		}
	}
	return key.String() + c.ParamString()
}

// Adds reports whether the cell of a sum may add up another one, of the same target and
// profile: that is alike in all that the sum says.
func (c Cell) Adds(part Cell) bool {
	for name, value := range part.Params {
		if own, has := c.Params[name]; has && own != value {
			return false
		}
	}
	return c.Workload == part.Workload && c.Clients == part.Clients && max(1, c.Processes) == max(1, part.Processes) && c.Pool == part.Pool && c.Idle == part.Idle
}

// Compare orders two cells by a coordinate, numbers as numbers.
func (k Coordinate) Compare(a, b Cell) int {
	if k.Number != nil {
		return cmp.Compare(k.Number(a), k.Number(b))
	}
	return strings.Compare(k.Value(a), k.Value(b))
}
