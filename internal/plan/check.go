package plan

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"assay"
	"assay/kit/wire"
)

// checker checks the parts of one workload as far as no values of params are
// needed.
type checker struct {
	m          *mistakes
	plan       *Plan
	operations *dict[operation]
	params     []Axis // the workload's
}

var axisPattern = regexp.MustCompile(`^[A-Za-z]\w*$`)

// axes checks params and returns them. An axis without a valid value keeps an
// empty one, so that templates still know its name.
func (c checker) axes(params dict[list[scalar]], outer []Axis) []Axis {
	var axes []Axis
	for _, e := range params.entries {
		name := e.key.value
		_, coordinate := assay.Cell{}.Coordinate(name)
		switch {
		case !axisPattern.MatchString(name):
			c.m.at(e.key.place, "a param's name is made of letters, digits and underscore, not %q", name)
		case coordinate:
			c.m.at(e.key.place, "%q is a coordinate of every cell, and no name for a param", name)
		case ":"+name == operationNumber:
			c.m.at(e.key.place, ":i is the number of the operation: a param needs another name")
		case machine[name] != "":
			c.m.at(e.key.place, "{{%s}} is known in every plan: a param needs another name", name)
		case slices.ContainsFunc(outer, func(a Axis) bool { return a.Name == name }):
			c.m.at(e.key.place, "the workload has a param %q already", name)
		}
		axes = append(axes, Axis{name, c.axisValues(e)})
	}
	return axes
}

func (c checker) axisValues(e entry[list[scalar]]) []string {
	var values []string
	for _, s := range e.value.items {
		value := plain(s.text)
		switch {
		case !s.set():
		case s.null || strings.ContainsAny(value, ";=,|\n"):
			c.m.at(s.place, "a param's value is a number or a text without ; = , and |, not %q", s.text)
		case slices.Contains(values, value):
			c.m.at(s.place, "%s %s is listed twice", e.key.value, value)
		default:
			values = append(values, value)
		}
	}
	if values == nil {
		return []string{""}
	}
	return values
}

// source checks where a workload's data comes from.
func (c checker) source(w *workload) {
	switch {
	case w.File.set() && w.Schema.set():
		c.m.at(w.Schema.place, "a workload has either a schema or a file")
	case w.File.set() && w.Data.set():
		c.m.at(w.Data.place, "a file has its own data")
	case !w.File.set() && !w.Schema.set() && !w.Records.set() && !w.misspelt && c.needsTables():
		c.m.at(w.place, "a workload needs a schema, a file or records")
	}
	c.records(w)
	for _, path := range []text{w.File, w.Recorded} {
		if path.set() && path.value == "" {
			c.m.at(path.place, "the file's path is empty")
		}
	}
}

// needsTables reports whether some operation is no key-value one.
func (c checker) needsTables() bool {
	return slices.ContainsFunc(c.operations.entries, func(e entry[operation]) bool { return e.value.statements() })
}

func (c checker) operation(name text, o *operation) {
	c.form(o)
	c.m.words(o.Statement, "statement policy", statementPolicies)
	c.m.words(o.Profiles, "profile", profileNames(c.plan.Profiles))
	for _, e := range o.Count.byProfile.entries {
		if known := profileNames(c.plan.Profiles); !slices.Contains(known, e.key.value) {
			c.m.unknown(e.key.place, "profile", e.key.value, known)
		}
	}
	c.word(o.Per, "per", "row")
	c.word(o.Busy, "busy", "fail", "retry")
	c.word(o.Only, "only", "mix")
	c.word(o.Serve, "serve", "http")
	o.axes = c.axes(o.Params, c.params)
	if o.Cache.set() {
		c.m.words(o.Cache, "state of the cache", cacheStates)
		o.axes = append(o.axes, c.cacheAxis(o))
	}
	if o.Load.Open.set() {
		o.axes = append(o.axes, c.arrivalsAxis(o))
	}
	clients(c.m, o.Clients, nil)
	c.processes(o)
	pools(c.m, o.Pool, nil)
	begins(c.m, o.Begin, nil)
	c.transactions(o)
	c.types(o.Returns)
	c.types(o.Check.Returns)
	c.stepTypes(o.Steps.items)
	c.mix(o)
	c.total(o)
	c.keyValue(o)
	c.call(o)
	c.serve(o)
	if o.Only.value == "mix" && !c.mixed(name.value) {
		c.m.at(o.Only.place, "%s is only for a mix, and no mix has it", name.value)
	}
}

// processes reports several processes of an operation that one process serves or calls.
func (c checker) processes(o *operation) {
	all := processes(c.m, o.Processes, c.plan.Processes)
	at := o.place
	if o.Processes.set() {
		at = o.Processes.place
	}
	switch {
	case slices.Max(all) <= 1:
	case o.Serve.set():
		c.m.at(at, "one process serves an operation over HTTP: give the operation processes: 1")
	case o.Call.set() || o.Sum.calls.set():
		c.m.at(at, "a call is made in one process: give the operation processes: 1")
	}
}

// cacheStates are what the page cache can have of the data at the beginning.
var cacheStates = []string{"warm", "cold"}

// cacheAxis makes an axis of the states of the cache.
func (c checker) cacheAxis(o *operation) Axis {
	axis := Axis{Name: "cache"}
	for _, t := range o.Cache.items {
		axis.Values = append(axis.Values, t.value)
	}
	if _, taken := o.Params.get(axis.Name); taken {
		c.m.at(o.Cache.place, "cache is a param of the operation already")
	}
	if o.Mix.set() {
		c.m.at(o.Cache.place, "cache belongs to an operation that is no mix")
	}
	return axis
}

// statementPolicies are the values of the statement axis.
var statementPolicies = []string{string(wire.Once), string(wire.Each), string(wire.Never)}

func (c checker) word(t text, what string, known ...string) {
	if t.set() && !slices.Contains(known, t.value) {
		c.m.unknown(t.place, "value of "+what, t.value, known)
	}
}

// stepTypes checks the declared types of all steps, also of those within others.
func (c checker) stepTypes(steps []step) {
	for _, s := range steps {
		c.types(s.Returns)
		c.word(s.Draw, "draw", sortedKeys(sqlDraws)...)
		c.stepTypes(s.Steps.items)
	}
}

func (c checker) types(l list[text]) {
	for _, t := range l.items {
		known := []string{"int", "real", "text", "blob", "bool"}
		if t.set() && !slices.Contains(known, strings.TrimSuffix(t.value, "?")) {
			c.m.unknown(t.place, "type", t.value, known)
		}
	}
}

// form checks that an operation has no keys of another form.
func (c checker) form(o *operation) {
	if len(o.forms) == 0 {
		return
	}
	form := o.forms[0]
	for _, group := range reflect.VisibleFields(reflect.TypeFor[operation]()) {
		if owner := group.Tag.Get("form"); owner != "" && owner != form {
			_, keys := keysOf(reflect.New(group.Type).Interface())
			keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(forms, key) })
			c.m.misplaced(o, "%s belongs to "+owner+", not to "+form, keys...)
		}
	}
	if form == "mix" && o.Per.set() {
		c.m.at(o.Per.place, "per: row belongs to an operation that is no mix")
	}
	if o.Load.set() && !o.Serve.set() {
		c.m.at(o.Load.place, "load belongs to serve")
	}
}

// transactions checks the transaction axis, and keeps what is right in it.
func (c checker) transactions(o *operation) {
	var kept []scalar
	for _, s := range o.Transaction.items {
		s.text = plain(s.text)
		n, isNumber := parseWhole(s.text)
		switch {
		case !s.set():
		case isNumber && (n < 1 || n > maxCount):
			c.m.at(s.place, "a transaction has 1 to %d operations, not %d", maxCount, n)
		case !isNumber && s.text != "none" && s.text != "whole":
			c.m.unknown(s.place, "transaction", s.text, []string{"none", "a number", "whole"})
		case slices.ContainsFunc(kept, func(k scalar) bool { return k.text == s.text }):
			c.m.at(s.place, "transaction %s is listed twice", s.text)
		case o.Mix.set() && s.text != "none" && n != 1:
			c.m.at(s.place, "a mix commits each operation alone: transaction is none or 1")
		default:
			kept = append(kept, s)
		}
	}
	o.Transaction.items = kept
}

func (c checker) mix(o *operation) {
	if o.Mix.set() && len(o.Mix.entries) == 0 {
		c.m.at(o.Mix.place, "the mix has no operation")
	}
	for _, e := range o.Mix.entries {
		part, ok := c.operations.get(e.key.value)
		switch {
		case !ok:
			c.m.unknown(e.key.place, "operation", e.key.value, c.operations.names())
		case part.Mix.set():
			c.m.at(e.key.place, "a mix cannot be part of a mix")
		case part.Serve.set():
			c.m.at(e.key.place, "%s is served by itself: serve belongs to the mix", e.key.value)
		default:
			c.partParams(e.key, part, o)
		}
	}
}

// partParams checks that the mix has the params of its part.
func (c checker) partParams(name text, part, mix *operation) {
	for _, axis := range part.Params.names() {
		if _, ok := mix.Params.get(axis); !ok {
			c.m.at(name.place, "%s has the param %s, and the mix has not: give it to the mix as well", name.value, axis)
		}
	}
}

func (c checker) mixed(name string) bool {
	return slices.ContainsFunc(c.operations.entries, func(e entry[operation]) bool {
		_, ok := e.value.Mix.get(name)
		return ok
	})
}
