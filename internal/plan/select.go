package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay"
)

// SelectToMeasure is Select, of cases on one of some sides where there are any; a sum comes with
// what it sums.
func SelectToMeasure(cases []assay.Case, only map[string][]string, sides ...map[string][]string) ([]assay.Case, error) {
	selected, err := Select(cases, only)
	if err != nil {
		return nil, err
	}
	if len(sides) > 0 {
		names := assay.NamesOf(cases)
		selected = slices.DeleteFunc(slices.Clone(selected), func(c assay.Case) bool {
			return !slices.ContainsFunc(sides, func(side map[string][]string) bool { return has(names, c.Cell, side) })
		})
	}
	return withTerms(cases, selected), nil
}

// Select returns the cases that have, for each key of only, one of its values.
// Keys are coordinates of a cell or names of params. A key or a value that no
// case has is an error that says what there is; so is an empty selection.
func Select(cases []assay.Case, only map[string][]string) ([]assay.Case, error) {
	if len(only) == 0 {
		return cases, nil
	}
	var wrong []error
	for _, key := range sortedKeys(only) {
		wrong = append(wrong, selectable(cases, key, only[key])...)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	selected := cellsWith(cases, only)
	if len(selected) == 0 {
		return nil, fmt.Errorf("no cell has all of %s", conditions(only))
	}
	return selected, nil
}

func cellsWith(cases []assay.Case, only map[string][]string) []assay.Case {
	var selected []assay.Case
	names := assay.NamesOf(cases)
	for _, c := range cases {
		if has(names, c.Cell, only) {
			selected = append(selected, c)
		}
	}
	return selected
}

// has reports whether a cell has one of the values for every key.
func has(names assay.DriverNames, c assay.Cell, only map[string][]string) bool {
	for key, values := range only {
		if !slices.ContainsFunc(values, func(v string) bool { return c.Has(key, v, names) || c.Has(key, plain(v), names) }) {
			return false
		}
	}
	return true
}

// selectable says what is wrong with a key and its values.
func selectable(cases []assay.Case, key string, values []string) []error {
	keys := slices.Concat(coordinates(), params(cases))
	if !slices.Contains(keys, key) {
		return []error{Unknown("key of a cell", key, keys)}
	}
	var known []string
	for _, c := range cases {
		if value, ok := c.Cell.Coordinate(key); ok && value != "" && !slices.Contains(known, value) {
			known = append(known, value)
		}
	}
	var wrong []error
	for _, value := range values {
		if len(cellsWith(cases, map[string][]string{key: {value}})) == 0 {
			wrong = append(wrong, Unknown(key, value, known))
		}
	}
	return wrong
}

func params(cases []assay.Case) []string {
	names := map[string]bool{}
	for _, c := range cases {
		for name := range c.Cell.Params {
			names[name] = true
		}
	}
	return sortedKeys(names)
}

// Unknown is the error of a word that is none of the known ones. It says what
// was probably meant, or else what there is.
func Unknown(what, word string, known []string) error {
	message, suggestion := mismatch(what, word, known)
	if suggestion != "" {
		message += fmt.Sprintf(" (did you mean %q?)", suggestion)
	}
	return errors.New(message)
}

func conditions(only map[string][]string) string {
	var all []string
	for _, key := range sortedKeys(only) {
		all = append(all, key+"="+strings.Join(only[key], ","))
	}
	return strings.Join(all, " ")
}

// coordinates are the keys of Select beside the params: without the engine, which is
// known when workers have said it, and without what an ablation leaves out.
func coordinates() []string {
	var names []string
	for _, c := range assay.Coordinates {
		if c.Name != "engine" && c.Name != "without" {
			names = append(names, c.Name)
		}
	}
	return names
}

// UnknownDrivers are the mistakes of a plan's text that name drivers other than the
// known ones; nil where there is none.
func UnknownDrivers(file string, data []byte, known []string) Errors {
	d := (newMistakes(file)).document(data)
	if d == nil {
		return nil
	}
	found := newMistakes(file)
	for _, t := range d.Drivers.items {
		if name := assay.ParseDriverName(t.value).Name; t.set() && driverPattern().MatchString(t.value) && !slices.Contains(known, name) {
			found.unknown(t.place, "driver", name, known)
		}
	}
	return found.list
}

// UnknownDrivers are the mistakes of the plan that name drivers other than the known
// ones; nil where there is none.
func (p *Plan) UnknownDrivers(known []string) Errors {
	return UnknownDrivers(p.file, []byte(p.Text), known)
}

// With returns the mistakes together with others, in the order of the file.
func (e Errors) With(others Errors) Errors {
	m := &mistakes{list: slices.Concat(e, others)}
	_ = m.err() // it sorts them
	return m.list
}
