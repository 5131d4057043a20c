package audit

import (
	"strings"

	"assay"
	"assay/internal/report"
	"assay/published"
)

// Relations returns the relations of published times that cells of a plan
// measure again; none where no published benchmark is the plan's.
func Relations(plan string) ([]report.Published, error) {
	machines, err := publishedMachines()
	if err != nil {
		return nil, err
	}
	var all []report.Published
	for _, source := range published.Sources() {
		figures, err := published.Figures(source)
		if err != nil {
			return nil, err
		}
		apart := compared(figures)
		bases := map[string]published.Figure{}
		for _, f := range figures {
			if f.Cell.Plan != plan || f.Cell.Metric != assay.NsPerOp || f.Cell.Share {
				continue
			}
			key := strings.Join([]string{f.Parallelism, f.Pool, f.Metric}, "\x00")
			if !apart.configs[f.Case] {
				key += "\x00" + f.Config
			}
			if apart.drivers[f.Case] || apart.configs[f.Case] {
				key += "\x00" + f.Case
			}
			base, has := bases[key]
			if !has {
				bases[key] = f
				continue
			}
			all = append(all, report.Published{Source: source, Machine: machines[source], Metric: f.Cell.Metric,
				A: publishedFigure(f, base), B: publishedFigure(base, f)})
		}
	}
	return all, nil
}

// publishedMachines are the machines of the sources, by their names.
func publishedMachines() (map[string]string, error) {
	sources, err := published.Claims()
	if err != nil {
		return nil, err
	}
	machines := map[string]string{}
	for _, s := range sources {
		machines[s.Name] = s.Machine
	}
	return machines, nil
}

// relations says what figures of a case are compared by: drivers where several
// were measured on it with one configuration; configurations where each driver
// has its own. Otherwise the cases are compared.
type relations struct{ drivers, configs map[string]bool }

func compared(figures []published.Figure) relations {
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

// publishedFigure is a figure by what tells it from the other of its relation.
func publishedFigure(f, other published.Figure) report.PublishedFigure {
	what := f.Case
	if f.Case == other.Case {
		what = f.Driver + ", " + f.Config
	}
	cell := map[string]string{}
	for name, values := range f.Cell.Only {
		cell[name] = values[0]
	}
	return report.PublishedFigure{What: what, Printed: f.Printed, Unit: f.Unit, Value: f.Value, Cell: cell, Doubt: f.Reason}
}
