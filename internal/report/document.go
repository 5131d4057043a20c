package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
)

// document builds the report for readers: first what to do, then why.
func (r *Report) document() doc.Document {
	var d doc.Document
	d.Add(doc.Heading, "%s: recommendation", cmp.Or(r.Run.Plan, "run "+r.Run.ID))
	r.addRecommendations(&d)
	r.addFactors(&d)
	r.addTables(&d)
	r.addDifferences(&d)
	r.addConditions(&d)
	r.addChecks(&d)
	r.addEnvironment(&d)
	r.addRepeat(&d)
	return d
}

// WriteText prints the report as text for a terminal of so many columns; 0: there is none.
func (r *Report) WriteText(w io.Writer, columns int) error {
	return doc.WriteText(w, r.document(), columns)
}

// addRecommendations starts with the sentences that answer the question.
func (r *Report) addRecommendations(d *doc.Document) {
	a := r.Answer()
	d.Add(doc.Paragraph, "%s", r.extent(a))
	for _, c := range r.advice(a) {
		d.Add(doc.Paragraph, "%s", c.text)
		for _, use := range c.uses {
			r.addConnection(d, analysis.NewConnection(use))
			for _, note := range r.notesOf(use, false) {
				d.Add(doc.Warning, "%s", note)
			}
		}
	}
	changes := false
	for _, t := range r.Tables {
		changes = changes || t.Changes
		for _, k := range t.Rankings {
			d.Add(doc.Item, "%s", Sentence(k))
		}
		if len(t.Rankings) == 0 {
			d.Add(doc.Item, "%s: no recommendation, because no cell can be ranked", t.Title)
		}
	}
	if changes {
		addDurability(d)
	}
}

// addDurability explains the classes once.
func addDurability(d *doc.Document) {
	d.Add(doc.Paragraph, "The settings claim the durability, unless the text says how many power cuts or kills it survived:")
	for _, class := range slices.Backward(assay.Durabilities[1:]) { // but for the unknown one
		d.Add(doc.Item, "%s: %s", class, class.Loss())
	}
}

// addConnection shows how to open what was suggested.
func (r *Report) addConnection(d *doc.Document, c analysis.Connection) {
	if lines := r.openingOf(c); len(lines) > 0 {
		d.Add(doc.Paragraph, "Open every connection of %s with:", c.Name)
		for _, line := range lines {
			d.AddLines(doc.Literal, line)
		}
	}
	telling := r.tellingSettings()
	settings := slices.DeleteFunc(slices.Clone(c.Settings), func(s assay.Setting) bool { return !telling[s.Name] })
	if len(settings) == 0 {
		return
	}
	g := &doc.Grid{Header: []string{"setting", "requested", "effective"}, Right: make([]bool, 3)}
	for _, s := range settings {
		g.Rows = append(g.Rows, []string{wording.Clean(s.Name), cmp.Or(wording.Clean(wording.Setting(s.Name, s.Requested)), "-"), cmp.Or(wording.Clean(wording.Setting(s.Name, s.Effective)), "-")})
	}
	d.Add(doc.Paragraph, "Settings of %s:", c.Name)
	*d = append(*d, doc.Block{Kind: doc.Table, Grid: g})
}

// tellingSettings are the names of those that some profile asks for or that
// are not the same everywhere: the others explain nothing.
func (r *Report) tellingSettings() map[string]bool {
	telling, values := map[string]bool{}, map[string]string{}
	for row := range r.Rows() {
		for _, s := range row.Settings {
			before, seen := values[s.Name]
			telling[s.Name] = telling[s.Name] || s.Requested != "" || seen && before != s.Effective
			values[s.Name] = s.Effective
		}
	}
	return telling
}

// addTables shows the evidence.
func (r *Report) addTables(d *doc.Document) {
	d.Add(doc.Heading, "Figures")
	baseline := r.Run.Baseline
	d.Add(doc.Paragraph, "ratio = figure / figure of %s with %s, paired by launch, with its 95 %% CI (confidence interval). "+
		"± is the longer side of the figure's 95 %% CI. A bound is one-sided. "+
		"n counts launches. The data do not separate rows that share a rank. "+
		"A/A is the baseline against itself: this run's noise. "+
		"Durability is the class that the effective settings claim, or what power cuts showed; seen tells whether a trace of system calls shows commits synced before they are acknowledged.", cmp.Or(baseline.Driver.Name, "the reference"), profileWords(baseline.Profile))
	if all := r.circumstances(); len(all) > 0 {
		d.Add(doc.Paragraph, "As measured, %s.", strings.Join(all, "; "))
	}
	if target := r.Run.Options.Capacity; target != "" {
		d.Add(doc.Paragraph, "capacity/s is the mean of the arrival rates that met %s in the steps that confirm it; each launch searches anew.", target)
	}
	shown := map[string]string{} // what differs, and the table under which it stands
	for _, t := range r.Tables {
		addTable(t, d)
		addDiffering(t, d, shown)
	}
}

// profileWords says with which profile of the reference rows are compared.
func profileWords(fixed string) string {
	if fixed == "" {
		return "the same profile"
	}
	return "the profile " + fixed
}

// addDiffering shows under a table what else could explain its ratios, once for
// all tables that have the same.
func addDiffering(t *analysis.Table, d *doc.Document, shown map[string]string) {
	var lines []string
	for _, d := range t.Differences {
		lines = append(lines, differing(d))
	}
	if len(lines) == 0 {
		return
	}
	key := strings.Join(lines, "\n")
	if title, before := shown[key]; before {
		d.Add(doc.Footnote, "What differs between these targets: as under %s.", title)
		return
	}
	shown[key] = t.Title
	d.Add(doc.Paragraph, "What differs between these targets:")
	for _, line := range lines {
		d.Add(doc.Item, "%s", line)
	}
}

// differing says of whom a difference is, and who has which value; of engines it goes
// without saying.
func differing(d analysis.Difference) string {
	if d.Of == "engine" {
		return d.Name + ": " + held(d)
	}
	return d.Of + ", " + d.Name + ": " + held(d)
}

// held says who has which value.
func held(d analysis.Difference) string {
	var values []string
	for _, v := range d.Values {
		values = append(values, v.Value+" ("+strings.Join(v.Drivers, ", ")+")")
	}
	return strings.Join(values, "; ")
}

// addDifferences shows what else could explain a ratio.
func (r *Report) addDifferences(d *doc.Document) {
	d.Add(doc.Heading, "What differs between these targets")
	if len(r.Differences) == 0 {
		d.Add(doc.Paragraph, "Nothing that they report.")
		return
	}
	for _, difference := range r.Differences {
		if difference.OnlySet() {
			continue
		}
		d.Add(doc.Item, "%s, %s: %s", difference.Of, difference.Name, held(difference))
	}
	r.addOptions(d)
}

// addOptions lists the compile options that some drivers have and others do
// not, a line for each set of drivers.
func (r *Report) addOptions(d *doc.Document) {
	var holders []string
	byHolders := map[string][]string{}
	for _, difference := range r.Differences {
		if !difference.OnlySet() {
			continue
		}
		for _, v := range difference.Values {
			if v.Value != analysis.Absent(analysis.CompileOption) {
				who := strings.Join(v.Drivers, ", ")
				if byHolders[who] == nil {
					holders = append(holders, who)
				}
				byHolders[who] = append(byHolders[who], strings.TrimSuffix(difference.Name+"="+v.Value, "=set"))
			}
		}
	}
	slices.Sort(holders)
	for _, who := range holders {
		d.Add(doc.Item, "compile options of %s only: %s", who, strings.Join(byHolders[who], ", "))
	}
}

// addEnvironment shows where and with what the run was made.
func (r *Report) addEnvironment(d *doc.Document) {
	run := r.Run
	d.Add(doc.Heading, "Environment")
	d.Add(doc.Item, "run %s, started %s, assay %s, seed %d", run.ID, run.Started.UTC().Format(time.RFC3339), cmp.Or(run.Version, "of unknown version"), run.Seed)
	for _, t := range run.Targets {
		d.Add(doc.Item, "target %s: %s %s, build %s", t.Name(), t.Engine, t.EngineVersion, cmp.Or(t.Build, "unknown"))
	}
	for _, name := range slices.Sorted(maps.Keys(run.Host)) {
		d.Add(doc.Item, "%s: %s", name, run.Host[name])
	}
}

// addRepeat shows the commands that measure the same again.
func (r *Report) addRepeat(d *doc.Document) {
	d.Add(doc.Heading, "How to repeat")
	command := repeat(r.Run, r.Store)
	d.AddLines(doc.Literal, command)
	switch {
	case r.Run.Status == assay.Finished:
	case r.Run.Imported:
		d.Add(doc.Paragraph, "Only the machine that this run was started on can resume it.")
	default:
		d.Add(doc.Paragraph, "To resume this run:")
		d.AddLines(doc.Literal, r.command("run", planOf(r.Run), "--resume"))
	}
}

// repeat is the command line of a run.
func repeat(run assay.Run, store string) string {
	o := run.Options
	words := []string{"run", planOf(run)}
	if o.Capacity != "" {
		words = append(words, "--find-capacity", o.Capacity)
	}
	if o.Replay {
		words = append(words, "--replay")
	}
	if len(o.Drivers) > 0 {
		words = append(words, "--drivers", strings.Join(o.Drivers, ","))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Only)) {
		words = append(words, "--only", name+"="+strings.Join(o.Only[name], ","))
	}
	if o.Budget > 0 {
		words = append(words, "--budget", o.Budget.String())
	}
	if o.Exact {
		words = append(words, "--precision", fmt.Sprint(o.Precision))
	}
	if o.Margin > 0 && o.Margin != analysis.DefaultMargin {
		words = append(words, "--margin", fmt.Sprint(o.Margin))
	}
	return wording.Command(store, words...)
}

// planOf is the plan as a command names it: a built-in one by name, a user's
// own by its file.
func planOf(run assay.Run) string {
	if strings.Contains(run.PlanFile, "/") {
		return run.PlanFile
	}
	return run.Plan
}

// effect says in words what leaving a setting out did.
func effect(t *analysis.Table, row *analysis.Row) string {
	f, has := row.Figure(t.Primary.Name)
	if !has || f.Comparison == nil {
		return "not measured (" + ended(row) + ")"
	}
	c := *f.Comparison
	with := analysis.Cost(c.Ratio, t.Primary) // without / with
	switch c.Verdict {
	case stat.Slower:
		return wording.Ratio(with, "%sx [%s, %s] faster with it")
	case stat.Faster:
		return wording.Ratio(with.Inverse(), "%sx [%s, %s] slower with it")
	case stat.Equivalent:
		return wording.Ratio(with, "no difference (%s [%s, %s])")
	}
	return wording.Ratio(with, "undecided (%s [%s, %s])") + ": " + Why(c)
}

func (r *Report) addFactors(d *doc.Document) {
	any := slices.ContainsFunc(r.Tables, func(t *analysis.Table) bool { return len(t.Factors) > 0 })
	if !any {
		return
	}
	d.Add(doc.Heading, "Which settings made the difference")
	d.Add(doc.Paragraph, "Ablation: assay left out one setting at a time and kept the others, in the same launches as the complete profile. "+
		"These ratios do not show what a setting costs or gives in durability: see the durability beside them.")
	for _, t := range r.Tables {
		if len(t.Factors) == 0 {
			continue
		}
		d.Add(doc.Subheading, "%s, %s", t.Title, t.Factors[0].Name())
		g := &doc.Grid{Header: []string{"setting", "value", "effect on " + t.Primary.Name, "durability without it", "n"}, Right: []bool{false, false, false, false, true}}
		rows := slices.Clone(t.Factors)
		slices.SortFunc(rows, func(a, b *analysis.Row) int { return strings.Compare(a.Cell.Without, b.Cell.Without) })
		for _, row := range rows {
			f, _ := row.Figure(t.Primary.Name)
			lasting := "-"
			if t.Changes {
				lasting = durabilityCell(row)
			}
			g.Rows = append(g.Rows, []string{row.Cell.Without, wording.Clean(analysis.Requested(row)), effect(t, row), lasting, fmt.Sprint(f.Interval.N)})
		}
		*d = append(*d, doc.Block{Kind: doc.Table, Grid: g})
	}
}
