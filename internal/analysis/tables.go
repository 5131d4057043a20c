package analysis

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/wording"

	"assay"
)

// tabulate groups rows into tables and sorts the tables: the operations of a workload
// in the order in which the plan names them.
func tabulate(planText string, rows, twins []*Row) []*Table {
	byPeer := map[string]*Table{}
	var tables []*Table
	workloads := map[string]bool{}
	of := func(row *Row) *Table {
		peer := row.Cell.Peer()
		if byPeer[peer] == nil {
			byPeer[peer] = &Table{}
			tables = append(tables, byPeer[peer])
		}
		return byPeer[peer]
	}
	for _, row := range rows {
		switch {
		case row.Cell.Without != "":
			of(row).Factors = append(of(row).Factors, row)
			continue
		case row.ablation:
			of(row).bases = append(of(row).bases, row)
			continue
		}
		of(row).Rows = append(of(row).Rows, row)
		workloads[row.Cell.Workload] = true
	}
	for _, twin := range twins {
		if twin.ablation {
			continue // the noise of the run is known by then
		}
		of(twin).Twins = append(of(twin).Twins, twin)
	}
	position := map[string]int{}
	for _, t := range tables {
		position[t.Cell().Operation] = keyPosition(planText, t.Cell().Operation)
	}
	slices.SortFunc(tables, func(t, other *Table) int {
		a, b := t.Cell(), other.Cell()
		return cmp.Or(strings.Compare(a.Workload, b.Workload), position[a.Operation]-position[b.Operation], compareCells(a, b))
	})
	pooled := map[string]bool{} // operations that are measured with another pool than one of a connection a client
	for _, t := range tables {
		c := t.Cell()
		pooled[c.Workload+":"+c.Operation] = pooled[c.Workload+":"+c.Operation] || c.Pool != c.Clients
	}
	for _, t := range tables {
		c := t.Cell()
		t.Title = title(c, len(workloads) > 1, pooled[c.Workload+":"+c.Operation])
		t.Launch = launchTime(append(slices.Clone(t.Rows), t.Twins...))
	}
	return tables
}

// keyPosition is the line of a YAML text behind "operations:" that begins with a
// key; the number of lines where none does.
func keyPosition(text, key string) int {
	inside := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		name, _, has := strings.Cut(strings.TrimSpace(line), ":")
		name = strings.Trim(strings.TrimPrefix(name, "- name"), `"' `)
		if inside && has && name == key {
			return i
		}
		inside = inside || has && name == "operations"
	}
	return len(lines)
}

// Cell returns a cell of the table, for the coordinates that all of them share.
func (t *Table) Cell() assay.Cell {
	return slices.Concat(t.Rows, t.Twins, t.Factors, t.bases)[0].Cell
}

// WithTwins are all rows that a table shows, in its order.
func (t *Table) WithTwins() []*Row { return slices.Concat(t.Rows, t.Twins) }

// title names an operation with the coordinates that differ from the plain
// case, so that no two tables have the same title.
func title(c assay.Cell, workload, pool bool) string {
	name, named := c.Operation, []string{}
	if workload {
		name = c.Workload + ": " + c.Operation
	}
	if pool {
		named = append(named, "pool")
	}
	return wording.Clean(strings.Join(append([]string{name}, c.Words(named...)...), ", "))
}

// launchTime is the mean wall time that one launch of the whole table took.
func launchTime(rows []*Row) time.Duration {
	var total time.Duration
	launches := map[launch]bool{} // their groups are launched together
	for _, row := range rows {
		for _, t := range row.Trials {
			if t.Outcome != assay.NotRun {
				total += t.Took
				launches[launch{run: t.Run, number: t.Launch}] = true
			}
		}
	}
	return total / time.Duration(max(len(launches), 1))
}

// compareCells orders cells by their coordinates: the parameters of the plan come
// behind the operation.
func compareCells(a, b assay.Cell) int {
	for _, c := range assay.TableCoordinates() {
		if c.Name == "plan" {
			continue // one run is of one plan
		}
		if order := c.Compare(a, b); order != 0 {
			return order
		}
		if c.Name == "operation" {
			if order := CompareParams(a.Params, b.Params); order != 0 {
				return order
			}
		}
	}
	return strings.Compare(a.Peer(), b.Peer())
}

// CompareParams orders by the params that both have; the rest is left to the
// caller's last key.
func CompareParams(a, b map[string]string) int {
	names := make([]string, 0, len(a))
	for name := range a {
		if _, both := b[name]; both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		x, errX := strconv.ParseFloat(a[name], 64)
		y, errY := strconv.ParseFloat(b[name], 64)
		order := strings.Compare(a[name], b[name])
		if errX == nil && errY == nil {
			order = cmp.Compare(x, y)
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// naming knows what it takes to tell the drivers of a run apart.
type naming struct {
	versions map[string]map[string]bool // by driver
	builds   map[string]map[string]bool // by driver, version and options
}

// newNaming looks at all targets and at all cells: a cell that never opened
// does not know its version.
func newNaming(targets []assay.Target, rows []*Row) naming {
	n := naming{map[string]map[string]bool{}, map[string]map[string]bool{}}
	for _, t := range targets {
		n.add(assay.Cell{Driver: t.Driver, DriverVersion: t.DriverVersion, Options: strings.Join(t.Options, ":"), Build: t.Build})
	}
	for _, row := range rows {
		n.add(row.Cell)
	}
	return n
}

func (n naming) add(c assay.Cell) {
	Count(n.versions, c.Driver, c.DriverVersion)
	Count(n.builds, c.Target(), c.Build)
}

// name is the shortest name of the cell's target that no other of the run
// shares.
func (n naming) name(c assay.Cell) string {
	name := c.Driver
	if len(n.versions[c.Driver]) > 1 && c.DriverVersion != "" {
		name += "@" + c.DriverVersion
	}
	if c.Options != "" {
		name += ":" + c.Options
	}
	if len(n.builds[c.Target()]) > 1 && c.Build != "" {
		name += "#" + c.Build[:min(len(c.Build), 8)]
	}
	return wording.Clean(name)
}

// Count notes a value under a name, unless it is unknown.
func Count(sets map[string]map[string]bool, name, value string) {
	if value == "" {
		return
	}
	if sets[name] == nil {
		sets[name] = map[string]bool{}
	}
	sets[name][value] = true
}
