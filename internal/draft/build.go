package draft

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay"
)

// drivers are those that a drafted plan compares, where their builds can run it.
var drivers = []string{"mattn", "modernc", "glebarez"}

// part is a part of SQLite that a build of a driver has if it is compiled so.
type part struct {
	driver string // that can be built with it
	option string // of the compiler, as builds are named
	tag    string // of Go, which the driver has for it
	what   string
	lacks  *regexp.Regexp // what a build without it says
}

var parts = []part{
	{"mattn", "ENABLE_FTS5", "sqlite_fts5", "FTS5", regexp.MustCompile(`no such module: fts5\b`)},
	{"mattn", "ENABLE_MATH_FUNCTIONS", "sqlite_math_functions", "mathematical functions",
		regexp.MustCompile(`no such function: (?i:acosh?|asinh?|atan[2h]?|ceil|ceiling|cosh?|degrees|exp|floor|ln|log|log10|log2|mod|pi|pow|power|radians|sinh?|sqrt|tanh?|trunc)\b`)},
}

type target struct {
	driver string
	parts  []part // that it is built with, since the driver's own build lacks them
}

// String is the build as a plan names it.
func (t target) String() string {
	text := t.driver
	for _, p := range t.parts {
		text += ":" + p.option
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
	for i, name := range drivers {
		t := target{driver: name}
		why := d.complete(ctx, &t, operations)
		switch {
		case ctx.Err() != nil:
			for _, name := range drivers[i:] {
				d.targets = append(d.targets, target{driver: name})
			}
			d.unasked = drivers[i:]
			return ctx.Err()
		case why != "":
			d.unfit = append(d.unfit, fmt.Sprintf("driver %s: %s", name, why))
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
func (d *drafter) complete(ctx context.Context, t *target, operations []assay.Operation) string {
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
				return refused[op.Name] != nil && p.lacks.MatchString(refused[op.Name].Error())
			})
			if p.driver == t.driver && lacked && !strings.Contains(t.String(), p.option) {
				t.parts = append(t.parts, p)
			}
		}
		switch {
		case len(refused) == 0:
			return ""
		case len(t.parts) == before:
			return refusal(refused, operations)
		}
		slices.SortFunc(t.parts, func(a, b part) int { return strings.Compare(a.option, b.option) })
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
			what, tags = append(what, p.what), append(tags, p.tag)
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
