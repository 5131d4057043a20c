package draft

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"assay"
	"assay/internal/dataset/oracle"
	"assay/internal/plan"
)

// prove adds a check of totals where a run does not find by itself what rows may hold: where SQL or
// what it calls does something else each time, and of virtual tables and views.
func (o *operation) prove(ctx context.Context, s *schema) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	op, ofTables := assay.Operation{Name: o.name}, true
	var changing []*statement
	for _, st := range o.steps {
		op.Steps = append(op.Steps, assay.Step{SQL: st.sql, Args: make([]assay.Values, len(st.args))})
		if t := st.drawer.target; st.changes() && t != nil {
			changing, ofTables = append(changing, st), ofTables && len(t.keys) > 0
		}
	}
	if len(changing) == 0 || ofTables && oracle.Repeats(ctx, conn, op) == nil {
		return ctx.Err()
	}
	var all []string
	for _, st := range changing {
		totals, err := st.totals(ctx, s)
		if err != nil {
			return err
		}
		all = append(all, "("+totals+")")
	}
	o.check = "SELECT * FROM " + strings.Join(unique(all), ", ")
	return nil
}

// totals counts the rows of the table that a statement changes, and sums up what it writes.
func (o *statement) totals(ctx context.Context, s *schema) (string, error) {
	selected := []string{"count(*)"}
	for _, u := range o.drawer.all {
		if u.column == nil || u.role != insert && u.role != set {
			continue
		}
		f, err := s.stats(ctx, u.column)
		if err != nil {
			return "", err
		}
		name := plain(u.column.name)
		low, high, whole := f.bounds()
		const limit = 1 << 31
		if whole && low > -limit && high < limit {
			selected = append(selected, "sum("+name+")")
			continue
		}
		selected = append(selected, "count(DISTINCT "+name+")", "min("+name+")", "max("+name+")")
		if f.kind == "text" {
			selected = append(selected, "sum(length("+name+"))")
		}
	}
	return fmt.Sprintf("SELECT %s FROM %s", strings.Join(unique(selected), ", "), plain(o.drawer.target.name)), nil
}

// decode reads the plan as it stands, and holds its SQL against the queries:
// what YAML makes of a text must be the text.
func (d *drafter) decode() (*plan.Plan, error) {
	text := d.text(false)
	p, err := plan.Decode(d.options.Plan, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("the drafted plan does not decode: %w", err)
	}
	cases, err := p.Expand(p.Drivers[:1])
	if err != nil {
		return nil, fmt.Errorf("the drafted plan is not right: %w", err)
	}
	want, got := map[string][]string{}, map[string][]string{}
	for _, o := range d.tried() {
		want[o.name] = o.texts()
	}
	for _, c := range cases {
		if len(c.Operation.Steps) > 0 {
			got[c.Operation.Name] = stepTexts(c.Operation)
		}
	}
	if !reflect.DeepEqual(got, want) {
		return nil, fmt.Errorf("the drafted plan has other SQL than the queries: %q, not %q", got, want)
	}
	return p, nil
}

func stepTexts(op assay.Operation) []string {
	var all []string
	for _, s := range op.Steps {
		all = append(all, s.SQL)
	}
	return all
}
