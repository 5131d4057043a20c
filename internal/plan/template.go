package plan

import (
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// env gives the params of one point of the axes their values.
type env map[string]string

// machine are the template names that every plan has. Their values differ
// between machines, and so do the cells of a plan that has them.
var machine = env{"cpus": strconv.Itoa(runtime.NumCPU())}

// has reports whether the env has a value for every axis.
func (e env) has(axes []Axis) bool {
	return !slices.ContainsFunc(axes, func(a Axis) bool { _, ok := e[a.Name]; return !ok })
}

var (
	valuePattern = regexp.MustCompile(`^\s*([A-Za-z]\w*)\s*(?:([+*-])\s*(\d+)\s*)?$`)
	rowsPattern  = regexp.MustCompile(`^\s*rows\s+(\w+)\s*$`)
)

// expand replaces the templates of a text by values of params.
func (e env) expand(m *mistakes, at place, text string) (string, bool) {
	return expand(m, at, text, func(inner string) (string, bool) { return e.value(m, at, inner) })
}

// expand replaces each {{...}} of a text by what value makes of it.
func expand(m *mistakes, at place, text string, value func(inner string) (string, bool)) (string, bool) {
	ok := true
	text = templatePattern.ReplaceAllStringFunc(text, func(template string) string {
		replaced, good := value(template[2 : len(template)-2])
		ok = ok && good
		return replaced
	})
	if ok && strings.Contains(text, "{{") {
		m.at(at, "a template has no end: {{ without }}")
		ok = false
	}
	return text, ok
}

// value computes {{name}}, {{name + 1}}, {{name - 1}} and {{name * 2}}.
func (e env) value(m *mistakes, at place, inner string) (string, bool) {
	parts := valuePattern.FindStringSubmatch(inner)
	if parts == nil {
		m.at(at, "cannot read the template {{%s}}: want {{name}}, {{name + 1}}, {{name - 1}} or {{name * 2}}", inner)
		return "", false
	}
	value, ok := e[parts[1]]
	if !ok {
		value, ok = machine[parts[1]]
	}
	if !ok {
		m.unknown(at, "param", parts[1], slices.Sorted(maps.Keys(e)))
		return "", false
	}
	if parts[2] == "" {
		return value, true
	}
	base, good := parseWhole(value)
	by, err := strconv.ParseInt(parts[3], 10, 32)
	if !good || err != nil {
		m.at(at, "cannot compute {{%s}} where %s is %q", inner, parts[1], value)
		return "", false
	}
	switch parts[2] {
	case "*":
		base *= by
	case "-":
		base -= by
	default:
		base += by
	}
	return strconv.FormatInt(base, 10), true
}

// sql expands a statement. With {{rows k}} it becomes k row placeholders of
// as many ? as there are arguments, and repeat is k; otherwise repeat is 0.
func (e env) sql(m *mistakes, t text, args int) (sql string, repeat int, ok bool) {
	sql, ok = expand(m, t.place, t.value, func(inner string) (string, bool) {
		parts := rowsPattern.FindStringSubmatch(inner)
		if parts == nil {
			return e.value(m, t.place, inner)
		}
		if repeat > 0 {
			m.at(t.place, "the SQL has {{rows ...}} twice")
			return "", false
		}
		count := parts[1]
		if _, isNumber := parseWhole(count); !isNumber {
			if count, ok = e.value(m, t.place, count); !ok {
				return "", false
			}
		}
		var good bool
		repeat, good = m.repeat(t.place, count, args)
		return placeholders(repeat, args), good
	})
	return sql, repeat, ok
}

// repeat checks the k of {{rows k}}.
func (m *mistakes) repeat(at place, count string, args int) (int, bool) {
	if args == 0 {
		m.at(at, "{{rows ...}} needs args: the values of one row")
		return 0, false
	}
	k, ok := parseWhole(count)
	if !ok {
		m.at(at, "{{rows ...}} needs a number of rows, not %q", count)
		return 0, false
	}
	limit := int64(maxParams / args)
	if !m.within(at, "the number of rows in {{rows ...}}", k, 1, limit) {
		return 0, false
	}
	return int(k), true
}

// placeholders returns "(?, ?), (?, ?)".
func placeholders(rows, columns int) string {
	if rows == 0 {
		return ""
	}
	row := "(" + strings.Repeat("?, ", columns-1) + "?)"
	return strings.Repeat(row+", ", rows-1) + row
}

// integer resolves a number to an integer within bounds.
func (e env) integer(m *mistakes, v number, what string, low, high int64) (int64, bool) {
	text, ok := e.expand(m, v.place, v.value)
	if !ok || text == "" { // empty: the param has no valid value, which was reported
		return 0, false
	}
	n, ok := parseWhole(text)
	if !ok {
		if isHuge(text) {
			m.at(v.place, "%s must be %d to %d, not %s", what, low, high, text)
		} else {
			m.at(v.place, "%s must be a whole number, not %s", what, text)
		}
		return 0, false
	}
	return n, m.within(v.place, what, n, low, high)
}
