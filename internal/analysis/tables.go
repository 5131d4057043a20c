package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// operation holds what one table is made of: the cells of one operation.
type operation struct {
	title                       string
	rows, twins, factors, bases []*cell
	plain                       []assay.Cell // of rows
}

// cell is one of the operation's, for the coordinates that all of them share.
func (o *operation) cell() assay.Cell {
	return slices.Concat(o.rows, o.twins, o.factors, o.bases)[0].Cell
}

func (o *operation) add(c *cell) {
	switch {
	case c.Twin:
		o.twins = append(o.twins, c)
	case c.Cell.Without != "":
		o.factors = append(o.factors, c)
	case c.ablation:
		o.bases = append(o.bases, c)
	default:
		o.rows, o.plain = append(o.rows, c), append(o.plain, c.Cell)
	}
}

// operations groups cells by operation: those of a workload in the order in which the
// plan names them.
func operations(planText string, cells []*cell) []*operation {
	byPeer, position := map[string]*operation{}, map[string]int{}
	var all []*operation
	workloads := map[string]bool{}
	pooled := map[[2]string]bool{} // operations that are measured with another pool than one of a connection a client
	for _, one := range cells {
		c := one.Cell
		if one.Twin && one.ablation {
			continue // the noise of the run is known by then
		}
		o := byPeer[c.Peer()]
		if o == nil {
			o = &operation{}
			byPeer[c.Peer()], all = o, append(all, o)
			position[c.Operation] = keyPosition(planText, c.Operation)
		}
		o.add(one)
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

// newTable is the table of an operation: what is compared with what, before it is judged.
// Where too few undisturbed launches are left of one of the cells that promise alike, and so
// are compared, or of two of them together, the disturbed ones count for all of these: both
// halves of a pair follow the same rule. What is left out of a profile may be what it
// promises: such cells are compared with it all the same. Where nothing is compared, the rows' own intervals decided
// how many launches they have.
func newTable(run assay.Run, o *operation, n naming) *Table {
	t := &Table{Title: o.title, Margin: cmp.Or(run.Options.Margin, DefaultMargin), Planned: run.Options.Launches, run: run.ID}
	few := map[*cell]bool{}
	for _, class := range append(byClass(slices.Concat(o.rows, o.twins)), slices.Concat(o.factors, o.bases)) {
		keep := fewCalm(class) || computed(class)
		for _, c := range class {
			few[c] = keep
		}
	}
	newRows := func(cells []*cell, planned int) (rows []*Row) {
		for _, c := range cells {
			row := newRow(run, n, c, planned, few[c])
			row.Table = t
			rows = append(rows, row)
		}
		return rows
	}
	planned := run.Options.Launches
	if slices.ContainsFunc(o.rows, func(c *cell) bool { return o.compared(run, c) }) {
		planned = 0
	}
	t.Rows, t.Twins = newRows(o.rows, planned), newRows(o.twins, planned)
	t.Factors, t.bases = newRows(o.factors, 0), newRows(o.bases, 0)
	t.Primary, t.Launch = primary(t.Rows, o.cell()), launchTime(t.WithTwins())
	t.Changes = slices.ContainsFunc(t.Rows, func(r *Row) bool { return r.Durability != "" })
	for _, row := range t.Rows {
		if i := run.Baseline.Of(row.Cell, o.plain); i >= 0 {
			row.Reference = t.Rows[i]
		}
	}
	for _, twin := range t.Twins {
		twin.Reference = repeated(t.Rows, twin.Cell)
	}
	for _, row := range t.Factors {
		whole := row.Cell
		whole.Without = ""
		row.Reference = repeated(t.bases, whole)
	}
	t.Rankings, t.Differences = t.rankings(), t.explain(run.Targets, n)
	t.contest, t.factors = newContest(t, t.WithTwins()), newContest(t, slices.Concat(t.Factors, t.bases))
	t.contest.addTable()
	t.factors.addFactors()
	return t
}

// compared reports whether a cell is compared with its baseline: both ended ok.
func (o *operation) compared(run assay.Run, c *cell) bool {
	i := run.Baseline.Of(c.Cell, o.plain)
	if i < 0 || o.rows[i] == c {
		return false
	}
	ours, _ := Outcome(c.Trials)
	theirs, _ := Outcome(o.rows[i].Trials)
	return ours == assay.OK && theirs == assay.OK
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
	for _, rows := range [][]*Row{t.Rows, t.Twins, t.Factors} {
		if len(rows) > 0 {
			return rows[0].Cell
		}
	}
	return t.bases[0].Cell
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

// timeOf returns what a number of launches of the table take. Rows that get no verdict have the
// least of them only, and those that failed no more than they had. Nothing runs for a sum: its
// launch is that of its operations.
func (t *Table) timeOf(launches int) time.Duration {
	deciding := map[*Row]bool{}
	for _, row := range t.Rows {
		if c, has := row.comparison(); has && c.Unlike == nil {
			deciding[row], deciding[row.Reference] = true, true
		}
	}
	sum := time.Duration(0)
	for _, row := range t.WithTwins() {
		n, of := launches, row
		if row.Twin {
			of = row.Reference
		}
		if !row.Comparable() {
			n = min(n, len(row.Trials))
		} else if len(deciding) > 0 && !deciding[of] {
			n = min(n, cmp.Or(t.Planned, stat.MinLaunches))
		}
		sum += time.Duration(n) * launchTime([]*Row{row})
	}
	return cmp.Or(sum, time.Duration(launches)*t.Launch)
}

// Unlike returns how the promises of a row differ from those of its reference; nil where they do
// not, or where they are not compared.
func (r *Row) Unlike() *UnlikePromises {
	c, _ := r.comparison()
	return c.Unlike
}

// comparison returns the comparison of a row with its baseline, by the table's primary metric.
func (r *Row) comparison() (Comparison, bool) {
	f, has := r.Figure(r.Table.Primary.Name)
	if !has || f.Comparison == nil {
		return Comparison{}, false
	}
	return *f.Comparison, true
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
			if order := compareParams(a.Params, b.Params); order != 0 {
				return order
			}
		}
	}
	return strings.Compare(a.Peer(), b.Peer())
}

// compareParams orders by the params that both have; the rest is left to the
// caller's last key.
func compareParams(a, b map[string]string) int {
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if other, both := b[name]; both && CompareValues(a[name], other) != 0 {
			return CompareValues(a[name], other)
		}
	}
	return 0
}

// CompareValues orders two numbers as numbers, and other texts as texts.
func CompareValues(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return strings.Compare(a, b)
}

// naming knows what it takes to tell the drivers of a run apart.
type naming struct {
	versions map[string]map[string]bool // by driver
	builds   map[string]map[string]bool // by driver, version and options
}

// newNaming looks at all targets and at all cells: a cell that never opened
// does not know its version.
func newNaming(targets []assay.Target, cells []*cell) naming {
	n := naming{map[string]map[string]bool{}, map[string]map[string]bool{}}
	for _, t := range targets {
		n.add(assay.Cell{Driver: t.Driver, DriverVersion: t.DriverVersion, Options: strings.Join(t.Options, ":"), Build: t.Build})
	}
	for _, c := range cells {
		n.add(c.Cell)
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

// linkSums finds the tables that a run was not asked for and has for the sums that it
// was asked for. Nothing runs for a sum: a launch of it is one of each of these.
func linkSums(only map[string][]string, tables []*Table) {
	for _, t := range tables {
		if t.Launch > 0 || !t.asked(only) {
			continue
		}
		for _, part := range tables {
			if !part.asked(only) && t.Cell().Adds(part.Cell()) {
				part.ForSum = true
				t.Launch += part.Launch
			}
		}
	}
}

// asked reports whether the table is one of those that --only selects.
func (t *Table) asked(only map[string][]string) bool {
	for name, values := range only {
		if slices.ContainsFunc(assay.Coordinates, func(k assay.Coordinate) bool { return k.Name == name && k.Target }) {
			continue // it selects rows
		}
		value, has := t.Cell().Coordinate(name)
		if !has || !slices.ContainsFunc(values, func(v string) bool { return sameValue(v, value) }) {
			return false
		}
	}
	return true
}

// sameValue compares values as users write them: 1e6 and 1_000_000 are the same.
func sameValue(a, b string) bool {
	x, errX := strconv.ParseFloat(strings.ReplaceAll(a, "_", ""), 64)
	y, errY := strconv.ParseFloat(strings.ReplaceAll(b, "_", ""), 64)
	return a == b || errX == nil && errY == nil && x == y
}
