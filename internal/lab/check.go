package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/dataset"
	"assay/internal/plan"
	"assay/internal/runner"
	"assay/internal/syncs"
)

// Checked is what is known of a request before anything is built or measured.
type Checked struct {
	Cells int
	// Least is what the minimum launches of all cells take, by an estimate.
	Least assay.Spent
	// Operations are those of the cells, each data counting anew, and Timed how many
	// of them were timed on their data.
	Operations, Timed int
}

// timedFor is how long Check does one operation.
const timedFor = 200 * time.Millisecond

// Check finds the mistakes that a run of a request would end with: drivers that
// there are not, and SQL that the data refuse. It makes the data and does each
// operation on them, until the patience ends: what is left then is estimated by
// rule of thumb.
func (l *Lab) Check(ctx context.Context, request Request, patience time.Duration) (Checked, error) {
	r := &run{lab: l, request: request, plan: request.Plan}
	var err error
	if r.now.Options, err = r.options(); err != nil {
		return Checked{}, err
	}
	unknown := l.knowsDrivers(request)
	if err := r.selectCases(ctx); err != nil {
		return Checked{}, together(unknown, err)
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	paces, err := l.paces(ctx, patient, r.cases, r.plan.Timeout)
	if err := together(unknown, err); err != nil {
		return Checked{}, err
	}
	if ctx.Err() != nil {
		return Checked{}, ctx.Err()
	}
	costs := runner.Costs{Each: func(c assay.Case) time.Duration { return paces[paceKey(c)] }}
	if rate, err := syncs.Rate(l.Cache); err == nil && rate > 0 {
		costs.Commit = time.Duration(float64(time.Second) / rate)
	}
	checked := Checked{Cells: len(r.cases), Least: runner.Estimate(r.cases, r.plan.Launches, costs), Operations: len(paces)}
	for _, each := range paces {
		if each > 0 {
			checked.Timed++
		}
	}
	return checked, nil
}

// together is both mistakes of a request as one. An error that is no mistake stands
// alone.
func together(unknown, err error) error {
	var mistake *InputError
	switch {
	case unknown == nil || err != nil && !errors.As(err, &mistake):
		return err
	case err == nil:
		return unknown
	}
	return input(errors.Join(unknown, err), driversHint)
}

// knowsDrivers refuses drivers that there are not, all at once.
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
			return input(found, driversHint)
		}
	}
	for _, name := range wanted {
		spec, err := build.ParseSpec(name)
		switch {
		case name == "*":
		case err != nil:
			wrong = append(wrong, err)
		case !hasDriver(known, spec.Name):
			wrong = append(wrong, plan.Unknown("driver", spec.Name, names))
		}
	}
	return input(errors.Join(wrong...), driversHint)
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

// paceKey names an operation with the data that it works on.
func paceKey(c assay.Case) string {
	return c.Cell.Workload + ":" + c.Cell.Operation + " " + c.Cell.ParamString()
}

// paces are the times of one operation of each kind, 0 of those that the context
// left no time for and of calls, which only their own worker can do. Its error
// names every operation that is refused: all SQL is compiled, however little time
// there is.
func (l *Lab) paces(ctx, patient context.Context, cases []assay.Case, timeout time.Duration) (map[string]time.Duration, error) {
	cache := dataset.Cache{Dir: filepath.Join(l.Cache, "data"), Progress: l.Watcher.Data, Timeout: timeout}
	paces := map[string]time.Duration{}
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
		if paces[key], err = pace(ctx, patient, cache, c, lack != nil); err == nil {
			continue
		}
		missing := c.Dataset.File != "" && errors.Is(err, fs.ErrNotExist) // the user's own file
		if ctx.Err() != nil || !dataset.IsRefusal(err) && !missing {
			return nil, err
		}
		wrong = append(wrong, fmt.Errorf("workload %s: %w", where, err))
	}
	return paces, input(joinDistinct(wrong))
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

// pace compiles an operation on data without rows, or on the user's file, and times
// it on the data while the patience lasts; 0 where it does not.
func pace(ctx, patient context.Context, cache dataset.Cache, c assay.Case, unfilled bool) (time.Duration, error) {
	data, err := cache.Prepare(ctx, withoutRows(c.Dataset))
	if err != nil {
		return 0, err
	}
	if err = data.Compile(ctx, c.Operation); err != nil {
		name, known := data.MissingName(ctx, err)
		if meant := plan.Suggest(name, known); meant != "" {
			err = fmt.Errorf("%w\ndid you mean %q instead of %q?", err, meant, name)
		}
	}
	if err != nil || unfilled || patient.Err() != nil {
		return 0, err
	}
	if data, err = cache.Prepare(patient, c.Dataset); err != nil {
		return 0, unless(patient, err)
	}
	each, err := data.Pace(patient, c.Operation, timedFor)
	return each, unless(patient, err)
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
