package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay"
)

// Difference is a fact, a compile option or an effective setting that targets
// of one engine do not share, or the engine itself.
type Difference struct {
	Of     string // engine, compile option or profile NAME
	Name   string
	Values []Holders // sorted by value
}

// Holders are the drivers that have a value.
type Holders struct {
	Value   string // "not set" or "not reported" where they do not have it
	Drivers []string
}

// CompileOption is the kind of difference that is set or not.
const CompileOption = "compile option"

// differences compares targets by what they report of themselves, and
// drivers by the settings that one profile gave them.
func differences(targets []assay.Target, rows []*Row, n naming) []Difference {
	facts := factTable{}
	for _, t := range targets {
		facts.addTarget(t, n.name(assay.Cell{Driver: t.Driver, DriverVersion: t.DriverVersion, Options: strings.Join(t.Options, ":"), Build: t.Build}))
	}
	for _, row := range rows {
		if row.Twin || len(row.Settings) == 0 {
			continue
		}
		of := "profile " + row.Cell.Profile
		for _, s := range JoinConnections(row.Settings) {
			facts.add(row.Cell.Engine, of, s.Name, row.Driver, s.Effective)
		}
	}
	return facts.differences()
}

// fact is one of a kind, such as a compile option, of the targets of an engine.
type fact struct{ engine, of, name string }

// factTable holds the values of facts by driver: sets, since a setting can differ between
// workloads.
type factTable map[fact]map[string]map[string]bool

func (f factTable) add(engine, of, name, driver, value string) {
	key := fact{engine, of, name}
	if f[key] == nil {
		f[key] = map[string]map[string]bool{}
	}
	Count(f[key], driver, value)
}

// addTarget notes what a target says of itself.
func (f factTable) addTarget(t assay.Target, driver string) {
	f.add("", "engine", "name", driver, t.Engine) // of all engines together
	f.add(t.Engine, "engine", "version", driver, t.EngineVersion)
	for name, value := range t.Facts {
		if !slices.Contains(aboutPrograms, name) {
			f.add(t.Engine, "engine", name, driver, value)
		}
	}
	for _, option := range t.CompileOptions {
		name, value, has := strings.Cut(option, "=")
		if !has {
			value = "set"
		}
		f.add(t.Engine, CompileOption, name, driver, value)
	}
}

// differences returns the facts with more than one value, over all drivers that have any
// fact of the kind.
func (f factTable) differences() []Difference {
	drivers := map[string]map[string]bool{} // by kind
	for key, holders := range f {
		for driver := range holders {
			Count(drivers, key.engine+"|"+key.of, driver)
		}
	}
	var all []Difference
	for key, holders := range f {
		byValue := map[string][]string{}
		for _, driver := range slices.Sorted(maps.Keys(drivers[key.engine+"|"+key.of])) {
			value := strings.Join(slices.Sorted(maps.Keys(holders[driver])), " or ")
			value = cmp.Or(value, Absent(key.of))
			byValue[value] = append(byValue[value], driver)
		}
		if len(byValue) > 1 {
			all = append(all, newDifference(key.of, key.name, byValue))
		}
	}
	slices.SortFunc(all, func(a, b Difference) int {
		return strings.Compare(a.order(), b.order())
	})
	return all
}

// Absent says what it means that a driver does not have a fact.
func Absent(of string) string {
	if of == CompileOption {
		return "not set"
	}
	return "not reported"
}

// newDifference sorts the values.
func newDifference(of, name string, byValue map[string][]string) Difference {
	d := Difference{Of: of, Name: name}
	for _, value := range slices.Sorted(maps.Keys(byValue)) {
		d.Values = append(d.Values, Holders{Value: value, Drivers: byValue[value]})
	}
	return d
}

// OnlySet reports whether the difference is a compile option that some have,
// all with the same value, and others do not.
func (d Difference) OnlySet() bool {
	return d.Of == CompileOption && len(d.Values) == 2 &&
		slices.ContainsFunc(d.Values, func(h Holders) bool { return h.Value == Absent(CompileOption) })
}

// order puts engines first, then compile options, then profiles.
func (d Difference) order() string {
	rank := map[string]string{"engine": "0", CompileOption: "1"}[d.Of]
	rank = cmp.Or(rank, "2"+d.Of)
	return rank + "\x00" + d.Name + "\x00" + d.Values[0].Value
}

// Clients is the fact of a runtime whose clients do not run side by side.
const Clients = "clients"

// explaining are the facts and compile options that most often explain a ratio
// between drivers of one engine.
var explaining = map[string][]string{
	"engine":      {"version", "api", Clients, "cgo", "pool", "statement_cache"},
	CompileOption: {"THREADSAFE", "DEFAULT_MEMSTATUS", "USE_ALLOCA", "ZERO_MALLOC", "ENABLE_API_ARMOR"},
}

// explain returns what the targets of the table differ in, of what can explain
// a ratio: facts, compile options, and settings that no profile asked for.
func (t *Table) explain(targets []assay.Target, n naming) []Difference {
	present := map[string]bool{}
	for _, row := range t.Rows {
		present[row.Cell.Target()] = true
	}
	targets = slices.DeleteFunc(slices.Clone(targets), func(target assay.Target) bool { return !present[target.Name()] })
	var all []Difference
	for _, d := range differences(targets, t.Rows, n) {
		names, of := explaining[d.Of]
		if of && !slices.Contains(names, d.Name) {
			continue
		}
		if d.Of != CompileOption { // a worker that does not report a fact, in another language, say, is not known to differ
			d.Values = slices.DeleteFunc(d.Values, func(h Holders) bool { return h.Value == Absent(d.Of) })
		}
		if len(d.Values) > 1 || d.Name == Clients {
			all = append(all, d)
		}
	}
	return all
}
