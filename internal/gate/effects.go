package gate

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"assay/internal/advisories"
	"assay/internal/analysis/wording"
	"assay/internal/lint/facts"
)

// Effects holds what a head does with a DSN and its base does not, or the other way
// round.
type Effects struct {
	Lost  []Finding // what worked with the base
	Open  []string  // what could not be compared, or was found once only
	Notes []string  // other changes
}

// FindEffects compares what experiments with DSNs find out of base and head. What
// is lost has to show twice, and so has a head that fails in them; the base is tried
// each time, so that what ails the machine is no fault of the head.
func FindEffects(base, head func() (facts.Facts, error)) Effects {
	first := effectsOnce(base, head)
	if len(first.Lost) == 0 {
		return first
	}
	return first.Confirmed(effectsOnce(base, head))
}

func effectsOnce(base, head func() (facts.Facts, error)) Effects {
	was, err := base()
	takesDSN := !errors.As(err, new(*facts.NoDSNError))
	switch {
	case !takesDSN && was.Engine == "":
		return Effects{} // it is none of SQLite
	case takesDSN && err != nil:
		return Effects{Open: []string{"the parameters of a DSN were not compared: " + err.Error()}}
	}
	is, err := head()
	if err != nil && (takesDSN || !errors.As(err, new(*facts.NoDSNError))) {
		return Effects{Lost: []Finding{{Outcome, "", fmt.Sprintf("the experiments with parameters of a DSN fail: %v; they do not with %s", err, was.At())}}}
	}
	return Compare(was, is)
}

// Compare holds what was measured of the head against the base. It says the same
// of two drivers as of two versions of one.
func Compare(base, head facts.Facts) Effects {
	var e Effects
	e.parameters(base, head)
	e.bugs(base, head)
	for _, dsn := range slices.Sorted(maps.Keys(base.Memory)) {
		was, is := base.Memory[dsn], head.Memory[dsn]
		switch {
		case was == is || is == "":
		case was == facts.Shared:
			e.Lost = append(e.Lost, Finding{Memory, "", fmt.Sprintf("%s is one database of all connections with %s, and with %s %s", dsn, base.At(), head.At(), sharing[is])})
		default:
			e.Notes = append(e.Notes, fmt.Sprintf("%s was %s, and is %s", dsn, sharing[was], sharing[is]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base.Defaults)) {
		if was, is := base.Defaults[name], head.Defaults[name]; was != is && is != "" {
			e.Notes = append(e.Notes, fmt.Sprintf("default of %s: %s, was %s", name, is, was))
		}
	}
	return e
}

// bugs compares which known faults the engines have.
func (e *Effects) bugs(base, head facts.Facts) {
	had := map[string]bool{}
	for _, bug := range bugsOf(base) {
		had[bug.ID] = true
	}
	for _, bug := range bugsOf(head) {
		text := fmt.Sprintf("%s has SQLite %s: %s: %s", head.At(), head.Engine, bug.Sentence(), bug.URL)
		if had[bug.ID] {
			e.Notes = append(e.Notes, text+"; so has "+base.At().String())
		} else {
			e.Lost = append(e.Lost, Finding{KnownBug, "", text})
		}
	}
}

// bugsOf are the known faults but for those of attached databases, which no plan has.
func bugsOf(f facts.Facts) []advisories.Advisory {
	all := advisories.Of(advisories.Build{Engine: "sqlite", EngineVersion: f.Engine, Library: f.Module, Version: f.Version, System: runtime.GOOS})
	return slices.DeleteFunc(all, func(a advisories.Advisory) bool { return a.Attached })
}

// sharing says what a database in memory is.
var sharing = map[facts.Sharing]string{facts.Private: "a database of its own for each connection", facts.Shared: "one database of all connections",
	facts.OnDisk: "a file of that name", facts.Refused: "refused"}

// effects says what a parameter does that takes no effect.
var effects = map[facts.Effect]string{facts.Ignored: "is ignored", facts.Fails: "is an error", facts.Literal: "becomes part of the file's name"}

// parameters compares the ways to write a setting in a DSN.
func (e *Effects) parameters(base, head facts.Facts) {
	var started int
	for _, s := range facts.Options("") {
		was, tried := base.Effect(s)
		is, also := head.Effect(s)
		switch {
		case !tried || !also || was == is:
		case was == facts.Applied:
			e.lose(s, fmt.Sprintf(" in a DSN %s; %s applies it", effects[is], base.At()))
		case is == facts.Applied:
			started++
		}
	}
	if started > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s applies %s of a DSN that %s does not", head.At(), wording.Plural(started, "parameter"), base.At()))
	}
}

// lose notes a parameter that has no effect any more. One that is lost in a DSN with
// file: and in one without is one finding.
func (e *Effects) lose(s facts.Option, what string) {
	i := slices.IndexFunc(e.Lost, func(f Finding) bool {
		return f.Message == facts.InFile+s.Key+what || f.Message == facts.InPath+s.Key+what
	})
	if i >= 0 {
		e.Lost[i].Message = s.Key + what
		return
	}
	e.Lost = append(e.Lost, Finding{Parameter, "", s.String() + what})
}

// Confirmed are the effects that a second measurement shows again.
func (e Effects) Confirmed(again Effects) Effects {
	confirmed := Effects{Open: slices.Concat(e.Open, again.Open), Notes: again.Notes}
	for _, f := range e.Lost {
		if slices.ContainsFunc(again.Lost, f.alike) {
			confirmed.Lost = append(confirmed.Lost, f)
		} else {
			confirmed.Open = append(confirmed.Open, f.Message+", which a second experiment did not confirm")
		}
	}
	for _, f := range again.Lost {
		if !slices.ContainsFunc(e.Lost, f.alike) {
			confirmed.Open = append(confirmed.Open, f.Message+", which the first experiment did not show")
		}
	}
	return confirmed
}

// alike reports whether two experiments found the same. Two failures are, whatever
// the worker said at each.
func (f Finding) alike(other Finding) bool {
	return f.Kind == other.Kind && (f.Kind == Outcome || f.Message == other.Message)
}
