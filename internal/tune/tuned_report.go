package tune

import (
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/emit"
	"assay/internal/lab"
	"assay/internal/stat"
	"assay/internal/tune/expert"
	"assay/kit/sqlite"
)

// report returns what was found, with the figures of the confirmation.
func (t *Tuning) report(outcome *Outcome) (*Report, error) {
	r := &Report{Plan: t.request.Plan.Name, Driver: t.drivers[0], Engine: t.engine, Again: t.request.Again, Show: t.request.Show, Current: t.current.Name, Class: t.class, Memory: int64(t.request.Memory), Margin: t.request.Plan.Margin,
		Effective: t.effective, Space: t.space, Outcome: outcome, Runs: t.runs, Unindexed: t.unindexed, Grows: t.grows, Notes: t.notes, Unscaled: t.unscaled}
	for _, o := range t.operations {
		r.OwnFile = r.OwnFile || o.Dataset.File != ""
		metric := t.metric("", o, t.figures)
		r.Operations = append(r.Operations, newOperation(operationName(o), metric, t.figuresOf(t.baseline(), o, metric)))
	}
	for _, trial := range t.figures {
		for _, w := range trial.Warnings {
			if note := w.Evidence + "; " + w.Advice; w.Code == "caution" && !slices.Contains(r.Notes, note) {
				r.Notes = append(r.Notes, note)
			}
		}
	}
	if len(t.unindexed) > 0 && expert.Find() == "" {
		r.Notes = append(r.Notes, "install the program sqlite3, and tune tries the indexes that its command .expert finds")
	}
	if !t.space.StartIsCurrent {
		r.Notes = append(r.Notes, fmt.Sprintf("the current settings break the constraints: they have durability %s and may take %d MiB of memory; tune has to keep durability %s and --memory %s",
			t.now, t.engine.memory(t.effective, connections(t.operations))>>20, t.class, t.request.Memory))
	}
	if t.disturbed > 0 && len(outcome.Finalists) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d of %s were disturbed by other programs: the intervals are wider for it", t.disturbed, wording.Plural(t.launches, "launch")))
	}
	if outcome.Chosen == nil {
		return r, nil
	}
	p := outcome.Chosen.Point
	r.Profile = t.profile(p)
	r.Driver = t.member(p).Driver.String()
	r.Ecosystem = t.request.Ecosystems.OfDriver(t.member(p).Driver.Name)
	for _, o := range t.operations {
		r.PeakNow = max(r.PeakNow, slices.Max(append(t.figuresOf(t.baseline(), o, assay.PeakBytes), 0)))
		r.Peak = max(r.Peak, slices.Max(append(t.figuresOf(t.member(p), o, assay.PeakBytes), 0)))
	}
	if r.Peak > float64(t.request.Memory) {
		r.Notes = append(r.Notes, fmt.Sprintf("the worker's peak memory exceeds --memory %s: only caches and the memory map stay within it", t.request.Memory))
	}
	return r, t.emitted(r)
}

func newOperation(name, metric string, figures []float64) Operation {
	known, _ := assay.MetricByName(metric)
	return Operation{Name: name, Now: stat.LogInterval(figures), Unit: known.Unit}
}

// figuresOf are a member's figures of an operation in the confirmation.
func (t *Tuning) figuresOf(m lab.Member, o assay.Case, metric string) []float64 {
	var all []float64
	for _, trial := range t.figures {
		if one, ok := t.trial([]assay.Trial{trial}, m, o); ok && one.Outcome == assay.OK {
			if figure, ok := one.Figures[metric]; ok {
				all = append(all, figure)
			}
		}
	}
	return all
}

// emitted prints the proposal as configuration. What the ecosystem cannot set is a
// note.
func (t *Tuning) emitted(r *Report) error {
	if t.request.Emit == "" {
		return nil
	}
	file := map[string]string{}
	for name, value := range r.Profile.Settings {
		if s, ok := sqlite.Lookup(name); ok && s.OfFile {
			file[name] = value
		}
	}
	form, err := t.request.Ecosystems.For(t.request.Emit, emit.Source{Name: t.request.Plan.Name + "/tuned", Profile: r.Profile, File: file, Options: t.request.Ecosystems.OptionsOf(t.request.Emit, []string{r.Driver})})
	if err != nil {
		return lab.AsInputError(err)
	}
	r.Emitted = form.Text
	for _, unset := range form.Unset {
		r.Notes = append(r.Notes, t.request.Emit+" does not set "+unset)
	}
	return nil
}

// operationName names an operation with the coordinates that say which one it is.
func operationName(c assay.Case) string {
	cell := c.Cell
	if cell.Clients == 1 {
		cell.Clients = 0 // as most are
	}
	return strings.Join(append([]string{cell.Operation}, cell.Words()...), ", ")
}
