package draft

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/build/catalog"
)

// drafted are the drivers that a drafted plan compares, where their builds can run it.
func (o *Options) drafted() []catalog.Driver {
	all := slices.DeleteFunc(slices.Clone(o.Drivers), func(d catalog.Driver) bool { return d.Drafted == 0 })
	slices.SortFunc(all, func(a, b catalog.Driver) int { return a.Drafted - b.Drafted })
	return all
}

type target struct {
	driver string
	parts  []catalog.Part // that it is built with, since the driver's own build lacks them
}

// String is the build as a plan names it.
func (t target) String() string {
	text := t.driver
	for _, p := range t.parts {
		text += ":" + p.Option
	}
	return text
}

// choose asks a build of each driver whether it can run every operation. One that
// cannot gets the parts that it lacks, or is left out with the reason.
func (d *drafter) choose(ctx context.Context) error {
	if d.options.Refused == nil {
		return nil
	}
	operations, err := d.kept()
	if err != nil {
		return err
	}
	tables, err := d.virtualTables(ctx)
	if err != nil {
		return err
	}
	operations = append(operations, tables...)
	d.targets = nil
	drivers := d.options.drafted()
	for i, driver := range drivers {
		t := target{driver: driver.Name}
		why := d.complete(ctx, &t, driver.Parts, operations)
		switch {
		case ctx.Err() != nil:
			for _, left := range drivers[i:] {
				d.targets = append(d.targets, target{driver: left.Name})
				d.unasked = append(d.unasked, left.Name)
			}
			return ctx.Err()
		case why != "":
			d.unfit = append(d.unfit, fmt.Sprintf("driver %s: %s", driver.Name, why))
		default:
			d.targets = append(d.targets, t)
		}
	}
	if len(d.targets) == 0 {
		return fmt.Errorf("no driver is known to run the queries:\n%s", strings.Join(d.unfit, "\n"))
	}
	return nil
}

// kept are the operations that are measured, without the mix of them. Of those that the user
// must complete, the SQL can be prepared.
func (d *drafter) kept() (all []assay.Operation, err error) {
	var b *probe
	if len(d.tried()) > 0 {
		if b, err = d.probe(); err != nil {
			return nil, err
		}
	}
	for _, o := range d.operations {
		switch {
		case o.leftOut != "":
		case o.toDo():
			op := assay.Operation{Name: o.name}
			for _, q := range o.queries {
				step := assay.Step{SQL: q.sql}
				for i := range q.args {
					step.Args = append(step.Args, assay.Values{Kind: assay.Expression, Query: "SELECT 1" + strings.Repeat(", 1", len(q.args)-1), Of: i})
				}
				op.Steps = append(op.Steps, step)
			}
			all = append(all, op)
		default:
			all = append(all, b.cases[o.name].Operation)
		}
	}
	return all, nil
}

// virtualTables are operations that read the virtual tables of the schema, those that
// can be read here: the program needs their modules, also where no query uses them.
func (d *drafter) virtualTables(ctx context.Context) ([]assay.Operation, error) {
	rows, err := texts(ctx, d.schema.db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL%'")
	if err != nil {
		return nil, err
	}
	var all []assay.Operation
	for _, row := range rows {
		op := assay.Operation{Name: "reading " + row[0], Steps: []assay.Step{{SQL: "SELECT count(*) FROM " + plain(row[0]), Query: true}}}
		if d.data.Compile(ctx, op) == nil {
			all = append(all, op)
		}
	}
	return all, ctx.Err()
}

// complete adds the parts to a build that it lacks, and says why it cannot run the
// operations all the same.
func (d *drafter) complete(ctx context.Context, t *target, parts []catalog.Part, operations []assay.Operation) string {
	for {
		d.progress("asking " + t.String() + " whether it can run the queries")
		var refused map[string]error
		path, err := d.copy(ctx)
		if err == nil {
			refused, err = d.options.Refused(ctx, t.String(), path, d.data, operations)
		}
		if err != nil {
			return "it cannot be asked here: " + firstLine(err)
		}
		before := len(t.parts)
		for _, p := range parts {
			lacked := slices.ContainsFunc(operations, func(op assay.Operation) bool {
				return refused[op.Name] != nil && p.Lacks.MatchString(refused[op.Name].Error())
			})
			if lacked && !strings.Contains(t.String(), p.Option) {
				t.parts = append(t.parts, p)
			}
		}
		switch {
		case len(refused) == 0:
			return ""
		case len(t.parts) == before:
			return refusal(refused, operations)
		}
		slices.SortFunc(t.parts, func(a, b catalog.Part) int { return strings.Compare(a.Option, b.Option) })
	}
}

// refusal says which operations a build refuses, and why the first of them.
func refusal(refused map[string]error, operations []assay.Operation) string {
	var names []string
	for _, op := range operations {
		if refused[op.Name] != nil {
			names = append(names, op.Name)
		}
	}
	const shown = 3
	text := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("it refuses %s: %s", text, firstLine(refused[names[0]]))
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// writeDrivers writes the builds, what a program needs to have the same, and why
// other drivers are left out.
func (d *document) writeDrivers(w *writer) {
	var names []string
	for _, t := range d.targets {
		names = append(names, scalar(t.String()))
		if len(t.parts) == 0 {
			continue
		}
		var what, tags []string
		for _, p := range t.parts {
			what, tags = append(what, p.What), append(tags, p.Tag)
		}
		w.comment(0, "The schema or the queries need %s, which %s's own build lacks and this build of it has. Your program needs: go build -tags %s",
			strings.Join(what, " and "), t.driver, strings.Join(tags, ","))
	}
	if len(d.unasked) > 0 {
		w.comment(0, "Not asked whether they can run the queries, because init was interrupted: %s", strings.Join(d.unasked, ", "))
	}
	for _, why := range d.unfit {
		w.comment(0, "Left out: %s", why)
	}
	w.line(0, "drivers: [%s]\n", strings.Join(names, ", "))
}
