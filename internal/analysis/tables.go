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

// operation is what one table is made of: the rows of one operation.
type operation struct {
	title                       string
	rows, twins, factors, bases []*Row
}

// cell is one of the operation's, for the coordinates that all of them share.
func (o *operation) cell() assay.Cell {
	return slices.Concat(o.rows, o.twins, o.factors, o.bases)[0].Cell
}

func (o *operation) add(row *Row) {
	switch {
	case row.Twin:
		o.twins = append(o.twins, row)
	case row.Cell.Without != "":
		o.factors = append(o.factors, row)
	case row.ablation:
		o.bases = append(o.bases, row)
	default:
		o.rows = append(o.rows, row)
	}
}

// operations groups rows by operation: those of a workload in the order in which the
// plan names them.
func operations(planText string, rows []*Row) []*operation {
	byPeer, position := map[string]*operation{}, map[string]int{}
	var all []*operation
	workloads := map[string]bool{}
	pooled := map[[2]string]bool{} // operations that are measured with another pool than one of a connection a client
	for _, row := range rows {
		c := row.Cell
		if row.Twin && row.ablation {
			continue // the noise of the run is known by then
		}
		o := byPeer[c.Peer()]
		if o == nil {
			o = &operation{}
			byPeer[c.Peer()], all = o, append(all, o)
			position[c.Operation] = keyPosition(planText, c.Operation)
		}
		o.add(row)
		workloads[c.Workload] = true
		pooled[[2]string{c.Workload, c.Operation}] = pooled[[2]string{c.Workload, c.Operation}] || c.Pool != c.Clients
	}
	slices.SortFunc(all, func(o, other *operation) int {
		a, b := o.cell(), other.cell()
		return cmp.Or(strings.Compare(a.Workload, b.Workload), position[a.Operation]-position[b.Operation], compareCells(a, b))
	})
	for _, o := range all {
		c := o.cell()
		o.title = title(c, len(workloads) > 1, pooled[[2]string{c.Workload, c.Operation}])
	}
	return all
}

// summarize computes the figures of the rows. Where too few undisturbed launches are
// left of one of those that are compared with each other, or of two of them together,
// the disturbed ones count for all: both halves of a pair follow the same rule. Where
// nothing is compared, the rows' own intervals decided how many launches they have.
func (o *operation) summarize(run assay.Run) {
	ok := func(row *Row) bool {
		is, _ := Outcome(row.Trials)
		return is == assay.OK
	}
	compared := func(row *Row) bool {
		baseline := baselineOf(run, row, o.rows)
		return baseline != nil && baseline != row && ok(row) && ok(baseline)
	}
	planned := run.Options.Launches
	if slices.ContainsFunc(o.rows, compared) {
		planned = 0
	}
	for i, rows := range [][]*Row{slices.Concat(o.rows, o.twins), slices.Concat(o.factors, o.bases)} {
		few := fewCalm(rows)
		for _, row := range rows {
			row.summarize([]int{planned, 0}[i], few)
		}
	}
}

// newTable is the table of an operation whose rows have their figures: what is
// compared with what, before it is judged.
func newTable(run assay.Run, o *operation, n naming) *Table {
	t := &Table{Title: o.title, Primary: primary(o.rows, o.cell()), Margin: cmp.Or(run.Options.Margin, DefaultMargin),
		Changes: slices.ContainsFunc(o.rows, func(r *Row) bool { return r.Durability != "" }),
		Planned: run.Options.Launches, Launch: launchTime(slices.Concat(o.rows, o.twins)), run: run.ID,
		Rows: o.rows, Twins: o.twins, Factors: o.factors, bases: o.bases}
	for _, row := range slices.Concat(o.rows, o.twins, o.factors, o.bases) {
		row.Table = t
	}
	for _, row := range o.rows {
		row.Reference = baselineOf(run, row, o.rows)
	}
	for _, twin := range o.twins {
		twin.Reference = repeated(o.rows, twin.Cell)
	}
	for _, row := range o.factors {
		whole := row.Cell
		whole.Without = ""
		row.Reference = repeated(o.bases, whole)
	}
	t.Rankings, t.Differences = t.rankings(), t.explain(run.Targets, n)
	t.contest, t.factors = newContest(t, slices.Concat(o.rows, o.twins)), newContest(t, slices.Concat(o.factors, o.bases))
	t.contest.addTable()
	t.factors.addFactors()
	return t
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
