package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"assay/internal/analysis/wording"
	"assay/internal/plan"
	"assay/internal/sys/file"
	"assay/internal/sys/near"
	"assay/plans"

	"github.com/spf13/cobra"
)

// maxPlan bounds the bytes of a plan.
const maxPlan = 1 << 20

// readPlan finds a plan by name among the built-in ones, or as a file.
func readPlan(name string) (*plan.Plan, error) {
	if text, ok := plans.Read(name); ok {
		p, err := plan.Decode(name+".yaml", text)
		return p, usage(err)
	}
	text, err := file.Read(name, maxPlan)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage(fmt.Errorf("no plan %q%s: it is neither a built-in plan nor a file", name, near.Question(name, plans.Names())), "assay plans lists the built-in plans")
	}
	if err != nil {
		return nil, usage(fmt.Errorf("read plan: %w", err))
	}
	p, err := plan.Decode(name, text)
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
			rows := [][]string{{"PLAN", "CELLS", "BUDGET", "ABOUT"}}
			for _, name := range plans.Names() {
				p, err := readPlan(name)
				if err != nil {
					return err
				}
				cases, err := p.Expand(nil)
				if err != nil {
					return err
				}
				rows = append(rows, []string{name, strconv.Itoa(len(cases)), wording.Brief(p.Budget), p.About})
			}
			return writeTable(a.stdout, a.columns(), rows)
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
