package plan

import (
	"slices"

	"assay"
)

// UnknownDrivers are the mistakes of a plan's text that name drivers other than the
// known ones; nil where there is none.
func UnknownDrivers(file string, data []byte, known []string) Errors {
	m, d := &mistakes{file: file}, document{}
	if root := m.parse(data); root != nil {
		d.read(m, root)
	}
	found := &mistakes{file: file}
	for _, t := range d.Drivers.items {
		if name := assay.ParseDriverName(t.value).Name; t.set() && driverPattern.MatchString(t.value) && !slices.Contains(known, name) {
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
