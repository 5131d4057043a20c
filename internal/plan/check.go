package plan

import (
	"slices"
	"strings"

	"assay"
)

// checker checks the parts of one workload as far as no values of params are
// needed.
type checker struct {
	m          *mistakes
	plan       *Plan
	operations *dict[operation]
	params     []Axis // the workload's
}

// axes checks params and returns them. An axis without a valid value keeps an
// empty one, so that its name is still known.
func (c checker) axes(params dict[list[scalar]], outer []Axis) []Axis {
	var axes []Axis
	for _, e := range params.entries {
		name := e.key.value
		_, coordinate := assay.Cell{}.Coordinate(name)
		switch {
		case !paramPattern.MatchString(name):
			c.m.at(e.key.place, "a param's name is made of letters, digits and underscore, not %q", name)
		case coordinate:
			c.m.at(e.key.place, "%q is a coordinate of every cell, and no name for a param", name)
		case ":"+name == operationNumber:
			c.m.at(e.key.place, ":i is the number of the operation: a param needs another name")
		case machine[name] != "":
			c.m.at(e.key.place, ":%s is a param of every plan: this one needs another name", name)
		case slices.ContainsFunc(outer, func(a Axis) bool { return a.Name == name }):
			c.narrows(e, outer)
			continue
		}
		axes = append(axes, c.newAxis(e))
	}
	return axes
}

// narrows checks values that an operation takes of a param of its workload, instead of all.
func (c checker) narrows(e entry[list[scalar]], outer []Axis) {
	of := outer[slices.IndexFunc(outer, func(a Axis) bool { return a.Name == e.key.value })]
	for _, s := range e.value.items {
		if s.set() && !slices.Contains(of.Values, s.ofAxis()) {
			c.m.at(s.place, "the workload's %s has no value %s: an operation takes some of %s", of.Name, s.ofAxis(), strings.Join(of.Values, ", "))
		}
	}
}

func (c checker) newAxis(e entry[list[scalar]]) Axis {
	axis := Axis{Name: e.key.value}
	for _, s := range e.value.items {
		value := s.ofAxis()
		switch {
		case !s.set():
		case slices.Contains(axis.Values, value):
			c.m.at(s.place, "%s %s is listed twice", e.key.value, value)
		default:
			axis.Values = append(axis.Values, value)
			if s.quoted {
				axis.quoted = append(axis.quoted, value)
			}
		}
	}
	if axis.Values == nil {
		axis.Values = []string{""}
	}
	return axis
}

// source checks where a workload's data comes from.
func (c checker) source(w *workload) {
	if !w.File.set() && !w.Schema.set() && !w.Records.set() && !c.m.misspelt[w.place] && c.operations.any((*operation).statements) {
		c.m.at(w.place, "a workload needs a schema, a file or records")
	}
	c.records(w)
}

func (c checker) operation(name text, o *operation) {
	profiles := profileNames(c.plan.Profiles)
	c.m.words(o.Profiles.items, "profile", profiles)
	c.m.words(o.Count.byName.keys(), "profile", profiles)
	o.axes = c.axes(o.Params, c.params)
	if o.Cache.set() {
		c.axis(o, "cache", o.Cache.place, values[string](o.Cache))
	}
	if o.Rate.set() {
		ways := values[string](o.Arrivals)
		if len(ways) == 0 {
			ways = assay.Arrivals[:1]
		}
		c.axis(o, assay.ArrivalsParam, o.Rate.place, ways)
	}
	c.processes(o)
	pools(c.m, o.Pool, nil)
	c.transactions(o)
	c.mix(o)
	c.total(o)
	c.keyValue(o)
	c.call(o)
	c.serve(o)
	mixed := c.operations.any(func(other *operation) bool { return slices.Contains(other.Mix.names(), name.value) })
	if o.Only.value == "mix" && !mixed {
		c.m.at(o.Only.place, "%s is only for a mix, and no mix has it", name.value)
	}
}

// processes reports several processes of an operation that one process serves or calls.
func (c checker) processes(o *operation) {
	all := counts(c.m, o.Processes, "processes", maxProcesses, c.plan.Processes)
	at := o.place
	if o.Processes.set() {
		at = o.Processes.place
	}
	switch {
	case slices.Max(all) <= 1:
	case o.Serve.set():
		c.m.at(at, "one process serves an operation over HTTP: give the operation processes: 1")
	case o.calls():
		c.m.at(at, "a call is made in one process: give the operation processes: 1")
	}
}

// axis gives an operation an axis beside its params.
func (c checker) axis(o *operation, name string, at place, values []string) {
	if _, taken := o.Params.get(name); taken {
		c.m.at(at, "%s is a param of the operation already", name)
	}
	o.axes = append(o.axes, Axis{Name: name, Values: values})
}

// transactions checks the transaction axis, and keeps what is right in it.
func (c checker) transactions(o *operation) {
	var kept []scalar
	for _, s := range o.Transaction.items {
		s.value = plain(s.value)
		n, isNumber := parseWhole(s.value)
		switch {
		case !s.set():
		case isNumber && (n < 1 || n > maxCount):
			c.m.at(s.place, "a transaction has 1 to %d operations, not %d", maxCount, n)
		case !isNumber && s.value != "none" && s.value != "whole":
			c.m.unknown(s.place, "transaction", s.value, []string{"none", "a number", "whole"})
		case slices.ContainsFunc(kept, func(k scalar) bool { return k.value == s.value }):
			c.m.at(s.place, "transaction %s is listed twice", s.value)
		case o.Mix.set() && s.value != "none" && n != 1:
			c.m.at(s.place, "a mix commits each operation alone: transaction is none or 1")
		default:
			kept = append(kept, s)
		}
	}
	o.Transaction.items = kept
}

func (c checker) mix(o *operation) {
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
			for _, axis := range part.Params.names() {
				if _, has := o.Params.get(axis); !has {
					c.m.at(e.key.place, "%s has the param %s, and the mix has not: give it to the mix as well", e.key.value, axis)
				}
			}
		}
	}
}
