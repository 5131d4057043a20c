package history

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
	"assay/internal/sys/format"
)

// Across is one cell over machines, against one baseline: its points are machines.
type Across struct {
	Series
	Cell  assay.Cell
	Runs  []assay.Run // of the points, the newest of each machine
	Marks [][]string  // of the points: the checks that the machine failed
	Over  stat.Across // its Ratio and Next are time / the baseline's time
	Hints []string    // facts that go with the ratio
	all   []stat.Comparison
	more  bool // higher figures are better
}

// OverMachines compares cells over machines, of which each has one result of one
// plan: those that at least two machines have, of the same version of the driver, of
// the baseline and of assay.
func OverMachines(filter Filter, machines []*analysis.Result) []*Across {
	byKey, marks := map[string]*Across{}, Marks(machines)
	for i, r := range machines {
		for _, e := range Entries(r) {
			if c := e.comparison; !filter.has(e.Cell) || !c.Paired() || c.NotOK != nil {
				continue
			}
			key := e.key + "\x00" + e.Cell.DriverVersion + "\x00" + r.Run.Version // which may measure otherwise
			a := byKey[key]
			if a == nil {
				a = &Across{Series: e.of, Cell: e.Cell, more: e.higherBetter}
				a.Driver = e.Cell.Target()
				byKey[key] = a
			}
			a.Points, a.Runs, a.all = append(a.Points, e.Point), append(a.Runs, r.Run), append(a.all, e.comparison.Comparison)
			a.Marks = append(a.Marks, marks[i])
		}
	}
	var all []*Across
	for _, a := range byKey {
		if len(a.Points) > 1 {
			a.judge(machines[0].Run.Options.Margin)
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *Across) int {
		return cmp.Or(len(b.Points)-len(a.Points), strings.Compare(a.Name(), b.Name()))
	})
	return all
}

func (a *Across) judge(margin float64) {
	a.Over = stat.Rule{Margin: cmp.Or(margin, analysis.DefaultMargin)}.Over(a.all, a.more)
	if a.more {
		a.Over.Ratio, a.Over.Next = a.Over.Ratio.Inverse(), a.Over.Next.Inverse()
	}
	if a.Over.Between > 0 {
		a.Hints = a.findHints()
	}
}

// hintFacts are the facts of machines that may go with a ratio.
var hintFacts = []string{"cpu", "cores", "memory", "arch", "os", "kernel", "filesystem", "device-model", "rotational", "write-cache", "io-scheduler", "governor", "boost", "virtualization"}

// minInGroup is how many machines have to share a fact for it to be a hint.
const minInGroup = 2

// findHints are the facts by which the machines fall into groups whose ratios do not
// overlap. Of so many facts some do so by chance.
func (a *Across) findHints() []string {
	var hints []string
	for _, fact := range hintFacts {
		groups := map[string][]float64{}
		for i, run := range a.Runs {
			groups[run.Host[fact]] = append(groups[run.Host[fact]], a.Points[i].Cost.Center)
		}
		if text := separated(groups); text != "" && groups[""] == nil {
			hints = append(hints, fact+": "+text)
		}
	}
	if rates := a.syncRates(); rates != "" {
		hints = append(hints, rates)
	}
	return hints
}

// separated says the ratios of each group where those of no two overlap.
func separated(groups map[string][]float64) string {
	if len(groups) < 2 {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(groups), func(x, y string) int {
		return cmp.Or(cmp.Compare(slices.Min(groups[x]), slices.Min(groups[y])), strings.Compare(x, y))
	})
	var parts []string
	highest := 0.0
	for _, name := range names {
		low, high := slices.Min(groups[name]), slices.Max(groups[name])
		if len(groups[name]) < minInGroup || low <= highest {
			return ""
		}
		highest = high
		parts = append(parts, fmt.Sprintf("%s %sx to %sx", wording.Clean(name), wording.Digits(low), wording.Digits(high)))
	}
	return strings.Join(parts, "; ")
}

// syncRates reports whether the ratio rises or falls with the sync rate of the disk, over
// at least twice minInGroup machines.
func (a *Across) syncRates() string {
	type machine struct{ rate, ratio float64 }
	var all []machine
	for i, run := range a.Runs {
		rate, err := strconv.ParseFloat(run.Host["syncs-per-second"], 64)
		if err != nil {
			return ""
		}
		all = append(all, machine{rate, a.Points[i].Cost.Center})
	}
	slices.SortFunc(all, func(x, y machine) int { return cmp.Compare(x.rate, y.rate) })
	rises, falls := true, true
	for i := 1; i < len(all); i++ {
		rises = rises && all[i].rate > all[i-1].rate && all[i].ratio > all[i-1].ratio
		falls = falls && all[i].rate > all[i-1].rate && all[i].ratio < all[i-1].ratio
	}
	first, last := all[0], all[len(all)-1]
	if len(all) < 2*minInGroup || !rises && !falls {
		return ""
	}
	return fmt.Sprintf("syncs of the disk: %sx at %.0f per second, %sx at %.0f, and in order between", wording.Digits(first.ratio), first.rate, wording.Digits(last.ratio), last.rate)
}

// Machine names the machine of a point: equal machines have names that differ.
func (a *Across) Machine(point int) string { return a.Runs[point].NamedMachine() }

// Marked are the machines that failed checks, each with what it failed.
func (a *Across) Marked() []string {
	var all []string
	for i, marks := range a.Marks {
		if len(marks) > 0 {
			all = append(all, wording.Clean(a.Machine(i)+": "+strings.Join(marks, "; ")))
		}
	}
	return all
}

// Verdict says on how many machines the driver is faster or slower, and what holds
// over machines like these.
func (a *Across) Verdict() string {
	var counts []string
	for _, v := range []stat.Verdict{stat.Faster, stat.Slower, stat.Equivalent, stat.Undecided} {
		if n := a.Over.Machines[v]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s on %d", v, n))
		}
	}
	counts[0] += " of " + wording.Plural(len(a.Points), "machine")
	return fmt.Sprintf("%s; time / baseline %s over machines like these: %s", strings.Join(counts, ", "), wording.Times(a.Over.Ratio), a.Over.Verdict)
}

// MachineFormats returns the formats of cells over machines.
func MachineFormats() format.List[[]*Across] {
	return format.List[[]*Across]{
		{Name: "text", Write: writeMachines},
		{Name: "csv", Write: writeMachinesCSV},
		{Name: "json", Write: func(out io.Writer, all []*Across) error { return format.JSON(out, acrossValues(all)) }},
	}
}

// writeMachines prints a forest plot for each cell.
func writeMachines(out io.Writer, all []*Across) error {
	var d doc.Document
	for _, a := range all {
		d.Add(doc.Answer, "%s, plan %s", a.Name(), a.Plan)
		d.Add(doc.Footnote, "%s", a.Verdict())
		scale := newPlot(a.Points)
		grid := doc.Grid{Header: []string{"machine", "time / baseline", scale.header(), "run"}}
		for i, p := range a.Points {
			grid.Rows = append(grid.Rows, []string{a.Machine(i), wording.Times(p.Cost), scale.line(p.Cost), p.Run})
		}
		grid.Rows = append(grid.Rows, []string{"machines like these", wording.Times(a.Over.Ratio), scale.line(a.Over.Ratio), ""})
		if a.Over.Next.Known() {
			grid.Rows = append(grid.Rows, []string{"one more such machine", wording.Times(a.Over.Next), "", ""})
		}
		d.AddTable(grid)
		d.AddSome(doc.Warning, a.Marked()...)
		for _, hint := range a.Hints {
			d.Add(doc.Footnote, "hint, which chance can give too: %s", hint)
		}
	}
	return doc.WriteText(out, d, 0)
}

func writeMachinesCSV(out io.Writer, all []*Across) error {
	rows := [][]string{{"plan", "operation", "driver", "profile", "baseline", "machine", "run", "ratio", "low", "high", "n", "verdict", "failed_checks"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, a := range all {
		row := func(machine, run string, cost stat.Interval, verdict stat.Verdict, marks ...string) {
			rows = append(rows, []string{a.Plan, a.Title, a.Driver, a.Profile, a.Baseline, machine, run, number(cost.Center), number(cost.Low), number(cost.High), strconv.Itoa(cost.N), string(verdict), strings.Join(marks, "; ")})
		}
		for i, p := range a.Points {
			row(a.Machine(i), p.Run, p.Cost, a.all[i].Verdict, a.Marks[i]...)
		}
		row("all", "", a.Over.Ratio, a.Over.Verdict)
		if a.Over.Next.Known() {
			row("next", "", a.Over.Next, "")
		}
	}
	return csv.NewWriter(out).WriteAll(rows)
}

// The names of JSON, which programs read.
type (
	jsonAcross struct {
		Plan      string        `json:"plan"`
		Operation string        `json:"operation"`
		Driver    string        `json:"driver"`
		Profile   string        `json:"profile,omitempty"`
		Baseline  string        `json:"baseline"`
		Machines  []jsonMachine `json:"machines"`
		Over      jsonRatio     `json:"machines_like_these"`
		Next      *jsonRatio    `json:"one_more_machine,omitempty"` // nil for fewer than three
		Hints     []string      `json:"hints,omitempty"`
	}
	jsonMachine struct {
		Machine string `json:"machine"`
		Run     string `json:"run"`
		jsonRatio
		Failed []string `json:"failed_checks,omitempty"`
	}
	jsonRatio struct {
		Ratio   float64      `json:"ratio"`
		Low     *float64     `json:"low,omitempty"` // nil where no interval is known
		High    *float64     `json:"high,omitempty"`
		N       int          `json:"n"` // launches, or machines
		Verdict stat.Verdict `json:"verdict,omitempty"`
	}
)

func acrossValues(all []*Across) []jsonAcross {
	ratio := func(i stat.Interval, verdict stat.Verdict) jsonRatio {
		r := jsonRatio{Ratio: i.Center, N: i.N, Verdict: verdict}
		if i.Known() {
			r.Low, r.High = &i.Low, &i.High
		}
		return r
	}
	printed := []jsonAcross{}
	for _, a := range all {
		one := jsonAcross{Plan: a.Plan, Operation: a.Title, Driver: a.Driver, Profile: a.Profile, Baseline: a.Baseline,
			Over: ratio(a.Over.Ratio, a.Over.Verdict), Hints: a.Hints}
		for i, p := range a.Points {
			one.Machines = append(one.Machines, jsonMachine{a.Machine(i), p.Run, ratio(p.Cost, a.all[i].Verdict), a.Marks[i]})
		}
		if a.Over.Next.Known() {
			one.Next = new(ratio(a.Over.Next, ""))
		}
		printed = append(printed, one)
	}
	return printed
}
