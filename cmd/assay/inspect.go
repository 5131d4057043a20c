package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/plan"
	"assay/internal/runner"

	"github.com/spf13/cobra"
)

func (a *app) inspectCommand() *cobra.Command {
	var profile, diff string
	cmd := &cobra.Command{
		Use:   "inspect DRIVER[@VERSION]",
		Short: "Show what a driver makes of a profile: every setting, requested, issued and effective, on every connection",
		Args:  arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.inspect(cmd.Context(), args[0], profile, diff)
		},
	}
	cmd.Flags().StringVar(&profile, "profile", "quick/default", "PLAN/NAME of the profile")
	cmd.Flags().StringVar(&diff, "diff", "", "show the differences to another driver, or to another PLAN/NAME")
	return cmd
}

// inspectPatience is the time limit of one request to a worker.
const inspectPatience = time.Minute

// inspection is a driver with a profile, opened once.
type inspection struct {
	name   string
	target assay.Target
	trial  assay.Trial
}

func (a *app) inspect(ctx context.Context, driver, profile, diff string) error {
	one, err := a.inspectOne(ctx, driver, profile)
	if err != nil {
		return a.inspectFailed(ctx, err)
	}
	if diff == "" {
		return one.print(a.stdout)
	}
	otherDriver, otherProfile := diff, profile
	if strings.Contains(diff, "/") {
		otherDriver, otherProfile = driver, diff
	}
	other, err := a.inspectOne(ctx, otherDriver, otherProfile)
	if err != nil {
		return a.inspectFailed(ctx, err)
	}
	return printDifferences(a.stdout, one, other)
}

func (a *app) inspectFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exitError{status: statusInterrupted, err: errors.New("interrupted")}
	}
	return err
}

// inspectOne opens the profile's smallest case of the plan.
func (a *app) inspectOne(ctx context.Context, driver, profile string) (*inspection, error) {
	c, err := inspectedCase(driver, profile)
	if err != nil {
		return nil, err
	}
	b, err := a.builder(false)
	if err != nil {
		return nil, err
	}
	worker, err := buildNamed(ctx, b, driver)
	if err != nil {
		return nil, err
	}
	work, err := runner.NewWorkspace(filepath.Join(b.Cache, "runs"), newRunID())
	if err != nil {
		return nil, err
	}
	defer work.Close()
	r, err := runner.New(ctx, runner.Config{
		Cases: []assay.Case{c}, Programs: map[string]runner.Program{runner.Driver(c.Cell): program(worker, false)},
		Reference: runner.Driver(c.Cell), Data: dataset.Cache{Dir: filepath.Join(b.Cache, "data")}, Work: work,
		Timeout: inspectPatience, Wire: a.wireTrace(), Strace: strace(),
	})
	if err != nil {
		return nil, err
	}
	trial, err := r.Inspect(ctx)
	return &inspection{name: driver + " with " + profile, target: r.Targets()[0], trial: trial}, err
}

// inspectedCase finds the profile's case with the fewest rows.
func inspectedCase(driver, profile string) (assay.Case, error) {
	p, name, err := planOfProfile(profile)
	if err != nil {
		return assay.Case{}, err
	}
	cases, err := p.Expand([]string{driver})
	if err != nil {
		return assay.Case{}, usage(err)
	}
	cases, err = plan.Select(cases, map[string][]string{"profile": {name}})
	if err != nil {
		return assay.Case{}, usage(err)
	}
	return slices.MinFunc(cases, func(a, b assay.Case) int {
		return cmp.Or(rowsOf(a)-rowsOf(b), a.Cell.Pool-b.Cell.Pool)
	}), nil
}

// planOfProfile reads the plan of PLAN/NAME.
func planOfProfile(profile string) (p *plan.Plan, name string, err error) {
	i := strings.LastIndex(profile, "/")
	if i < 0 {
		return nil, "", usage(fmt.Errorf("--profile %q: want PLAN/NAME", profile), "assay plans lists the plans")
	}
	p, err = readPlan(profile[:i])
	return p, profile[i+1:], err
}

func rowsOf(c assay.Case) int {
	rows := 0
	for _, t := range c.Dataset.Tables {
		rows += t.Rows
	}
	return rows
}

func (i *inspection) print(out io.Writer) error {
	t := i.target
	fmt.Fprintf(out, "%s\n\ndriver   %s\nengine   %s %s\nbuild    %s\n", i.name, t.Name(), t.Engine, t.EngineVersion, t.Build)
	for _, name := range slices.Sorted(maps.Keys(t.Facts)) {
		fmt.Fprintf(out, "%-8s %s\n", name, t.Facts[name])
	}
	fmt.Fprintf(out, "DSN      %s\n", orDash(i.trial.DSN))
	for _, text := range i.trial.Each {
		fmt.Fprintf(out, "on every new connection: %s\n", text)
	}
	fmt.Fprintf(out, "outcome  %s\n", i.trial.Outcome)
	if i.trial.Reason != "" {
		fmt.Fprintf(out, "because  %s\n", i.trial.Reason)
	}
	fmt.Fprintln(out)
	if err := i.printSettings(out); err != nil {
		return err
	}
	fmt.Fprintf(out, "\ncompile options\n")
	for _, option := range t.CompileOptions {
		fmt.Fprintln(out, " ", option)
	}
	return nil
}

// printSettings prints a line for each setting, and more where connections
// differ.
func (i *inspection) printSettings(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SETTING\tREQUESTED\tISSUED\tEFFECTIVE\tAPPLIED\tCONNECTIONS")
	type line struct{ name, requested, issued, effective, applied string }
	var order []line
	connections := map[line][]string{}
	for _, s := range i.trial.Settings {
		applied := "-"
		if s.Requested != "" {
			applied = map[bool]string{true: "yes", false: "NO"}[s.Applied]
		}
		l := line{s.Name, orDash(s.Requested), orDash(s.Issued), orDash(s.Effective), applied}
		if connections[l] == nil {
			order = append(order, l)
		}
		connections[l] = append(connections[l], s.Connection)
	}
	slices.SortStableFunc(order, func(a, b line) int { return strings.Compare(a.name, b.name) })
	for _, l := range order {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", l.name, l.requested, l.issued, l.effective, l.applied, span(connections[l]))
	}
	return w.Flush()
}

// span shortens a list of connections.
func span(names []string) string {
	if len(names) <= 2 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s ... %s (%d)", names[0], names[len(names)-1], len(names))
}

// printDifferences prints what two inspections do not share.
func printDifferences(out io.Writer, a, b *inspection) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\t%s\t%s\n", a.name, b.name)
	x, y := a.facts(), b.facts()
	for _, name := range slices.Sorted(maps.Keys(union(x, y))) {
		if x[name] != y[name] {
			fmt.Fprintf(w, "%s\t%s\t%s\n", name, orDash(x[name]), orDash(y[name]))
		}
	}
	return w.Flush()
}

func union(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// facts are all that an inspection found, by name.
func (i *inspection) facts() map[string]string {
	facts := map[string]string{"driver": i.target.Name(), "engine": i.target.Engine + " " + i.target.EngineVersion,
		"DSN": i.trial.DSN, "outcome": strings.TrimSuffix(string(i.trial.Outcome)+": "+i.trial.Reason, ": ")}
	for name, value := range i.target.Facts {
		facts["fact "+name] = value
	}
	for _, option := range i.target.CompileOptions {
		name, value, _ := strings.Cut(option, "=")
		facts["option "+name] = cmp.Or(value, "set")
	}
	for _, s := range i.trial.Settings {
		key := "setting " + s.Name
		if !slices.Contains(strings.Split(facts[key], " / "), s.Effective) {
			facts[key] = strings.TrimPrefix(facts[key]+" / "+s.Effective, " / ")
		}
	}
	return facts
}
