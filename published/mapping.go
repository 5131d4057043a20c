package published

import (
	"fmt"
	"maps"
	"slices"
)

type mapping struct {
	Plan string            `yaml:"plan"`
	Cell map[string]string `yaml:"cell"` // coordinates that all figures have
	// Columns has, by column and its value, more coordinates. A value that is
	// not listed has no cell, which is a mistake unless it is excepted.
	Columns map[string]map[string]map[string]string `yaml:"columns"`
	Metrics map[string]string                       `yaml:"metrics"` // by the source's name
	Shares  map[string]string                       `yaml:"shares"`  // likewise, of a phase in all phases
	Except  []exception                             `yaml:"except"`
}

// exception gives the figures that have all of some columns' values a reason
// instead of a cell, or beside the cell that measures what they should have.
type exception struct {
	Where  map[string]string `yaml:"where"`
	Reason string            `yaml:"reason"`
	Beside bool              `yaml:"beside"`
}

func decode(file string, text []byte) (*mapping, error) {
	m := new(mapping)
	if err := decodeYAML(file, text, m); err != nil {
		return nil, err
	}
	if key, err := m.check(); err != nil {
		return nil, mistake(file, text, "$."+key, err)
	}
	return m, nil
}

// check finds what is wrong, and under which key.
func (m *mapping) check() (key string, err error) {
	for key, names := range map[string]map[string]string{"metrics": m.Metrics, "shares": m.Shares} {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if err := metric(names[name]); err != nil {
				return key, err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Columns)) {
		if err := knownColumn(name); err != nil {
			return "columns", err
		}
	}
	for i, e := range m.Except {
		at := fmt.Sprintf("except[%d]", i)
		if len(e.Where) == 0 || e.Reason == "" {
			return at, fmt.Errorf("an exception needs where and reason")
		}
		for _, name := range slices.Sorted(maps.Keys(e.Where)) {
			if err := knownColumn(name); err != nil {
				return at, err
			}
		}
	}
	return "", nil
}

func knownColumn(name string) error {
	if _, ok := new(Figure).column(name); !ok {
		return fmt.Errorf("there is no column %q", name)
	}
	return nil
}

func (m *mapping) place(f *Figure) error {
	for _, e := range m.Except {
		if e.holds(f) {
			f.Reason = e.Reason
			if !e.Beside {
				return nil
			}
		}
	}
	cell := Cell{Plan: m.Plan, Only: map[string][]string{}, Metric: m.Metrics[f.Metric]}
	if share, ok := m.Shares[f.Metric]; ok {
		cell.Metric, cell.Share = share, true
	}
	if cell.Metric == "" {
		return fmt.Errorf("metric %q is not mapped", f.Metric)
	}
	cell.add(m.Cell)
	for _, name := range slices.Sorted(maps.Keys(m.Columns)) {
		value, _ := f.column(name)
		coordinates, ok := m.Columns[name][value]
		if !ok {
			return fmt.Errorf("%s %q is not mapped", name, value)
		}
		cell.add(coordinates)
	}
	f.Cell = cell
	return nil
}

func (c *Cell) add(coordinates map[string]string) {
	for key, value := range coordinates {
		c.Only[key] = []string{value}
	}
}

func (e exception) holds(f *Figure) bool {
	for name, want := range e.Where {
		if value, _ := f.column(name); value != want {
			return false
		}
	}
	return true
}
