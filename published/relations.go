package published

import (
	"strings"

	"assay"
)

// Relation is A / B, of two times of one source that a plan measures again.
type Relation struct {
	Source  string
	Machine string // it was measured on; empty where the source does not say
	A, B    Figure
}

// Relations returns the relations of published times that cells of a plan
// measure again; none where no published benchmark is the plan's.
func Relations(plan string) ([]Relation, error) {
	sources, err := Claims()
	if err != nil {
		return nil, err
	}
	machines := map[string]string{}
	for _, s := range sources {
		machines[s.Name] = s.Machine
	}
	var all []Relation
	for _, source := range Sources() {
		figures, err := Figures(source)
		if err != nil {
			return nil, err
		}
		varying := compared(figures)
		bases := map[string]Figure{}
		for _, f := range figures {
			if f.Cell.Plan != plan || f.Cell.Metric != assay.NsPerOp || f.Cell.Share {
				continue
			}
			key := strings.Join([]string{f.Parallelism, f.Pool, f.Metric}, "\x00")
			if !varying.configs[f.Case] {
				key += "\x00" + f.Config
			}
			if varying.drivers[f.Case] || varying.configs[f.Case] {
				key += "\x00" + f.Case
			}
			base, has := bases[key]
			if !has {
				bases[key] = f
				continue
			}
			all = append(all, Relation{source, machines[source], f, base})
		}
	}
	return all, nil
}

// relations says what figures of a case are compared by: drivers where several
// were measured on it with one configuration; configurations where each driver
// has its own. Otherwise the cases are compared.
type relations struct{ drivers, configs map[string]bool }

func compared(figures []Figure) relations {
	r := relations{map[string]bool{}, map[string]bool{}}
	ofCase, ofConfig := map[string]string{}, map[string]string{}
	several := func(first map[string]string, key, driver string) bool {
		before, seen := first[key]
		first[key] = driver
		return seen && before != driver
	}
	for _, f := range figures {
		r.configs[f.Case] = several(ofCase, f.Case, f.Driver) || r.configs[f.Case]
		if several(ofConfig, f.Case+"\x00"+f.Config, f.Driver) {
			r.drivers[f.Case] = true
		}
	}
	for name := range r.drivers {
		r.configs[name] = false
	}
	return r
}

// What is the figure by what tells it from another one of its relation.
func (f Figure) What(other Figure) string {
	if f.Case == other.Case {
		return f.Driver + ", " + f.Config
	}
	return f.Case
}
