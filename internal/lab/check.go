package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/dataset"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/sys/near"
	"assay/kit/kv"
	"assay/kit/postgres"
)

// Checked holds what is known of a request before anything is built or measured.
type Checked struct {
	Cells int
	// Least is what the minimum launches of all cells take, by an estimate.
	Least assay.Spent
	// Operations is how many those of the cells are, each data counting anew. Guessed names
	// those that were not done within the patience, so that their time is a guess: first
	// the one in which it ended, if any.
	Operations int
	Guessed    []string
	Endless    bool // the patience ended in the first of Guessed
	// TooLong names operations of which not one launch fits into the budget, with the reason.
	TooLong  []string
	Warnings []assay.Warning // of what the plan asks for and is not measured, each once
}

// timedFor is how long Check does one operation.
const timedFor = 200 * time.Millisecond

// Check finds the mistakes that a run of a request would end with: unknown
// drivers, and SQL that does not compile on the data. It makes the data and does each
// operation on them, until the patience ends: what is left then is estimated by
// rule of thumb.
func (l *Lab) Check(ctx context.Context, request Request, patience time.Duration) (Checked, error) {
	unknown := l.knowsDrivers(request)
	chosen, err := l.selectCases(ctx, request.Plan, request.options(), request.Sides)
	if err != nil {
		return Checked{}, joined(unknown, err)
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	paces, err := l.paces(ctx, patient, chosen.cases, request.Plan.Timeout)
	if err := joined(unknown, err); err != nil {
		return Checked{}, err
	}
	if ctx.Err() != nil {
		return Checked{}, ctx.Err()
	}
	checked := Checked{Cells: len(chosen.cases), Operations: len(paces)}
	checked.Guessed, checked.Endless = guessed(paces, chosen.cases)
	costs := l.costs(ctx, chosen.cases, paces)
	checked.Least = runner.Estimate(chosen.cases, request.Plan.Launches, costs)
	checked.TooLong = tooLong(chosen, costs)
	for _, c := range chosen.cases {
		for _, w := range runner.BeginWarning(c) {
			if !slices.Contains(checked.Warnings, w) {
				checked.Warnings = append(checked.Warnings, w)
			}
		}
	}
	return checked, nil
}

// costs returns what is known of cases whose operations were timed. Those of the others are
// guessed.
func (l *Lab) costs(ctx context.Context, cases []assay.Case, paces map[string]pace) runner.Costs {
	guessPaces(paces, cases)
	commits := l.commitTimes(ctx, cases)
	return runner.Costs{
		Processors: runtime.GOMAXPROCS(0),
		Sync:       commits[commitKey(synced)],
		Pace:       func(c assay.Case) runner.Pace { return paces[paceKey(c)].Pace },
		Bytes:      func(c assay.Case) int64 { return paces[paceKey(c)].bytes },
		Commit: func(c assay.Case) time.Duration {
			if settings := committing(c); settings != nil {
				return commits[commitKey(settings)]
			}
			return 0
		},
	}
}

// Estimate returns what so many launches of cases take, all of which have the data that are
// there already, as Check estimates it.
func (l *Lab) Estimate(ctx context.Context, data *dataset.Data, cases []assay.Case, launches int, patience time.Duration) time.Duration {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	paces := map[string]pace{}
	for key, c := range firstOf(cases, paceKey) {
		paces[key], _ = timed(patient, data, c.Operation) // what cannot be timed here is guessed
	}
	return runner.Estimate(cases, launches, l.costs(ctx, cases, paces)).Total()
}

func tooLong(chosen selection, costs runner.Costs) (all []string) {
	seen := map[string]bool{}
	for _, c := range chosen.cases {
		name := strings.Join(append([]string{c.Cell.Operation}, c.Cell.ParamWords()...), ", ")
		if why := runner.TooLong(c, chosen.options.Budget, costs); why != "" && !seen[name] {
			seen[name] = true
			all = append(all, name+": "+why)
		}
	}
	return all
}

// guessed names the operations that were not timed, in the order of the cells: first the
// one in which the patience ended.
func guessed(paces map[string]pace, cases []assay.Case) (names []string, ended bool) {
	for key, c := range firstOf(cases, paceKey) {
		found, known := paces[key]
		if !known || found.Each > 0 {
			continue
		}
		name := strings.Join(append([]string{c.Cell.Operation}, c.Cell.ParamWords()...), ", ")
		if found.ended {
			names, ended = append([]string{name}, names...), true
		} else {
			names = append(names, name)
		}
	}
	return names, ended
}

// guessPaces gives operations that there was no time for the median of those that were
// timed on the same data: where the first ones are slow, so are the others.
func guessPaces(paces map[string]pace, cases []assay.Case) {
	timed := map[string][]time.Duration{}
	keys := map[string]string{} // the data of each operation
	for _, c := range cases {
		key, data := paceKey(c), c.Cell.Workload+" "+c.Cell.ParamString()
		if _, seen := keys[key]; !seen && paces[key].Each > 0 {
			timed[data] = append(timed[data], paces[key].Each)
		}
		keys[key] = data
	}
	for _, all := range timed {
		slices.Sort(all)
	}
	for key, found := range paces {
		if all := timed[keys[key]]; found.Each <= 0 && len(all) > 0 {
			found.Each = all[len(all)/2]
			paces[key] = found
		}
	}
}

// committedFor is how long commits are tried: a disk that others use is fast at one
// moment and slow at the next.
const committedFor = time.Second

// synced are settings with which a commit is a sync of a file that grows, as it is in
// most key-value stores.
var synced = map[string]string{"journal_mode": "wal", "synchronous": "2"}

// commitTimes returns how long commits take in the folder of the data, by commitKey:
// each combination of what decides it is tried once. Those that fail are left out.
func (l *Lab) commitTimes(ctx context.Context, cases []assay.Case) map[string]time.Duration {
	all := []map[string]string{synced}
	for _, c := range cases {
		if settings := committing(c); settings != nil {
			all = append(all, settings)
		}
	}
	known := map[string]time.Duration{}
	for _, settings := range all {
		key := commitKey(settings)
		if _, tried := known[key]; !tried {
			known[key], _ = dataset.CommitTime(ctx, l.Cache, settings, committedFor)
		}
	}
	return known
}

// committing are the settings that decide how long a commit of a case takes; nil:
// they are not known.
func committing(c assay.Case) map[string]string {
	settings := c.Profile.Requested()
	ofServer, _ := postgres.Settings.Own(settings)
	switch {
	case !c.Operation.Changes, settings["memory"] == "1", c.Operation.KV() && settings[kv.Sync] == "0",
		settings["synchronous_commit"] == "off", settings["fsync"] == "off":
		return nil
	case c.Operation.KV(), len(ofServer) > 0:
		return synced
	}
	return settings
}

func commitKey(settings map[string]string) string {
	return settings["locking_mode"] + "|" + settings["journal_mode"] + "|" + settings["synchronous"]
}

// joined is both mistakes of a request as one. An error that is no mistake stands
// alone.
func joined(unknown, err error) error {
	switch {
	case unknown == nil || err != nil && !errors.As(err, new(*InputError)):
		return err
	case err == nil:
		return unknown
	}
	return AsInputError(errors.Join(unknown, err), driversHint)
}

// knowsDrivers refuses unknown drivers, all at once.
func (l *Lab) knowsDrivers(request Request) error {
	known, err := l.Source.Drivers()
	if err != nil {
		return err
	}
	names := driverNames(known)
	var wrong []error
	wanted := request.Drivers
	if len(wanted) == 0 {
		wanted = request.Plan.Drivers
		if found := request.Plan.UnknownDrivers(names); len(found) > 0 {
			return AsInputError(found, driversHint)
		}
	}
	for _, name := range wanted {
		spec, err := build.ParseSpec(name)
		switch {
		case name == goDrivers, name == allDrivers:
		case err != nil:
			wrong = append(wrong, err)
		case !hasDriver(known, spec.Name):
			wrong = append(wrong, plan.Unknown("driver", spec.Name, names))
		}
	}
	return AsInputError(errors.Join(wrong...), driversHint)
}

// MisnamedDrivers adds to the mistakes of a plan's text those of its drivers' names.
func (l *Lab) MisnamedDrivers(file string, text []byte, found plan.Errors) error {
	known, err := l.Source.Drivers()
	if err != nil {
		return found
	}
	return found.With(plan.UnknownDrivers(file, text, driverNames(known)))
}

func driverNames(drivers []build.Driver) []string {
	names := make([]string, len(drivers))
	for i, d := range drivers {
		names[i] = d.Name
	}
	return names
}

// firstOf are the first cases of each key.
func firstOf(cases []assay.Case, key func(assay.Case) string) iter.Seq2[string, assay.Case] {
	return func(yield func(string, assay.Case) bool) {
		seen := map[string]bool{}
		for _, c := range cases {
			k := key(c)
			if !seen[k] && !yield(k, c) {
				return
			}
			seen[k] = true
		}
	}
}

func target(c assay.Case) string { return c.Cell.Target() }

// paceKey names an operation with the data that it works on.
func paceKey(c assay.Case) string {
	return c.Cell.Workload + ":" + c.Cell.Operation + " " + c.Cell.ParamString()
}

// pace holds what was learned of an operation and its data.
type pace struct {
	runner.Pace
	bytes int64 // of the data
	ended bool  // the patience ended while it was done
}

// paces returns the paces of each operation, zero of those that the context left no time
// for and of calls, which only their own worker can do. Its error
// names every operation that is refused: all SQL is compiled, however little time
// there is.
func (l *Lab) paces(ctx, patient context.Context, cases []assay.Case, timeout time.Duration) (map[string]pace, error) {
	cache := l.Datasets()
	cache.Timeout = timeout
	paces := map[string]pace{}
	var wrong []error
	lacks := map[string]error{}
	for _, c := range cases {
		where := strings.TrimSpace(c.Cell.Workload + " " + c.Cell.ParamString())
		lack, looked := lacks[where]
		if !looked && !c.Operation.Call() {
			if lack = unfilled(ctx, cache, c); lack != nil {
				wrong = append(wrong, fmt.Errorf("workload %s: %w", where, lack))
			}
			lacks[where] = lack
		}
		key := paceKey(c)
		if _, seen := paces[key]; seen || c.Operation.Call() || len(c.Operation.Terms) > 0 {
			continue
		}
		var err error
		if paces[key], err = paceOf(ctx, patient, cache, c, lack != nil); err == nil {
			continue
		}
		missing := c.Dataset.File+c.Dataset.Recorded != "" && errors.Is(err, fs.ErrNotExist) // the user's own file
		if ctx.Err() != nil || !dataset.IsRefusal(err) && !missing {
			return nil, err
		}
		wrong = append(wrong, fmt.Errorf("workload %s: %w", where, err))
	}
	return paces, AsInputError(joinDistinct(wrong))
}

// joinDistinct joins errors, those of the same words once: what is wrong with the data
// is met by each of their operations.
func joinDistinct(all []error) error {
	seen := map[string]bool{}
	return errors.Join(slices.DeleteFunc(all, func(err error) bool {
		before := seen[err.Error()]
		seen[err.Error()] = true
		return before
	})...)
}

// paceOf compiles an operation on data without rows, or on the user's file, and
// times it on the data while the patience lasts; the zero pace where it does not.
func paceOf(ctx, patient context.Context, cache dataset.Cache, c assay.Case, unfilled bool) (pace, error) {
	data, err := cache.Prepare(ctx, withoutRows(c.Dataset))
	if err != nil {
		return pace{}, err
	}
	if err = data.Compile(ctx, c.Operation); err != nil {
		name, known := data.MissingName(ctx, err)
		if meant := near.Word(name, known); meant != "" {
			err = fmt.Errorf("%w\ndid you mean %q instead of %q?", err, meant, name)
		}
	}
	if err != nil || unfilled || patient.Err() != nil {
		return pace{}, err
	}
	if data, err = cache.Prepare(patient, c.Dataset); err != nil {
		return pace{}, unless(patient, err)
	}
	found, err := timed(patient, data, c.Operation)
	found.ended = err != nil && patient.Err() != nil
	return found, unless(patient, err)
}

// timed does an operation on its data, and reads what is checked behind it.
func timed(ctx context.Context, data *dataset.Data, op assay.Operation) (found pace, err error) {
	if info, err := os.Stat(data.Path); err == nil { // else the copies are not counted
		found.bytes = info.Size()
	}
	if op, err = data.Resolve(ctx, op); err != nil { // its check shows types where it is done
		return found, err
	}
	if found.Each, err = data.Pace(ctx, op, timedFor); err != nil {
		return found, err
	}
	if found.Scans, err = scans(ctx, data, op); err != nil || op.Check == nil {
		return found, err
	}
	check := assay.Operation{Name: op.Name + ", check", Steps: []assay.Step{{SQL: op.Check.SQL, Query: true, Rows: -1, Returns: op.Check.Returns}}}
	found.Check, err = data.Pace(ctx, check, timedFor)
	return found, err
}

// scans reports whether an operation, or a part of a mix, reads a whole table.
func scans(ctx context.Context, data *dataset.Data, op assay.Operation) (bool, error) {
	for _, part := range op.Parts {
		if found, err := scans(ctx, data, part.Operation); found || err != nil {
			return found, err
		}
	}
	if op.Changes || len(op.Parts) > 0 {
		return false, nil
	}
	return data.Scans(ctx, op)
}

func withoutRows(d assay.Dataset) assay.Dataset {
	d.Tables = nil
	return d
}

// unfilled says which columns the data of a case leave without the values that they
// must have. Where the schema is wrong, its operations say so.
func unfilled(ctx context.Context, cache dataset.Cache, c assay.Case) error {
	data, err := cache.Prepare(ctx, withoutRows(c.Dataset))
	if err != nil {
		return nil
	}
	return data.Unfilled(ctx, c.Dataset.Tables)
}

// unless is an error that is not the end of a context.
func unless(ended context.Context, err error) error {
	if ended.Err() != nil {
		return nil
	}
	return err
}
