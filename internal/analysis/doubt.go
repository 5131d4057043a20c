package analysis

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/stat"
)

// warnOfLaunches looks at a row's launches, and at the windows in them, for what
// makes an interval mean less than it says. Each question is asked at 1 %, and
// what is certain but smaller than the margin is no doubt.
func (r *Row) warnOfLaunches(t *Table) {
	if !r.Comparable() {
		return
	}
	figures := r.series(t.Primary.Name)
	r.warnOfOrder(OfFigure, figures, t.Margin)
	if r.compared() {
		x, y, _ := pair(r, r.Reference, t.Primary.Name)
		r.warnOfOrder(OfRatio, quotients(x, y), t.Margin)
	}
	r.warnOfShape(figures, t.Margin)
	if windows := r.windows(); len(windows) > 0 {
		if from, steady := stat.SteadyFrom(windows); !steady {
			r.warn(NotSteady{from, len(windows[0])}, float64(from)/float64(len(windows[0])))
		}
	}
}

// warnOfOrder looks for launches that are not independent of those before them:
// the ratio is asked too, for its drift is what makes verdicts wrong.
func (r *Row) warnOfOrder(of Series, series []float64, margin float64) {
	total, p, drifts := stat.Drift(series)
	if drifts { // which is an autocorrelation too
		if beyond(total, margin) {
			r.warn(Drift{of, len(series), total, p}, math.Abs(math.Log(total)))
		}
		return
	}
	if c, found := stat.Autocorrelation(series); found {
		r.warn(Autocorrelation{of, len(series), c}, c)
	}
}

// warnOfShape looks for launches that are not spread around one middle.
func (r *Row) warnOfShape(figures []float64, margin float64) {
	if gap, upper, found := stat.TwoModes(figures); found {
		if beyond(gap, margin) {
			r.warn(TwoModes{upper, len(figures), gap}, gap)
		}
		return
	}
	if skewness, found := stat.Skewed(figures); found {
		r.warn(Skewed{len(figures), skewness}, math.Abs(skewness))
	}
}

func beyond(ratio, margin float64) bool { return ratio > 1+margin || ratio < 1/(1+margin) }

// series are the figures of the counted launches, in their order.
func (r *Row) series(metric string) []float64 {
	var figures []float64
	for _, t := range Paired(r, metric) {
		figures = append(figures, t.Figures.Value(metric))
	}
	return figures
}

func quotients(figures, partners []float64) []float64 {
	var all []float64
	for i, f := range figures {
		all = append(all, f/partners[i])
	}
	return all
}

// windows are the times per operation by launch and window.
func (r *Row) windows() [][]float64 {
	var all [][]float64
	for _, t := range r.Counted() {
		var one []float64
		for _, s := range t.Samples {
			if s.Operations > 0 {
				one = append(one, float64(s.Nanos)/float64(s.Operations))
			}
		}
		if len(one) > 1 {
			all = append(all, one)
		}
	}
	return all
}

// against compares two rows of a table by what it is ranked by; false where that
// cannot be.
func (t *Table) against(row, other *Row) (Comparison, bool) {
	if row == other || !row.Comparable() || !other.Comparable() {
		return Comparison{}, false
	}
	c, basis, err := row.Against(other, t.Primary)
	return c, basis == Joint && err == nil
}

// warnOfSyncs marks rows of one target that are faster with the stronger
// promise: one of the two does not do what its settings say, or something else
// differs.
func (t *Table) warnOfSyncs() {
	if !t.Changes {
		return
	}
	for _, strong := range t.Rows {
		for _, weak := range t.Rows {
			if strong.Cell.Target() != weak.Cell.Target() || !stronger(strong.Durability, weak.Durability) {
				continue
			}
			if c, ok := t.against(strong, weak); ok && c.Verdict == stat.Faster {
				strong.warn(StrongerSyncFaster{[2]assay.Durability{strong.Durability, weak.Durability},
					[2]string{strong.Cell.Profile, weak.Cell.Profile}, c.Ratio}, 0)
			}
		}
	}
}

// stronger reports whether a promises more than b; an unknown class compares with
// nothing.
func stronger(a, b assay.Durability) bool {
	return b != assay.DurabilityUnknown && !b.AtLeast(a)
}

// warnOfOptions marks rows that have one option more than another row, or another
// value of one, and are equivalent to it. Undecided is not equivalent.
func (t *Table) warnOfOptions() {
	for i, row := range t.Rows {
		for j, other := range t.Rows {
			d, one := oneOption(row, other)
			if !one || d.with == "" || d.without != "" && j > i { // the other one has it, or its turn comes
				continue
			}
			if c, ok := t.against(row, other); ok && c.Verdict == stat.Equivalent {
				row.warnOfOption(d, other, c.Ratio)
			}
		}
	}
	for _, row := range t.Factors { // leaving it out changed nothing
		f, has := row.Figure(t.Primary.Name)
		if has && f.Comparison != nil && f.Comparison.Verdict == stat.Equivalent {
			row.warnOfOption(option{name: row.Cell.Without, without: Requested(row)}, row.Reference, f.Comparison.Ratio)
		}
	}
}

// option is a setting or a compile option that one row has and another has not,
// or with another value; empty values are of rows that do not ask for it.
type option struct{ name, with, without string }

// IsSet is the value of a compile option that has none.
const IsSet = "set"

func (r *Row) warnOfOption(d option, other *Row, ratio stat.Interval) {
	found := OptionWithoutEffect{d.name, [2]string{r.Name(), other.Name()}, [2]string{d.with, d.without}, ratio, "",
		[2]assay.Durability{r.Durability, other.Durability}}
	if is := assay.Effective(r.Settings, d.name); is == assay.Effective(other.Settings, d.name) {
		found.Effective = is
	}
	r.warn(found, 0)
}

// oneOption tells in which one option two rows differ: in a setting, where their
// target is the same, or in a compile option, where their profile is. It is
// false where they differ in more, or in SQL or a DSN that no setting explains.
func oneOption(row, other *Row) (option, bool) {
	a, b := row.Cell, other.Cell
	switch {
	case a.DriverName() == b.DriverName() && a.Profile != b.Profile:
		d, one := onlyDifference(asked(row), asked(other))
		return d, one && slices.Equal(row.issuedBut(d.name), other.issuedBut(d.name))
	case a.Driver == b.Driver && a.DriverVersion == b.DriverVersion && a.Profile == b.Profile:
		return onlyDifference(compiled(a), compiled(b))
	}
	return option{}, false
}

func onlyDifference(a, b map[string]string) (option, bool) {
	var all []option
	for name, value := range a {
		if b[name] != value {
			all = append(all, option{name, value, b[name]})
		}
	}
	for name, value := range b {
		if _, both := a[name]; !both {
			all = append(all, option{name, "", value})
		}
	}
	if len(all) != 1 {
		return option{}, false
	}
	return all[0], true
}

func asked(r *Row) map[string]string {
	all := map[string]string{}
	for _, s := range r.Settings {
		if s.Requested != "" {
			all[s.Name] = s.Requested
		}
	}
	return all
}

// compiled are the compile options that were asked for.
func compiled(c assay.Cell) map[string]string {
	all := map[string]string{}
	for _, text := range strings.FieldsFunc(c.Options, func(r rune) bool { return r == ':' }) {
		name, value, has := strings.Cut(text, "=")
		if !has {
			value = IsSet
		}
		all[name] = value
	}
	return all
}

// issuedBut is what a connection gets beside one setting: SQL, and parts of the
// DSN.
func (r *Row) issuedBut(setting string) []string {
	parts := append(strings.FieldsFunc(r.DSN, func(r rune) bool { return r == '?' || r == '&' }), r.Each...)
	return slices.DeleteFunc(parts, func(part string) bool {
		return strings.Contains(part, setting) || slices.ContainsFunc(r.Settings, func(s assay.Setting) bool { return s.Name == setting && s.Issued == part })
	})
}

// warnAcross raises the doubts that need several tables, or the machine.
func (r *Result) warnAcross() {
	r.warnOfGrowth()
	r.warnOfDisk()
	r.warnOfTwinEngines()
	r.warnOfLayouts()
}

const (
	// maxGrowth is by how much a figure per operation may depend on how many
	// operations there are.
	maxGrowth = 1.5
	// beyondDisk is by how much more commits than syncs are more than chance.
	beyondDisk = 1.5
	// countParam is the param by which plans say how many operations a block
	// has.
	countParam = "n"
)

// warnOfGrowth compares the cells of an operation that differ in how many
// operations they have: what each costs should not depend on that. Other params,
// such as rows, may well change it, and so may n where it is read and not
// written: a scan of more rows takes longer.
func (r *Result) warnOfGrowth() {
	families := map[string][]*Row{}
	var order []string
	for row := range r.Rows() {
		if _, ok := row.Cell.Params[countParam]; !ok || !row.Table.Changes || !row.Comparable() {
			continue
		}
		key := familyOf(row.Cell)
		if families[key] == nil {
			order = append(order, key)
		}
		families[key] = append(families[key], row)
	}
	for _, key := range order {
		warnIfGrown(families[key])
	}
}

// familyOf is what cells have in common that differ in their number of
// operations only. A transaction that is the whole block differs with it.
func familyOf(c assay.Cell) string {
	n := c.Params[countParam]
	c.Params = maps.Clone(c.Params)
	delete(c.Params, countParam)
	if c.Transaction > 0 && strconv.Itoa(c.Transaction) == n {
		c.Transaction = -1
	}
	return c.Key()
}

func warnIfGrown(rows []*Row) {
	count := func(row *Row) int {
		n, _ := strconv.Atoi(row.Cell.Params[countParam])
		return n
	}
	slices.SortFunc(rows, func(a, b *Row) int { return count(a) - count(b) })
	first, last := rows[0], rows[len(rows)-1]
	c, err := stat.Rule{}.CompareUnpaired(last.series(assay.NsPerOp), first.series(assay.NsPerOp), false)
	if count(first) == count(last) || err != nil || !(c.Ratio.Low > maxGrowth) {
		return
	}
	last.warn(Grows{c.Ratio, last.Cell.Params[countParam], first.Cell.Params[countParam]}, c.Ratio.Center)
}

// warnOfDisk marks synced commits that come faster than the disk can sync.
// Several clients may share a sync.
func (r *Result) warnOfDisk() {
	rate, err := strconv.ParseFloat(r.Run.Host["syncs-per-second"], 64)
	if err != nil || !(rate > 0) {
		return
	}
	for row := range r.Rows() {
		if commits := syncedCommits(row); commits > beyondDisk*rate*float64(row.Cell.AllClients()) {
			row.warn(BeyondDisk{commits, rate}, commits/rate)
		}
	}
}

// SyncBeforeAck is the setting by which a trace of system calls says whether
// commits are synced before they are acknowledged.
const SyncBeforeAck = "sync-before-ack"

// syncedCommits is how many commits a second a row acknowledges whose syncs a
// trace saw; 0 where it saw none. It is at most one to a sync, since figures may
// be of rows, and at most one to a transaction, since a commit may sync several
// files, and some of them at no cost.
func syncedCommits(row *Row) float64 {
	speed, _ := row.Figure(assay.OpPerS)
	syncs, _ := row.Figure(assay.SyncsPerOp)
	if !row.Comparable() || assay.Effective(row.Settings, SyncBeforeAck) != "yes" {
		return 0
	}
	return speed.Interval.Center * min(syncs.Interval.Center, 1/float64(max(1, row.Cell.Transaction)))
}

// warnOfTwinEngines marks drivers whose engines are of the very same source, with
// the same options. Whether the machine code is the same too no target tells: C
// may be compiled, or translated, in several ways.
func (r *Result) warnOfTwinEngines() {
	names := map[string][]string{}
	for _, t := range r.Run.Targets {
		if id := t.Facts["source_id"]; id != "" && t.Facts["cgo"] != "" {
			key := id + " cgo=" + t.Facts["cgo"] + " api=" + t.Facts["api"] + " " + strings.Join(t.CompileOptions, " ")
			names[key] = append(names[key], t.Name())
		}
	}
	for row := range r.Rows() {
		for _, same := range names {
			if slices.Contains(same, row.Cell.Target()) && severalDrivers(same) {
				row.warn(SameEngine{same}, 0)
			}
		}
	}
}

// severalDrivers reports whether targets are not just versions of one driver.
func severalDrivers(targets []string) bool {
	first := assay.ParseDriverName(targets[0]).Name
	return slices.ContainsFunc(targets, func(name string) bool { return assay.ParseDriverName(name).Name != first })
}
