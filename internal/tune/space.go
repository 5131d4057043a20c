package tune

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
)

// Level is one choice of a factor.
type Level struct {
	Settings map[string]string
	// Prepare is SQL of indexes or statistics, which is run on copies of the data.
	Prepare []string
	// Use is how the program uses its driver, in its code.
	Use assay.Use
	// Price names the class of durability of a level that is no candidate, and that
	// is measured only to tell what the class costs or gives. Empty: a candidate.
	Price string
}

// Factor is settings that are chosen together. Its first level is what the search
// starts from: the current settings, or where these break a constraint the nearest
// that do not. The second is what the screening tries.
type Factor struct {
	Name   string
	Levels []Level
	// First is true where the levels set nothing, but prepare the data or change the
	// program. They are measured before any setting, each beside the current settings
	// as they are.
	First bool
}

// candidates are the levels that may be proposed.
func (f Factor) candidates() int {
	i := slices.IndexFunc(f.Levels, func(l Level) bool { return l.Price != "" })
	if i < 0 {
		return len(f.Levels)
	}
	return i
}

// Space holds what is searched. Every combination of candidate levels keeps the
// constraints: the code that makes a space chooses the levels so.
type Space struct {
	Factors []Factor
	// StartIsCurrent says that the first levels are the current settings. Otherwise
	// these are measured as the baseline and never proposed.
	StartIsCurrent bool
}

// Point is the index of a level for each factor of a space.
type Point []int

// Key tells points apart.
func (p Point) Key() string { return fmt.Sprint([]int(p)) }

func (s Space) start() Point { return make(Point, len(s.Factors)) }

// isStart reports whether the point changes nothing.
func (p Point) isStart() bool {
	return !slices.ContainsFunc(p, func(level int) bool { return level != 0 })
}

func (p Point) in(points []Point) bool {
	return slices.ContainsFunc(points, func(other Point) bool { return slices.Equal(p, other) })
}

func (p Point) with(factor, level int) Point {
	other := slices.Clone(p)
	other[factor] = level
	return other
}

// changed are the factors that are not at their first level.
func (p Point) changed() []int {
	var all []int
	for i, level := range p {
		if level != 0 {
			all = append(all, i)
		}
	}
	return all
}

// With is the space with more factors.
func (s Space) With(factors []Factor) Space {
	s.Factors = slices.Concat(s.Factors, factors)
	return s
}

// First reports whether a point has the current settings, with other data or another
// use of the driver.
func (s Space) First(p Point) bool {
	return slices.ContainsFunc(p.changed(), func(j int) bool { return s.Factors[j].First })
}

// FirstPoints returns the points that are measured before any setting: each level of each factor
// by itself, and what prepares the data, where there are several, together.
func (s Space) FirstPoints() []Point {
	var all []Point
	combined := s.start()
	for j, f := range s.Factors {
		if !f.First {
			continue
		}
		for level := 1; level < len(f.Levels); level++ {
			all = append(all, s.start().with(j, level))
		}
		if len(f.Levels[1].Prepare) > 0 {
			combined[j] = 1
		}
	}
	if len(combined.changed()) > 1 {
		all = append(all, combined)
	}
	return all
}

// Prepare is the SQL that a point's data are prepared with.
func (s Space) Prepare(p Point) []string {
	var all []string
	for i, f := range s.Factors {
		all = append(all, f.Levels[p[i]].Prepare...)
	}
	return all
}

// state names what a point's data are prepared with, also in a space that has more factors.
func (s Space) state(p Point) string { return strings.Join(s.Prepare(p), "; ") }

// Use returns how the program uses its driver at a point.
func (s Space) Use(p Point) assay.Use {
	for _, j := range p.changed() {
		if use := s.Factors[j].Levels[p[j]].Use; use != (assay.Use{}) {
			return use
		}
	}
	return assay.Use{}
}

// Settings returns the settings of all factors at a point; none where it is one of those that are
// measured first, with the current settings.
func (s Space) Settings(p Point) map[string]string {
	all := map[string]string{}
	if s.First(p) {
		return all
	}
	for i, f := range s.Factors {
		maps.Copy(all, f.Levels[p[i]].Settings)
	}
	return all
}

// Priced reports whether a point has a level that is measured for its price only.
func (s Space) Priced(p Point) bool {
	for j, level := range p {
		if s.Factors[j].Levels[level].Price != "" {
			return true
		}
	}
	return false
}

// active are the factors of settings of which there is a choice.
func (s Space) active() []int {
	var all []int
	for j, f := range s.Factors {
		if !f.First && f.candidates() > 1 {
			all = append(all, j)
		}
	}
	return all
}

// Configurations is the number of combinations.
func (s Space) Configurations() int {
	n := 1
	for _, j := range s.active() {
		n *= s.Factors[j].candidates()
	}
	return n
}

// Text is a factor's level in words: name=value, sorted by name.
func (l Level) Text() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(l.Settings)) {
		parts = append(parts, name+"="+wording.Setting(name, l.Settings[name]))
	}
	return strings.Join(parts, ", ")
}

// unique drops points that were there before, and those that are the current
// settings: these are measured in every block.
func (s Space) unique(points []Point) []Point {
	return slices.DeleteFunc(distinct(points), func(p Point) bool { return p.isStart() && s.StartIsCurrent })
}

// settings returns how many there are to choose, beside those that the search starts from.
func (s Space) settings() int {
	n := 0
	for _, j := range s.active() {
		n += s.Factors[j].candidates() - 1
	}
	return n
}
