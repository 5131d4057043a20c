package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
	"assay/kit/kv"
)

// dataset resolves a workload's data.
func (r *resolver) dataset(p *Plan, w *Workload) assay.Dataset {
	d := assay.Dataset{Workload: w.Name, Seed: p.Seed, File: p.path(w.spec.File), Recorded: p.path(w.spec.Recorded)}
	if d.File != "" {
		return d
	}
	if !w.spec.Schema.set() && w.calls() {
		d.Schema = "PRAGMA user_version = 1" // no tables: the worker makes its own
		return d
	}
	if !w.spec.Schema.set() {
		d.Schema, d.Tables = r.store(w.spec)
		return d
	}
	d.Schema, _ = r.written(w.spec.Schema)
	if w.keyValue() {
		r.kv = &recordsOfStore{sql: kv.Of(0)}
		d.Schema = strings.TrimRight(d.Schema, "; \t\r\n") + ";\n" + r.kv.sql.Schema
	}
	defined := schemaTables(d.Schema)
	for i := range w.spec.Data.entries {
		e := &w.spec.Data.entries[i]
		d.Tables = append(d.Tables, r.table(e.key, e.value, defined))
	}
	return d
}

// path is a file that the plan names; empty where it names none.
func (p *Plan) path(name text) string {
	if name.value == "" || filepath.IsAbs(name.value) {
		return name.value
	}
	return filepath.Join(filepath.Dir(p.file), name.value)
}

// table resolves one table; defined are the schema's tables.
func (r *resolver) table(name, rows text, defined map[string][]string) assay.Table {
	columns, known := defined[strings.ToLower(name.value)]
	if !known {
		r.m.unknown(name.place, "table of the schema", name.value, sortedKeys(defined))
	}
	if !rows.set() {
		return assay.Table{Name: name.value}
	}
	return assay.Table{Name: name.value, Select: r.rowsSQL(name.value, rows, columns)}
}

// rowsSQL resolves the SQL of a table's rows.
func (r *resolver) rowsSQL(table string, t text, columns []string) string {
	v, ok := r.valueSQL(t, "the data of "+table, false, nil)
	if !ok {
		return ""
	}
	if columns != nil && v.columns > 0 && v.columns != len(columns) {
		r.m.at(t.place, "the SQL has %d columns, and table %s has %d", v.columns, table, len(columns))
	}
	return r.scaledSeries(v.sql, t)
}

// scaledSeries multiplies how many rows each generate_series has that no param says. One that
// counts down stays as it is.
func (r *resolver) scaledSeries(sql string, t text) string {
	if r.scale == 0 || len(seriesParams(t.value)) > 0 {
		return sql
	}
	var scaled strings.Builder
	end := 0
	for _, arguments := range series(sql) {
		if countsDown(arguments) {
			continue
		}
		r.resized = true
		start, stop := written(sql, arguments[0]), written(sql, arguments[1])
		fmt.Fprintf(&scaled, "%s(%s) + max(1, CAST(round(((%s) - (%s) + 1) * %g) AS INTEGER)) - 1", sql[end:arguments[1][0].From], start, stop, start, r.scale)
		end = arguments[1][len(arguments[1])-1].To
	}
	return scaled.String() + sql[end:]
}

func written(sql string, tokens []sqltext.Token) string {
	return sql[tokens[0].From:tokens[len(tokens)-1].To]
}

// series are the arguments, two or more, of each generate_series.
func series(sql string) (all [][][]sqltext.Token) {
	tokens, _ := sqltext.Scan(sql)
	for i, token := range tokens {
		if !token.Is("generate_series") {
			continue
		}
		arguments := sqltext.Split(sqltext.Call(tokens[i+1:]))
		empty := slices.ContainsFunc(arguments, func(part []sqltext.Token) bool { return len(part) == 0 })
		if len(arguments) > 1 && !empty {
			all = append(all, arguments)
		}
	}
	return all
}

func countsDown(arguments [][]sqltext.Token) bool {
	return len(arguments) > 2 && arguments[2][0].Text == "-"
}

// seriesParams are the params that say how many rows generate_series has: those that only its
// larger end has.
func seriesParams(sql string) (names []string) {
	for _, arguments := range series(sql) {
		low, high := arguments[0], arguments[1]
		if countsDown(arguments) {
			low, high = high, low
		}
		for _, a := range high {
			both := slices.ContainsFunc(low, func(b sqltext.Token) bool { return b.Text == a.Text })
			if a.Kind == sqltext.Named && !both {
				names = append(names, a.Text[1:])
			}
		}
	}
	return names
}
