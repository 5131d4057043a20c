package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
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
	if err := l.knowsDrivers(request); err != nil {
		return Checked{}, err
	}
	if err := r.selectCases(ctx); err != nil {
		return Checked{}, err
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	paces, err := l.paces(ctx, patient, r.cases, r.plan.Timeout)
	if err != nil {
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

// knowsDrivers refuses drivers that there are not, all at once.
func (l *Lab) knowsDrivers(request Request) error {
	known, err := l.Source.Drivers()
	if err != nil {
		return err
	}
	var names []string
	for _, d := range known {
		names = append(names, d.Name)
	}
	wanted := request.Drivers
	if len(wanted) == 0 {
		wanted = request.Plan.Drivers
	}
	var wrong []error
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
	for _, c := range cases {
		key := paceKey(c)
		if _, seen := paces[key]; seen || c.Operation.Call() || len(c.Operation.Terms) > 0 {
			continue
		}
		var err error
		if paces[key], err = pace(ctx, patient, cache, c); err == nil {
			continue
		}
		missing := c.Dataset.File != "" && errors.Is(err, fs.ErrNotExist) // the user's own file
		if ctx.Err() != nil || !dataset.IsRefusal(err) && !missing {
			return nil, err
		}
		wrong = append(wrong, fmt.Errorf("workload %s: %w", strings.TrimSpace(c.Cell.Workload+" "+c.Cell.ParamString()), err))
	}
	return paces, input(errors.Join(wrong...))
}

// pace compiles an operation on data without rows, or on the user's file, and times
// it on the data while the patience lasts; 0 where it does not.
func pace(ctx, patient context.Context, cache dataset.Cache, c assay.Case) (time.Duration, error) {
	empty := c.Dataset
	empty.Tables = nil
	data, err := cache.Prepare(ctx, empty)
	if err == nil {
		err = data.Compile(ctx, c.Operation)
	}
	if err != nil || patient.Err() != nil {
		return 0, err
	}
	if data, err = cache.Prepare(patient, c.Dataset); err != nil {
		return 0, unless(patient, err)
	}
	each, err := data.Pace(patient, c.Operation, timedFor)
	return each, unless(patient, err)
}

// unless is an error that is not the end of a context.
func unless(ended context.Context, err error) error {
	if ended.Err() != nil {
		return nil
	}
	return err
}
