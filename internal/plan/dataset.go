package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"assay"
)

// dataset resolves a workload's data and leaves its tables in the resolver.
func (r *resolver) dataset(p *Plan, w *Workload) assay.Dataset {
	d := assay.Dataset{Workload: w.Name, Seed: p.Seed}
	if w.spec.File.set() {
		d.File = w.spec.File.value
		if !filepath.IsAbs(d.File) {
			d.File = filepath.Join(filepath.Dir(p.file), d.File)
		}
		return d
	}
	if !w.spec.Schema.set() && w.calls() {
		d.Schema = "PRAGMA user_version = 1" // no tables: the worker makes its own
		return d
	}
	if !w.spec.Schema.set() {
		d.Schema, d.Tables = r.store(w.spec)
		r.tables = d.Tables
		return d
	}
	d.Schema, _ = r.env.expand(r.m, w.spec.Schema.place, w.spec.Schema.value)
	defined := schemaTables(d.Schema)
	for i := range w.spec.Data.entries {
		e := &w.spec.Data.entries[i]
		r.tables = append(r.tables, r.table(e.key, &e.value, defined))
	}
	d.Tables = r.tables
	return d
}

// table resolves one table; defined are the schema's tables.
func (r *resolver) table(name text, spec *tableOfPlan, defined map[string][]string) assay.Table {
	t := assay.Table{Name: name.value, Rows: 1}
	columns, known := defined[strings.ToLower(name.value)]
	if !known {
		r.m.unknown(name.place, "table of the schema", name.value, sortedKeys(defined))
	}
	if rows, ok := r.size(spec.Rows, "the number of rows", 0); ok {
		t.Rows = int(rows)
	}
	var left []assay.Values
	for i := range spec.Columns.entries {
		e := &spec.Columns.entries[i]
		if columns != nil && !slices.Contains(columns, strings.ToLower(e.key.value)) {
			r.m.unknown(e.key.place, "column of "+name.value, e.key.value, columns)
		}
		values := r.values(&e.value, left, columnNames(t.Columns), true)
		left = append(left, values)
		t.Columns = append(t.Columns, assay.Column{Name: e.key.value, Values: values})
	}
	return t
}

// sourcesOf resolves the queries that arguments are drawn from.
func (r *resolver) sourcesOf(w *workload) map[string]string {
	sources := map[string]string{}
	for _, e := range w.Sources.entries {
		r.m.name(e.key, "source")
		if strings.Contains(e.key.value, ".") {
			r.m.at(e.key.place, "a source's name has no dot: it stands before the one of source.column")
		}
		sql, _ := r.query(e.value, "a source")
		sources[e.key.value] = strings.TrimRight(sql, "; \t\r\n")
	}
	return sources
}
