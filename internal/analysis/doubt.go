package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
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
	r.warnOfOrder("the figure", "look for a machine that warms up or slows down, or for data that grow; ratios within a launch cancel what all rows share", figures, t.Margin)
	if r.compared() {
		x, y, _ := pair(r, r.Reference, t.Primary.Name)
		r.warnOfOrder("the ratio to the baseline", "the confidence interval may be too narrow and the verdict too certain: repeat the run at another time", quotients(x, y), t.Margin)
	}
	r.warnOfShape(figures, t.Margin)
	if windows := r.windows(); len(windows) > 0 {
		if from, steady := stat.SteadyFrom(windows); !steady {
			r.warn("not-steady", float64(from)/float64(len(windows[0])), "use blocks with a longer count, so that the start weighs less",
				"window %d of %d of a launch still differs from those after it: the warm-up did not end", from, len(windows[0]))
		}
	}
}

// warnOfOrder looks for launches that are not independent of those before them:
// the ratio is asked too, for its drift is what makes verdicts wrong. of names the series, and
// ofDrift is the advice where it drifts.
func (r *Row) warnOfOrder(of, ofDrift string, series []float64, margin float64) {
	total, p, drifts := stat.Drift(series)
	if drifts { // which is an autocorrelation too
		if beyond(total, margin) {
			r.warn(Drift, math.Abs(math.Log(total)), ofDrift, "over %d launches %s changed to %s times its first value (p %.1g)", len(series), of, wording.Digits(total), p)
		}
		return
	}
	if c, found := stat.Autocorrelation(series); found {
		r.warn("autocorrelation", c, "the confidence interval may be too narrow: repeat the run at another time",
			"%s of a launch resembles that of the launch before (rank correlation over %d launches: %.2f)", of, len(series), c)
	}
}

// warnOfShape looks for launches that are not spread around one middle.
func (r *Row) warnOfShape(figures []float64, margin float64) {
	if gap, upper, found := stat.TwoModes(figures); found {
		if beyond(gap, margin) {
			r.warn("two-modes", gap, "look at both groups: their mean describes neither",
				"%d of %d launches are %s times the others, with nothing in between", upper, len(figures), wording.Digits(gap))
		}
		return
	}
	if skewness, found := stat.Skewed(figures); found {
		r.warn("skewed", math.Abs(skewness), "look for stalls; the confidence interval may be too narrow",
			"a few of %d launches lie far out on one side (skewness %.1f)", len(figures), skewness)
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
				strong.warn("stronger-sync-faster", 0, "compare sync-before-ack of both, and what else the profiles set", "%s with %s is faster than %s with %s (%s)",
					Class(strong.Durability), strong.Cell.Profile, Class(weak.Durability), weak.Cell.Profile, wording.Ratio(c.Ratio, "%s [%s, %s]"))
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

// isSet is the value of a compile option that has none.
const isSet = "set"

func (r *Row) warnOfOption(d option, other *Row, ratio stat.Interval) {
	evidence := fmt.Sprintf("%s and %s are equivalent (%s)", r.asking(d.name, d.with), other.asking(d.name, d.without), wording.Ratio(ratio, "%s [%s, %s]"))
	advice := "it makes no difference here: leave it out, or measure where it could matter"
	switch is := assay.Effective(r.Settings, d.name); {
	case is != "" && is == assay.Effective(other.Settings, d.name):
		evidence, advice = evidence+"; "+is+" is in effect in both", "it is the default of this driver"
	case r.Durability != other.Durability:
		advice = "the stronger durability costs nothing here: use it"
	}
	r.warn("option-without-effect", 0, advice, "%s", evidence)
}

// asking is the row's name with an option, and the value that it asks for.
func (r *Row) asking(option, value string) string {
	switch value {
	case "":
		return r.Name() + " without " + option
	case isSet:
		return r.Name() + " with " + option
	}
	return r.Name() + " with " + option + "=" + value
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
			value = isSet
		}
		all[name] = value
	}
	return all
}

// issuedBut returns what a connection gets beside one setting: SQL, and parts of the
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

// familyOf returns what cells have in common that differ in their number of
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
	x, y := last.series(assay.NsPerOp), first.series(assay.NsPerOp)
	c, err := stat.Rule{}.CompareUnpaired(x, y, false)
	if count(first) == count(last) || err != nil {
		return
	}
	if c = c.Allowing(stat.Dependent(x, y), false); !(c.Ratio.Low > maxGrowth) {
		return
	}
	last.warn("grows", c.Ratio.Center, "a figure of this operation holds only for its n: measure with the n of your application, or in transactions of a fixed size",
		"an operation takes %s times as long with n=%s as with n=%s: the figure depends on the number of operations",
		wording.Ratio(c.Ratio, "%s [%s, %s]"), last.Cell.Params[countParam], first.Cell.Params[countParam])
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
			row.warn("beyond-disk", commits/rate, "check whether the syncs reach the disk, and what the trace counts as one: sync-before-ack",
				"%s synced commits per second, but the disk did %s syncs per second for one client when assay probed it", wording.Digits(commits), wording.Digits(rate))
		}
	}
}

// SyncBeforeAck is the setting by which a trace of system calls says whether
// commits are synced before they are acknowledged.
const SyncBeforeAck = "sync-before-ack"

// syncedCommits returns how many commits a second a row acknowledges whose syncs a
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
				row.warn("same-engine", 0, "attribute their difference to the driver, and to how the engine was compiled or translated for it",
					"the same engine source with the same options, as %s", strings.Join(same, " and "))
			}
		}
	}
}

// severalDrivers reports whether targets are not just versions of one driver.
func severalDrivers(targets []string) bool {
	first := assay.ParseDriverName(targets[0]).Name
	return slices.ContainsFunc(targets, func(name string) bool { return assay.ParseDriverName(name).Name != first })
}
