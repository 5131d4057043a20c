package plan

import (
	"maps"
	"regexp"
	"slices"
	"time"

	"assay"
)

const (
	minLaunches = 2 // fewer give no interval
	// defaultLaunches is what the verdicts of whole tables are calibrated for.
	defaultLaunches = 3
	maxLaunches     = 1_000
	maxClients      = 100_000
	maxProcesses    = 1_000
	maxShare        = 0.5 // of precision and margin
)

// fill checks the parts of a plan and takes them over.
func (p *Plan) fill(m *mistakes, d *document) {
	p.Name, p.About = d.Name.value, d.About.value
	m.name(d.Name, "plan")
	p.Seed = uint64(m.whole(d.Seed, "seed", 0, 1<<62, 1))
	p.Budget = m.duration(d.Budget, 0)
	p.Timeout = m.duration(d.Timeout, time.Minute)
	p.Factors = d.Factors.isTrue()
	p.Precision = m.share(d.Precision, "precision")
	p.Margin = m.share(d.Margin, "margin")
	p.Launches = int(m.whole(d.Launches, "launches", minLaunches, maxLaunches, defaultLaunches))
	p.fillDrivers(m, d)
	p.Clients = counts(m, d.Clients, "clients", maxClients, []int{1})
	p.Processes = counts(m, d.Processes, "processes", maxProcesses, []int{1})
	p.Pools = pools(m, d.Pool, []Pool{{}})
	p.Begins = values[assay.Begin](d.Begin)
	p.fillProfiles(m, d)
	p.fillWorkloads(m, d)
	p.checkUse(m, d)
}

var (
	namePattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	paramPattern = regexp.MustCompile(`^[A-Za-z]\w*$`)
)

// name checks a name that stands in tables, in keys and on the command line.
func (m *mistakes) name(t text, what string) {
	if t.set() && !namePattern.MatchString(t.value) {
		m.at(t.place, "the %s's name is made of letters, digits, dot, dash and underscore, not %q", what, t.value)
	}
}

// words checks that each text of a list is one of the known words, once.
func (m *mistakes) words(all []text, what string, known []string) []string {
	var words []string
	for _, t := range all {
		switch {
		case !t.set(): // no text, which was reported
		case !slices.Contains(known, t.value):
			m.unknown(t.place, what, t.value, known)
		case slices.Contains(words, t.value):
			m.at(t.place, "%s %q is listed twice", what, t.value)
		default:
			words = append(words, t.value)
		}
	}
	return words
}

func (p *Plan) fillDrivers(m *mistakes, d *document) {
	for _, t := range d.Drivers.items {
		name := assay.ParseDriverName(t.value).String()
		switch {
		case !t.set():
		case !driverPattern().MatchString(t.value): // which was reported
		case slices.Contains(p.Drivers, name):
			m.at(t.place, "driver %q is listed twice", t.value)
		default:
			p.Drivers = append(p.Drivers, name)
		}
	}
	p.Baseline = assay.ParseBaseline(d.Reference.value)
	known := slices.Concat(p.Drivers, driverNames(p.Drivers))
	if driver := p.Baseline.Driver.String(); d.Reference.set() && !slices.Contains(known, driver) {
		m.unknown(d.Reference.place, "driver", driver, p.Drivers)
	}
	if profile := p.Baseline.Profile; profile != "" && !slices.Contains(d.Profiles.names(), profile) {
		m.unknown(d.Reference.place, "profile", profile, d.Profiles.names())
	}
}

// driverNames returns drivers without their versions and options.
func driverNames(drivers []string) []string {
	return namesOf(drivers, func(d string) string { return assay.ParseDriverName(d).Name })
}

// counts are the different numbers of an axis.
func counts(m *mistakes, l list[number], what string, limit int64, fallback []int) []int {
	var d distinct[int]
	for _, n := range l.items {
		count := int(m.whole(n, what, 1, limit, 0))
		if d.add(count, n) && count > 0 {
			m.at(n.place, "%s %d is listed twice", what, count)
		}
	}
	return d.or(fallback)
}

func pools(m *mistakes, l list[pool], fallback []Pool) []Pool {
	var d distinct[Pool]
	for _, s := range l.items {
		var p Pool
		p.Open = int(m.whole(s.Open, "pool", 1, maxClients, 0))
		p.Idle = int(m.whole(s.Idle, "idle", 1, maxClients, int64(p.Open)))
		if p.Idle > p.Open && s.Open.paramOf() != "" {
			p.Idle = p.Open
		}
		twice := d.add(p, s.Open)
		switch {
		case p.Open == 0:
		case p.Idle > p.Open:
			m.at(s.Idle.place, "idle %d is more than the %d open connections", p.Idle, p.Open)
		case twice:
			m.at(s.place, "pool %d is listed twice", p.Open)
		}
	}
	return d.or(fallback)
}

// distinct is the different values of an axis. A value that is written twice
// is a mistake; one that a param gives again is none, because on another machine
// :cpus is another number.
type distinct[T comparable] struct{ all, written []T }

// or returns the values, or others where there is none.
func (d *distinct[T]) or(others []T) []T {
	if d.all == nil {
		return others
	}
	return d.all
}

// add takes a value in, and reports whether it was written before.
func (d *distinct[T]) add(value T, n number) (twice bool) {
	if n.paramOf() == "" {
		twice = slices.Contains(d.written, value)
		d.written = append(d.written, value)
	}
	if !slices.Contains(d.all, value) {
		d.all = append(d.all, value)
	}
	return twice
}

func (p *Plan) fillProfiles(m *mistakes, d *document) {
	if !d.Profiles.set() {
		p.Profiles = []assay.Profile{{Name: "default"}}
		return
	}
	p.prepared, p.drivers = map[string]map[string]string{}, map[string][]string{}
	for i := range d.Profiles.entries {
		e := &d.Profiles.entries[i]
		m.name(e.key, "profile")
		if e.value.File.set() {
			p.prepared[e.key.value] = e.value.file(m)
		}
		p.restrict(m, e.key.value, e.value.Drivers)
		p.Profiles = append(p.Profiles, e.value.resolve(m, e.key.value, driverNames(p.Drivers)))
	}
}

func (p *Plan) fillWorkloads(m *mistakes, d *document) {
	if d.Workloads.set() {
		for i := range d.Workloads.entries {
			e := &d.Workloads.entries[i]
			p.addWorkload(m, e.key, &e.value, &e.value.Operations)
		}
		return
	}
	if !d.Workload.set() {
		return
	}
	name := d.Workload.Name
	if !name.set() {
		name = d.Name
	}
	p.addWorkload(m, name, &d.Workload, &d.Operations)
}

func (p *Plan) addWorkload(m *mistakes, name text, w *workload, operations *dict[operation]) {
	m.name(name, "workload")
	if len(operations.entries) == 0 {
		m.at(w.place, "workload %s has no operations", name.value)
	}
	c := checker{m: m, plan: p, operations: operations}
	params := c.axes(w.Params, nil)
	c.params = params
	c.source(w)
	c.callsAlone(w)
	for i := range operations.entries {
		e := &operations.entries[i]
		m.name(e.key, "operation")
		c.operation(e.key, &e.value)
	}
	made := Workload{name.value, params, w, operations}
	for i, sizes := 0, made.sizes(); i < len(params); i++ {
		if slices.Contains(sizes, params[i].Name) {
			params[i].quoted = nil // a number of rows, however it is written
		}
	}
	p.Workloads = append(p.Workloads, made)
}

// checkUse reports profiles that every operation leaves out.
func (p *Plan) checkUse(m *mistakes, d *document) {
	used := map[string]bool{}
	for _, w := range p.Workloads {
		for _, o := range w.operations.entries {
			if !o.value.Profiles.set() {
				return
			}
			for _, t := range o.value.Profiles.items {
				used[t.value] = true
			}
		}
	}
	for _, e := range d.Profiles.entries {
		if len(used) > 0 && !used[e.key.value] {
			m.at(e.key.place, "no operation uses profile %q", e.key.value)
		}
	}
}

func profileNames(profiles []assay.Profile) []string {
	return namesOf(profiles, func(p assay.Profile) string { return p.Name })
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
