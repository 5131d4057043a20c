package published

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goccy/go-yaml"
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

func decode(text []byte) (*mapping, error) {
	m := new(mapping)
	if err := yaml.UnmarshalWithOptions(text, m, yaml.Strict()); err != nil {
		return nil, err
	}
	for _, names := range []map[string]string{m.Metrics, m.Shares} {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if err := metric(names[name]); err != nil {
				return nil, err
			}
		}
	}
	named := slices.Collect(maps.Keys(m.Columns))
	for _, e := range m.Except {
		if len(e.Where) == 0 || e.Reason == "" {
			return nil, fmt.Errorf("an exception needs where and reason")
		}
		named = slices.AppendSeq(named, maps.Keys(e.Where))
	}
	for _, name := range slices.Sorted(slices.Values(named)) {
		if _, ok := new(Figure).column(name); !ok {
			return nil, fmt.Errorf("there is no column %q", name)
		}
	}
	return m, nil
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
