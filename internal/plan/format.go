package plan

import (
	"iter"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"assay/kit/kv"
)

// document is a plan as users write it; schema.yaml says what its keys are.
type document struct {
	Name, About, Budget, Precision, Margin, Timeout, Reference text
	Seed, Launches                                             number
	Factors                                                    boolean
	Drivers, Begin                                             list[text]
	Clients, Processes                                         list[number]
	Pool                                                       list[pool]
	Profiles                                                   dict[profile]
	Workload                                                   workload
	Operations                                                 dict[operation]
	Workloads                                                  dict[workload]
}

type workload struct {
	place
	Name, Schema, File, Recorded text
	Params                       dict[list[scalar]]
	Data                         dict[text]
	Records                      records
	Operations                   dict[operation]
}

// operation holds what is timed.
type operation struct {
	place
	axes []Axis // of Params, set where the workload is checked

	// What it does.
	SQL, Args, Draw       text
	Steps                 list[step]
	Rows, Batch           number
	Returns               list[text]
	Mix                   dict[number]
	Writers               number
	KV, Key, Order, Value text // of a key-value store
	Limit                 list[number]
	Call                  text // of the worker's own
	Answer                check
	Changes               boolean
	Sum                   numbers

	// What makes several cells of it.
	Statement, Begin, Profiles, Cache list[text]
	Transaction                       list[scalar]
	Params                            dict[list[scalar]]
	Clients, Processes                list[number]
	Pool                              list[pool]

	// How it is measured, and proved.
	Count                  numbers
	Per, Busy, Only, Serve text
	Phases                 boolean
	Check                  check
	Rate                   list[number]
	Arrivals               list[text]
}

// statements reports whether the operation is of SQL that the plan has.
func (o *operation) statements() bool { return o.SQL.set() || o.Steps.set() }

// calls reports whether the operation is a call, or the sum of calls.
func (o *operation) calls() bool { return o.Call.set() || o.Sum.all.set() }

// step is one statement, or several that are repeated together.
type step struct {
	place
	SQL, Args, Draw     text
	Rows, Batch, Repeat number
	Returns             list[text]
	Steps               list[step]
}

// check is a query, alone or with the types of its answer.
type check struct {
	place
	SQL     text
	Returns list[text]
}

// numbers are one for all, or one by name. Of a count these are profiles: a block should last
// alike, and with one profile a commit can take fifty times as long as with another. A sum is
// of all calls, or of operations with how many times each is done.
type numbers struct {
	place
	all    text
	byName dict[number]
}

// pool is a number of open connections, alone or with the idle ones.
type pool struct {
	place
	Open, Idle number
}

// records are the keys and values that a store begins with.
type records struct {
	place
	N, Fields  number
	Key, Value text
}

// profile is a set of settings. Beside the keys of the struct it has one for
// each setting.
type profile struct {
	place
	Raw                          dict[text]
	File, Requests               dict[scalar]
	Prepare, Once, Each, Drivers list[text]
	Lazy, Published              boolean

	settings []entry[scalar]
}

// The parts read themselves from YAML that follows the schema; what does not is null there.

func (w *workload) UnmarshalYAML(n ast.Node) error {
	type fields workload
	return read(n, &w.place, (*fields)(w), nil)
}

func (o *operation) UnmarshalYAML(n ast.Node) error {
	type fields operation
	return read(n, &o.place, (*fields)(o), nil)
}

func (s *step) UnmarshalYAML(n ast.Node) error {
	type fields step
	return read(n, &s.place, (*fields)(s), nil)
}

func (r *records) UnmarshalYAML(n ast.Node) error {
	type fields records
	return read(n, &r.place, (*fields)(r), nil)
}

func (c *check) UnmarshalYAML(n ast.Node) error {
	type fields check
	return read(n, &c.place, (*fields)(c), &c.SQL)
}

func (p *pool) UnmarshalYAML(n ast.Node) error {
	type fields pool
	return read(n, &p.place, (*fields)(p), &p.Open)
}

func (a *numbers) UnmarshalYAML(n ast.Node) error { return read(n, &a.place, &a.byName, &a.all) }

func (p *profile) UnmarshalYAML(n ast.Node) error {
	type fields profile
	for key, value := range pairs(n) {
		if _, is := kv.AllSettings.Lookup(key.value); is {
			p.settings = append(p.settings, entry[scalar]{key: key})
			if err := p.settings[len(p.settings)-1].value.UnmarshalYAML(value); err != nil {
				return err
			}
		}
	}
	return read(n, &p.place, (*fields)(p), nil)
}

// read reads a part, or, where it is a single value, the field that it then gives.
func read(n ast.Node, at *place, fields any, single yaml.NodeUnmarshaler) error {
	*at = placeOf(n)
	if n.Type() == ast.NullType {
		return nil
	}
	if _, is := n.(ast.ScalarNode); is && single != nil {
		return single.UnmarshalYAML(n)
	}
	return yaml.NodeToValue(n, fields)
}

// pairs are the keys and values of a map in the order of the file.
func pairs(n ast.Node) iter.Seq2[text, ast.Node] {
	return func(yield func(text, ast.Node) bool) {
		if n, is := n.(*ast.MappingNode); is {
			for _, v := range n.Values {
				key, at := keyOf(v)
				if !yield(text{place: at, value: scalarText(key)}, v.Value) {
					return
				}
			}
		}
	}
}

// list is a list of parts; a single part may stand without brackets.
type list[T any] struct {
	place
	items []T
}

func (l *list[T]) UnmarshalYAML(n ast.Node) error {
	l.place = placeOf(n)
	nodes := []ast.Node{n}
	if all, ok := n.(*ast.SequenceNode); ok {
		nodes = all.Values
	}
	l.items = make([]T, len(nodes))
	for i, item := range nodes {
		if err := yaml.NodeToValue(item, &l.items[i]); err != nil {
			return err
		}
	}
	return nil
}

// values are the texts of a list.
func values[T ~string](l list[text]) (all []T) {
	for _, t := range l.items {
		all = append(all, T(t.value))
	}
	return all
}

type entry[T any] struct {
	key   text
	value T
}

// dict is a map from names to parts, in the order of the file.
type dict[T any] struct {
	place
	entries []entry[T]
}

func (d *dict[T]) UnmarshalYAML(n ast.Node) error {
	d.place = placeOf(n)
	for key, value := range pairs(n) {
		e := entry[T]{key: key}
		if err := yaml.NodeToValue(value, &e.value); err != nil {
			return err
		}
		d.entries = append(d.entries, e)
	}
	return nil
}

// any reports whether one of the parts is so.
func (d *dict[T]) any(is func(*T) bool) bool {
	return slices.ContainsFunc(d.entries, func(e entry[T]) bool { return is(&e.value) })
}

func (d *dict[T]) keys() (all []text) {
	for _, e := range d.entries {
		all = append(all, e.key)
	}
	return all
}

func (d *dict[T]) names() []string { return values[string](list[text]{items: d.keys()}) }

func (d *dict[T]) get(name string) (*T, bool) {
	i := slices.IndexFunc(d.entries, func(e entry[T]) bool { return e.key.value == name })
	if i < 0 {
		return nil, false
	}
	return &d.entries[i].value, true
}

// text is a text of the plan.
type text struct {
	place
	value  string
	quoted bool // certainly a text, also where it looks like a number
}

func (t *text) UnmarshalYAML(n ast.Node) error {
	s, ok := n.(ast.ScalarNode)
	if ok && n.Type() != ast.NullType {
		*t = text{placeOf(n), scalarText(s), quoted(s)}
	}
	return nil
}

type (
	scalar  = text // a text, a number, true or false
	number  = text // a number, or a param that gives one
	boolean = text // true or false
)

// isTrue is the value of a boolean.
func (t text) isTrue() bool { return strings.EqualFold(t.value, "true") }
