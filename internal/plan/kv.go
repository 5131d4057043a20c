package plan

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay"
	"assay/kit/kv"
	"assay/kit/wire"
)

// The operations of key-value stores as plans name them: those of a worker;
// rmw, which reads a key and writes it in one transaction; and read-update,
// which reads a key and then updates a field of it, each by itself.
const (
	rmw        = "rmw"
	readUpdate = "read-update"
)

// maxFields bounds the fields of a value: an update is an operation for each.
const maxFields = 100

// tableZipf draws keys skewed over the records themselves, where zipfian is YCSB's:
// skewed over 10^10 and folded to the records, which is less.
const tableZipf = "zipfian-table"

// KV reports whether the plan has operations of key-value stores.
func (p *Plan) KV() bool {
	return slices.ContainsFunc(p.Workloads, func(w Workload) bool { return w.keyValue() })
}

// keyValue checks the keys of a key-value operation as far as no values of
// params are needed.
func (c checker) keyValue(o *operation) {
	writes := o.KV.value == wire.Put || o.KV.value == rmw
	if o.Value.set() && o.KV.set() && !writes {
		c.m.at(o.Value.place, "value belongs to put and rmw, not to %s", o.KV.value)
	}
	if o.Limit.set() && o.KV.value != wire.Scan {
		c.m.at(o.Limit.place, "limit belongs to scan")
	}
	if updatesField := o.KV.value == wire.Update || o.KV.value == readUpdate; updatesField && o.Only.value != "mix" {
		c.m.at(o.KV.place, "%s updates one field or another: it is part of a mix, with only: mix", o.KV.value)
	}
	if o.Draw.value == "next" && o.KV.set() && o.KV.value != wire.Put {
		c.m.at(o.Draw.place, "next is a key that is not there yet, which only put can take")
	}
}

// keyValue reports whether some operation is one of a key-value store.
func (w *Workload) keyValue() bool {
	return w.operations.any(func(o *operation) bool { return o.KV.set() })
}

func (c checker) records(w *workload) {
	for _, e := range c.operations.entries {
		if e.value.KV.set() && w.File.set() {
			c.m.at(e.key.place, "%s is a kv operation: its workload has records, a schema, or nothing to begin empty, and no file", e.key.value)
		}
		if e.value.statements() && w.Records.set() {
			c.m.at(e.key.place, "%s is SQL, and the workload has records: it takes kv operations and mixes of them", e.key.value)
		}
	}
}

// store resolves the records of a key-value workload, or an empty store, to
// the table that SQL knows it by.
func (r *resolver) store(w *workload) (schema string, tables []assay.Table) {
	r.kv = &recordsOfStore{sql: kv.Of(0)}
	if !w.Records.set() {
		return r.kv.sql.Schema, nil
	}
	fields := int64(0)
	if w.Records.Fields.set() {
		fields = r.number(w.Records.Fields, "fields", 1, maxFields, maxFields)
	}
	r.kv.n, r.kv.value, r.kv.sql = r.size(w.Records.N), w.Records.Value, kv.Of(int(fields))
	r.kv.key = r.keySQL(w.Records.Key)
	values := strings.TrimPrefix(r.newValue(r.kv.value), "SELECT ")
	return r.kv.sql.Schema, []assay.Table{{Name: kv.Table, Rows: int(r.kv.n), Select: r.kv.key + ", " + values}}
}

// recordsOfStore are the records of a store, with the SQL of their keys and values.
type recordsOfStore struct {
	n     int64
	key   string // a SELECT
	value text
	sql   kv.Statements
}

// newValue is a SELECT of a value: one column for each of its fields.
func (r *resolver) newValue(t text) string { return r.bytes(t, r.kv.sql.Fields, "a value") }

// fields returns how many fields steps have: 0 where values have none.
func (s *recordsOfStore) fields() int {
	if s.sql.Fields > 1 {
		return s.sql.Fields
	}
	return 0
}

// blobs are the types of a value, behind those of so many other columns.
func (s *recordsOfStore) blobs(before int) []assay.Type {
	return slices.Repeat([]assay.Type{"blob"}, before+s.sql.Fields)
}

func (s *recordsOfStore) all() *assay.Query {
	return &assay.Query{SQL: s.sql.All, Returns: s.blobs(1)}
}

// storeOperation resolves a key-value operation to steps that say in SQL what
// they do.
func (r *resolver) storeOperation(name string, o *operation) assay.Operation {
	op := assay.Operation{Name: name, RetryBusy: o.Busy.value == "retry", Sorted: o.Order.value == "sorted"}
	key, sql := r.storeKey(o), r.kv.sql
	get := assay.Step{KV: wire.Get, SQL: sql.Get, Query: true, Args: []assay.Values{key}, Rows: 1, Returns: r.kv.blobs(0)}
	put := func(key assay.Values) assay.Step {
		return assay.Step{KV: wire.Put, SQL: sql.Put, Args: append([]assay.Values{key}, r.putValue(o, r.kv.sql.Fields)...), Rows: 1}
	}
	switch o.KV.value {
	case wire.Put:
		op.Steps = []assay.Step{put(key)}
	case wire.Delete:
		op.Steps = []assay.Step{{KV: wire.Delete, SQL: kv.Delete, Args: []assay.Values{key}, Rows: 1}}
	case wire.Scan:
		op.Steps = []assay.Step{{KV: wire.Scan, SQL: sql.Scan, Query: true, Args: []assay.Values{key, r.limit(o)}, Rows: -1, Returns: r.kv.blobs(1)}}
	case rmw:
		op.Steps = []assay.Step{get, put(assay.Values{Kind: assay.Same})}
	case wire.Update:
		op.Steps = []assay.Step{r.update(o, key)}
	case readUpdate:
		op.Steps = []assay.Step{get, r.update(o, assay.Values{Kind: assay.Same})}
	default:
		op.Steps = []assay.Step{get}
	}
	for i := range op.Steps {
		op.Steps[i].Fields = r.kv.fields()
	}
	op.Changes = slices.ContainsFunc(op.Steps, func(s assay.Step) bool { return !s.Query })
	op.Count = r.count(o, op.Changes)
	if op.Changes {
		op.Check = r.kv.all()
	}
	return op
}

// update is the step that replaces the first field of a key's value.
func (r *resolver) update(o *operation, key assay.Values) assay.Step {
	if r.kv.fields() == 0 {
		r.m.at(o.KV.place, "%s needs records whose value has fields, such as value: blob(100) with fields: 10", o.KV.value)
	}
	return assay.Step{KV: wire.Update, SQL: r.kv.sql.Update(0), Args: append([]assay.Values{key}, r.putValue(o, 1)...), Rows: 1}
}

// byField returns an operation that updates a field as one for each field, and
// any other as it is: a statement names its column.
func (r *resolver) byField(op assay.Operation) []assay.Operation {
	last := len(op.Steps) - 1
	if last < 0 || op.Steps[last].KV != wire.Update {
		return []assay.Operation{op}
	}
	all := make([]assay.Operation, r.kv.sql.Fields)
	for i := range all {
		all[i] = op
		all[i].Name = op.Name + "-" + kv.Columns(r.kv.sql.Fields)[i]
		all[i].Steps = slices.Clone(op.Steps)
		all[i].Steps[last].SQL, all[i].Steps[last].Field = r.kv.sql.Update(i), i
	}
	return all
}

// fieldByField replaces parts of a mix that update a field by one for each
// field, all alike, and keeps the shares.
func (r *resolver) fieldByField(parts []assay.Part) []assay.Part {
	fields := 1
	for _, part := range parts {
		if r.kv != nil {
			fields = max(fields, len(r.byField(part.Operation)))
		}
	}
	if fields == 1 {
		return parts
	}
	var all []assay.Part
	for _, part := range parts {
		split := r.byField(part.Operation)
		for _, op := range split {
			all = append(all, assay.Part{Operation: op, Weight: part.Weight * fields / len(split)})
		}
	}
	return all
}

// keyDraws are the ways to draw keys that are there.
var keyDraws = map[string]assay.ValueKind{"": assay.Uniform, "uniform": assay.Uniform, "in-order": assay.Seq, "zipfian": assay.Scrambled, tableZipf: assay.Zipf, "latest": assay.Latest}

// storeKey resolves how the keys of an operation are drawn.
func (r *resolver) storeKey(o *operation) assay.Values {
	v := assay.Values{Kind: assay.Key, Query: r.kv.key, Theta: 0.99}
	if o.Key.set() {
		v.Query = r.keySQL(o.Key)
	}
	draw := o.Draw.value
	draw = cmp.Or(draw, map[string]string{wire.Put: "next", wire.Delete: "in-order"}[o.KV.value])
	if draw == "next" {
		v.Draw, v.From, v.To = assay.Seq, r.kv.n, math.MaxInt64
		if r.kv.n == 0 && !o.Key.set() {
			r.m.at(o.place, "put needs a key, such as printf('user%%016x', :i)")
		}
		return v
	}
	v.Draw = keyDraws[draw]
	if r.kv.n == 0 {
		r.m.at(o.place, "%s takes keys that are there, and the workload has no records", o.KV.value)
	}
	v.To = max(r.kv.n, 1) - 1
	return v
}

// putValue returns what a put writes: so many fields.
func (r *resolver) putValue(o *operation, fields int) []assay.Values {
	value := r.kv.value
	if o.Value.set() {
		value = o.Value
	}
	if !value.set() {
		if r.kv.n > 0 {
			return nil // the mistake is in the records
		}
		r.m.at(o.place, "%s needs a value, such as blob(100)", o.KV.value)
		return nil
	}
	var all []assay.Values
	query := r.bytes(value, fields, "a value")
	for i := range fields {
		all = append(all, assay.Values{Kind: assay.Expression, Query: query, Of: i})
	}
	return all
}

// limit returns how many keys a scan answers at most: a number, or a range.
func (r *resolver) limit(o *operation) assay.Values {
	v := assay.Values{Kind: assay.Uniform, From: 1, To: 100} // YCSB's
	if !o.Limit.set() {
		return v
	}
	v.From = r.number(o.Limit.items[0], "limit", 1, maxRows, 1)
	v.To = r.number(o.Limit.items[len(o.Limit.items)-1], "limit", 1, maxRows, v.From)
	if v.From > v.To {
		r.m.at(o.Limit.place, "the bounds %d and %d of limit are in the wrong order", v.From, v.To)
	}
	return v
}

// settled drops the check of a changing operation whose clients may leave one
// or the other: several that put to the same keys.
func settled(op assay.Operation, clients int) assay.Operation {
	if op.KV() && clients > 1 && !appends(op) {
		op.Check = nil
	}
	return op
}

// appends reports whether an operation changes no key twice.
func appends(op assay.Operation) bool {
	for _, part := range op.Parts {
		if part.Operation.Changes && !appends(part.Operation) {
			return false
		}
	}
	for _, s := range op.Steps {
		if s.KV == wire.Update || s.KV == wire.Put && s.Args[0].To != math.MaxInt64 {
			return false
		}
	}
	return true
}

// latest reports a mix whose clients could ask for keys that another one has
// not put yet.
func (v *variant) latest(m *mistakes, clients int) {
	draws, adds := 0, 0
	for _, part := range v.operation.Parts {
		for _, s := range part.Operation.Steps {
			if s.KV != "" && s.Args[0].Draw == assay.Latest {
				draws++
			}
			if s.KV == wire.Put && s.Args[0].To == math.MaxInt64 {
				adds++
			}
		}
	}
	if draws > 0 && adds > 0 && clients > 1 {
		m.at(v.spec.Mix.place, "draw: latest beside a put of new keys is for one client: of %d, one could get a key that another has not put yet", clients)
	}
	if adds > 1 {
		m.at(v.spec.Mix.place, "two parts of the mix put new keys, and would put the same ones")
	}
}
