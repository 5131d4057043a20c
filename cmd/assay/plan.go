package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/lab"
	"assay/internal/plan"
	"assay/internal/sys/file"
	"assay/internal/sys/near"
	"assay/plans"
)

func (a *app) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Check a plan, or print the format's schema",
		Args:  noSubcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.planCheckCommand(), a.planSchemaCommand())
	return cmd
}

func (a *app) planCheckCommand() *cobra.Command {
	var drivers, only []string
	cmd := &cobra.Command{
		Use:   "check FILE|NAME",
		Short: "Report all mistakes of a plan, or what it measures and the minimum time for that",
		Args:  arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.checkPlan(cmd.Context(), args[0], drivers, only)
		},
	}
	cmd.Flags().StringSliceVar(&drivers, "drivers", nil, "instead of the plan's: NAME[@VERSION],...")
	cmd.Flags().StringArrayVar(&only, "only", nil, "only cells with KEY=VALUE[,VALUE]; may be repeated")
	return cmd
}

// checkPatience is how long a check times operations: as long as somebody waits for
// an answer. Large data take longer to make.
var checkPatience = 15 * time.Second

func (a *app) checkPlan(ctx context.Context, name string, drivers, only []string) error {
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	request, err := runFlags{drivers: drivers, only: only}.request(name)
	if found, is := errors.AsType[plan.Errors](err); is && len(drivers) == 0 {
		if text, err := file.Read(name, maxPlan); err == nil {
			return usage(l.MisnamedDrivers(name, text, found))
		}
	}
	if err != nil {
		return err
	}
	checked, err := l.Check(ctx, request, checkPatience)
	a.progress.close()
	if err != nil {
		return err
	}
	p := request.Plan
	fmt.Fprintf(a.stdout, "plan %s is valid: %s, %s, %s of each cell at least\n",
		p.Name, wording.Plural(checked.Cells, "cell"), budgetOf(p), wording.Plural(p.Launches, "launch"))
	fmt.Fprintf(a.stdout, "estimated minimum time to measure: %s%s%s\n", wording.Brief(checked.Least.Total()), timeShares(checked.Least), guesses(checked, checkPatience))
	for _, cell := range checked.TooLong {
		fmt.Fprintf(a.stdout, "not measured: %s\n", cell)
	}
	for _, w := range checked.Warnings {
		fmt.Fprintf(a.stdout, "warning: %s; %s\n", w.Evidence, w.Advice)
	}
	_, err = fmt.Fprintln(a.stdout, ofBudget(checked.Least.Total(), p.Budget, p.Launches))
	return err
}

// budgetOf is the budget of a plan; without one, nothing limits it.
func budgetOf(p *plan.Plan) string {
	if p.Budget == 0 {
		return "no budget"
	}
	return "budget " + wording.Brief(p.Budget)
}

// ofBudget says what a budget is for, seen from the minimum time.
func ofBudget(least, budget time.Duration, launches int) string {
	switch {
	case budget == 0:
		return "a run without a budget goes on until its intervals are narrow enough, or more launches do not help; --budget limits it"
	case least <= budget:
		return fmt.Sprintf("the rest of the budget, up to %s in all, is for comparisons that are still undecided then: a run ends earlier if there are none", wording.Brief(budget))
	}
	return fmt.Sprintf("the budget of %s is too small for %s of each cell: some comparisons will stay undecided; --budget %s is enough by this estimate",
		wording.Brief(budget), wording.Plural(launches, "launch"), wording.Brief(enough(least)))
}

// enough is a budget for a time, rounded up to half a minute.
func enough(least time.Duration) time.Duration {
	const step = 30 * time.Second
	return (least + step - 1).Truncate(step)
}

// guesses names the operations of which the estimate is a guess.
func guesses(c lab.Checked, patience time.Duration) string {
	if len(c.Guessed) == 0 {
		return ""
	}
	const shown = 10
	text := fmt.Sprintf("\n%d of %s were not done within %s, and their part of the estimate is a guess: %s",
		len(c.Guessed), wording.Plural(c.Operations, "operation"), wording.Brief(patience), wording.FirstFew(c.Guessed, shown))
	if c.Endless {
		text += fmt.Sprintf("\n%s did not end within that time: make sure that it ends", c.Guessed[0])
	}
	return text
}

func (a *app) planSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the plan format, for editors",
		Args:  arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			schema, err := plan.Schema()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.stdout, string(schema))
			return err
		},
	}
}

// maxPlan bounds the bytes of a plan.
const maxPlan = 1 << 20

// readPlan finds a plan by name among the built-in ones, or as a file.
func readPlan(name string) (*plan.Plan, error) { return readPlanBy(plan.Decode, name) }

// readPlanBy reads a plan in one of the ways to decode it.
func readPlanBy(decode func(file string, data []byte) (*plan.Plan, error), name string) (*plan.Plan, error) {
	if text, ok := plans.Read(name); ok {
		p, err := decode(name+".yaml", text)
		return p, usage(err)
	}
	text, err := file.Read(name, maxPlan)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage(fmt.Errorf("no plan %q%s: it is neither a built-in plan nor a file", name, near.Question(name, plans.Names())), "assay plans lists the built-in plans")
	}
	if err != nil {
		return nil, usage(fmt.Errorf("read plan: %w", err))
	}
	p, err := decode(name, text)
	return p, usage(err)
}

func (a *app) plansCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "plans [PLAN]",
		Short: "List the built-in plans, or print one as a template",
		Args:  arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.printPlan(args[0])
			}
			grid := doc.Grid{Header: []string{"PLAN", "CELLS", "BUDGET", "ABOUT"}, Prose: true}
			for _, name := range plans.Names() {
				p, err := readPlan(name)
				if err != nil {
					return err
				}
				cases, err := p.Expand(nil)
				if err != nil {
					return err
				}
				grid.Rows = append(grid.Rows, []string{name, strconv.Itoa(len(cases)), wording.Brief(p.Budget), p.About})
			}
			return doc.WriteList(a.stdout, doc.Listing(grid), a.columns())
		},
	}
}

func (a *app) printPlan(name string) error {
	text, ok := plans.Read(name)
	if !ok {
		return usage(fmt.Errorf("no built-in plan %q%s", name, near.Question(name, plans.Names())), "assay plans lists them")
	}
	_, err := a.stdout.Write(text)
	return err
}
