package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/internal/dataset"
	"assay/internal/plan/sqltext"
)

// influence is what all statements of an operation do to a table while several
// clients run it.
type influence struct {
	// decided tells that the order decides which rows change; keyless that new rows
	// get their keys in the order of the statements.
	decided, keyless bool
	// counted tells that in the end it has as many rows in every order.
	counted bool
	// columns are those that are written in rows that are there.
	columns map[string]writing
}

// influencesOf reads what the statements of an operation, and the triggers that
// they fire, do to tables. It fails where that cannot be told. Nulls are as nullsOf has them.
func influencesOf(ctx context.Context, conn *sql.Conn, op assay.Operation, nulls [][]bool, tables []*table) (map[*table]*influence, error) {
	byName := map[string]*table{}
	for _, t := range tables {
		byName[strings.ToLower(t.name)] = t
	}
	lookup := func(name string) *table { return byName[name] }
	var all []effect
	for n, o := range changing(op) {
		first := 0
		for _, step := range o.Steps {
			tokens, whole := sqltext.Scan(step.SQL)
			if !whole {
				return nil, fmt.Errorf("it cannot be told what %q changes", step.SQL)
			}
			found, err := effectsOf(tokens, lookup, func(i int) bool {
				return i < 0 || i >= len(step.Args) || n < len(nulls) && first+i < len(nulls[n]) && nulls[n][first+i]
			})
			first += len(step.Args)
			if err != nil {
				return nil, fmt.Errorf("%w; the SQL is:\n%s", err, step.SQL)
			}
			all = append(all, found...)
		}
	}
	all, err := withTriggers(ctx, conn, all, lookup)
	if err != nil {
		return nil, err
	}
	influences := map[*table]*influence{}
	for _, e := range all {
		if t := lookup(e.table); t != nil && influences[t] == nil {
			of := slices.DeleteFunc(slices.Clone(all), func(other effect) bool { return other.table != e.table })
			influences[t] = together(t, of)
		}
	}
	return influences, nil
}

// changing are the operation, or its parts, that change data.
func changing(op assay.Operation) (all []assay.Operation) {
	if len(op.Parts) == 0 {
		return []assay.Operation{op}
	}
	for _, part := range op.Parts {
		if part.Operation.Changes {
			all = append(all, part.Operation)
		}
	}
	return all
}

// nullsOf tells for each operation that changes data which of its arguments are NULL at some
// position.
func nullsOf(op assay.Operation, trace *dataset.Trace) (all [][]bool, err error) {
	if len(op.Parts) == 0 {
		nulls, err := trace.Nulls()
		return [][]bool{nulls}, err
	}
	for i, part := range op.Parts {
		if !part.Operation.Changes {
			continue
		}
		var nulls []bool
		if trace.Parts[i].Length > 0 {
			if nulls, err = trace.Parts[i].Nulls(); err != nil {
				return nil, err
			}
		}
		all = append(all, nulls)
	}
	return all, nil
}

// together is what several statements do to a table.
func together(t *table, effects []effect) *influence {
	in := &influence{counted: true, columns: map[string]writing{}}
	for _, e := range effects {
		for _, s := range e.sets {
			in.set(s.column, s.how)
		}
	}
	for _, e := range effects {
		for _, c := range e.kept {
			in.columns[c] = computed // the first of several is there
		}
		for i, c := range t.columns { // a row that is there becomes another one
			if name := strings.ToLower(c); e.replaces && !slices.Contains(t.key, i) && !in.varies(t, name) {
				in.columns[name] = assigned
			}
		}
	}
	for _, e := range effects { // all that varies is known by now
		in.counted = in.counted && e.counted
		in.keyless = in.keyless || e.keyless
		in.decided = in.decided || e.decided || e.replaces && t.unique || slices.ContainsFunc(e.conditions, func(c string) bool { return in.varies(t, c) })
		for _, s := range e.sets {
			if s.how == assigned && slices.ContainsFunc(s.from, func(c string) bool { return in.varies(t, c) }) {
				in.columns[s.column] = computed
			}
		}
	}
	for _, c := range t.key {
		_, moves := in.columns[strings.ToLower(t.columns[c])]
		in.decided = in.decided || moves
	}
	return in
}

// set notes how a column is written: where others write it in another way, the
// order decides.
func (in *influence) set(column string, how writing) {
	if before, known := in.columns[column]; known && before != how {
		how = computed
	}
	in.columns[column] = how
}

// varies reports whether a row may have another value in a column while clients
// work: one that is written, or none that is stored.
func (in *influence) varies(t *table, column string) bool {
	_, written := in.columns[column]
	return written || !slices.ContainsFunc(t.columns, func(c string) bool { return strings.EqualFold(c, column) })
}

// withTriggers adds what triggers do that the effects fire. What they do follows
// from rows, which the order decides.
func withTriggers(ctx context.Context, conn *sql.Conn, all []effect, lookup func(string) *table) ([]effect, error) {
	bodies := map[string][][]sqltext.Token{}
	err := query(ctx, conn, "SELECT lower(tbl_name), sql FROM main.sqlite_schema WHERE type = 'trigger'", func(row []any) {
		tokens, _ := sqltext.Scan(fmt.Sprint(row[1]))
		begin := slices.IndexFunc(tokens, func(t sqltext.Token) bool { return t.Is("BEGIN") })
		bodies[fmt.Sprint(row[0])] = append(bodies[fmt.Sprint(row[0])], tokens[begin+1:max(begin+1, len(tokens)-1)])
	})
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(all); i++ { // what a trigger does may fire others
		fired := bodies[all[i].table]
		delete(bodies, all[i].table)
		for _, body := range fired {
			if slices.ContainsFunc(body, func(t sqltext.Token) bool { return t.Is("RAISE") }) {
				return nil, fmt.Errorf("a trigger of table %s decides what becomes of a row", all[i].table)
			}
			found, err := effectsOf(body, lookup, func(int) bool { return true })
			if err != nil {
				return nil, fmt.Errorf("a trigger of table %s: %w", all[i].table, err)
			}
			for _, e := range found {
				e.decided, e.counted = true, false
				all = append(all, e)
			}
		}
	}
	return all, nil
}
