package plan

import (
	"math"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"assay/internal/plan/sqltext"
)

// env gives the params of one point of the axes their values.
type env map[string]string

// machine are the params that every plan has. Their values differ between machines, and so
// do the cells of a plan that has them.
var machine = env{"cpus": strconv.Itoa(runtime.NumCPU())}

// has reports whether the env has a value for every axis.
func (e env) has(axes []Axis) bool {
	return !slices.ContainsFunc(axes, func(a Axis) bool { _, ok := e[a.Name]; return !ok })
}

// param returns the value of a param.
func (e env) param(name string) (string, bool) {
	if value, ok := e[name]; ok {
		return value, true
	}
	value, ok := machine[name]
	return value, ok
}

// numberPattern is a number outside of SQL that a param gives: :name or :name * 100.
var numberPattern = regexp.MustCompile(`^:(\w+)(?: *\* *(\d+))?$`)

// paramOf is the param that gives a number; empty where none does.
func (t text) paramOf() string {
	if parts := numberPattern.FindStringSubmatch(t.value); parts != nil {
		return parts[1]
	}
	return ""
}

// integer resolves a number to an integer within bounds.
func (e env) integer(m *mistakes, v number, what string, low, high int64) (int64, bool) {
	text, by := v.value, int64(1)
	if parts := numberPattern.FindStringSubmatch(text); parts != nil {
		var ok bool
		if text, ok = e.param(parts[1]); !ok {
			m.unknown(v.place, "param", parts[1], sortedKeys(e))
			return 0, false
		}
		if parts[2] != "" {
			by, _ = strconv.ParseInt(parts[2], 10, 64)
		}
	}
	if text == "" { // the param has no valid value, which was reported
		return 0, false
	}
	n, whole := parseWhole(text)
	switch {
	case !whole && isHuge(text), math.Abs(float64(n))*float64(by) > math.MaxInt64/2:
		m.at(v.place, "%s must be %d to %d, not %s", what, low, high, strings.Replace(v.value, ":"+v.paramOf(), text, 1))
		return 0, false
	case !whole:
		m.at(v.place, "%s must be a whole number, not %s", what, text)
		return 0, false
	}
	return n * by, m.within(v.place, what, n*by, low, high)
}

// written is a statement with the values of params in place of their names.
func (r *resolver) written(t text) (string, bool) {
	return r.replaced(t, func(at place, name string) (string, bool) { return r.literal(at, name, "? for an argument") })
}

// replaced is SQL with something in place of each name.
func (r *resolver) replaced(t text, by func(at place, name string) (string, bool)) (sql string, ok bool) {
	ok = true
	sql = sqltext.Replace(t.value, func(token sqltext.Token) (value string, named bool) {
		if named = token.Kind == sqltext.Named; named {
			var good bool
			value, good = by(t.within(token.From), token.Text)
			ok = ok && good
		}
		return value, named
	})
	return sql, ok
}

// literal is the value of a param as SQL has it; other is what could stand there too.
func (r *resolver) literal(at place, written, other string) (string, bool) {
	name, colon := strings.CutPrefix(written, ":")
	if !colon {
		r.m.at(at, "a param is written :name here, not %s", written)
		return "", false
	}
	value, known := r.env.param(name)
	if !known {
		r.m.unknown(at, "param", name, append(sortedKeys(r.env), other))
		return "", false
	}
	quoted := slices.ContainsFunc(r.axes, func(a Axis) bool { return a.Name == name && slices.Contains(a.quoted, value) })
	if _, whole := parseWhole(value); whole && !quoted {
		return value, true
	}
	if real, isReal := parseReal(value); isReal && !quoted {
		return strconv.FormatFloat(real, 'e', -1, 64), true
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'", true
}
