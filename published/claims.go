package published

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Source is a published benchmark with what it claims.
type Source struct {
	Name    string `yaml:"-"`
	About   string `yaml:"about"`
	Machine string `yaml:"machine"` // on which it was published
	// Conditions holds the conditions under which it measured.
	Conditions Conditions `yaml:"conditions"`
	// Versions holds the versions of its drivers: as the source states them, or else the newest
	// ones of its time. A driver that is not in it has an unknown version.
	Versions map[string]string `yaml:"versions"`
	// FiguresFile and MappingFile are the files of the figures and of their cells, of a source of
	// one's own. Built-in ones are SOURCE.csv and SOURCE.yaml.
	FiguresFile string  `yaml:"figures"`
	MappingFile string  `yaml:"mapping"`
	Claims      []Claim `yaml:"claims"`

	figures []Figure
}

// Conditions holds the conditions of a source, as far as it states them.
type Conditions struct {
	OS    string `yaml:"os"`    // linux, darwin; empty, as of the others: not stated
	Arch  string `yaml:"arch"`  // amd64, arm64
	Cores string `yaml:"cores"` // processors, as the system counts them
	// Cell has the source's values of coordinates, where the cells that are compared may have
	// others; what is no value, such as "not stated", is what none has.
	Cell map[string]string `yaml:"cell"`
	// Differs says what is known to differ that no coordinate tells.
	Differs []string `yaml:"differs"`
}

// Claim is a sentence of a published benchmark, as comparisons of cells.
type Claim struct {
	Name string `yaml:"name"` // letters and dashes, unique in its source
	Says string `yaml:"says"` // a short paraphrase
	// Basis reports whether a sentence of the source says it, or only its figures.
	Basis Basis `yaml:"basis"`
	// Provenance tells how its conditions are known: quoted (the source has
	// the very settings), reconstructed (from its text) or inferred.
	Provenance Provenance        `yaml:"provenance"`
	Plan       string            `yaml:"plan"`   // empty: the source's own figures alone are compared
	Metric     string            `yaml:"metric"` // name of an assay.Metric; ns/op where it is empty
	Where      map[string]string `yaml:"where"`  // coordinates that both cells of every comparison have
	// Conditions and Differs are those of the source for this claim, beside its own.
	Conditions map[string]string `yaml:"conditions"`
	Differs    []string          `yaml:"differs"`
	// Immaterial are differences that a measurement shows to be of no matter, and which one.
	Immaterial map[string]string `yaml:"immaterial"`
	Compare    []Comparison      `yaml:"compare"`
	// Untested says why there is nothing to compare.
	Untested string `yaml:"untested"`

	// Versions holds the versions of the source.
	Versions map[string]string `yaml:"-"`
}

// Basis tells what of a source a claim stands on.
type Basis string

// The bases.
const (
	Sentence Basis = "sentence"
	Reading  Basis = "figures" // our reading of its tables
)

// Provenance tells how a condition is known.
type Provenance string

// The provenances.
const (
	Quoted        Provenance = "quoted"
	Reconstructed Provenance = "reconstructed"
	Inferred      Provenance = "inferred"
)

// Comparison is a relation of two cells that can be tested: A is Expect than B.
type Comparison struct {
	A      map[string]string `yaml:"a"` // coordinates
	B      map[string]string `yaml:"b"`
	Expect Expectation       `yaml:"expect"`
	// Size is a factor above 1: by which A is faster or slower, where the
	// source states it, 0 where it does not; for alike, within which two
	// figures are; for not faster and not slower, up to which A is not.
	Size float64 `yaml:"size"`
	// AtLeast is the factor by which A is at least faster or slower, where words
	// like collapse say more than that.
	AtLeast float64 `yaml:"least"`
	// Published selects one figure each by columns of the source's table.
	// Other says what is different about their condition, where the table
	// lacks the one that the claim is about.
	Published struct {
		A     map[string]string `yaml:"a"`
		B     map[string]string `yaml:"b"`
		Other string            `yaml:"other"`
	} `yaml:"published"`
}

// Expectation is the direction of a comparison.
type Expectation string

// The expectations. Faster and slower mean better and worse by the metric.
const (
	Faster    Expectation = "faster"
	Slower    Expectation = "slower"
	Alike     Expectation = "alike"
	NotFaster Expectation = "not faster"
	NotSlower Expectation = "not slower" // what is best may tie
)

// Differs reports whether a tie is not what is expected.
func (e Expectation) Differs() bool { return e == Faster || e == Slower }

var expectations = []Expectation{Faster, Slower, Alike, NotFaster, NotSlower}

const claimsSuffix = "-claims.yaml"

// Claims returns every built-in source that has claims, by name.
func Claims() ([]Source, error) {
	names, err := fs.Glob(files, "*"+claimsSuffix)
	if err != nil {
		return nil, err
	}
	var sources []Source
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		source, err := decodeClaims(name, text)
		if err != nil {
			return nil, err
		}
		source.Name = strings.TrimSuffix(name, claimsSuffix)
		if source.figures, err = Figures(source.Name); err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	return sources, nil
}

func decodeClaims(file string, text []byte) (Source, error) {
	var s Source
	if err := decodeYAML(file, text, &s); err != nil {
		return s, err
	}
	seen := map[string]bool{}
	for i := range s.Claims {
		c := &s.Claims[i]
		c.Metric = cmp.Or(c.Metric, "ns/op")
		c.Versions = s.Versions
		if seen[c.Name] {
			return s, mistake(file, text, fmt.Sprintf("$.claims[%d].name", i), fmt.Errorf("two claims are named %q", c.Name))
		}
		seen[c.Name] = true
		if err := c.check(); err != nil {
			return s, mistake(file, text, fmt.Sprintf("$.claims[%d]", i), fmt.Errorf("claim %q: %w", c.Name, err))
		}
	}
	return s, nil
}

func (c Claim) check() error {
	if c.Name == "" || c.Says == "" {
		return fmt.Errorf("want name and says")
	}
	if c.Basis != Sentence && c.Basis != Reading {
		return fmt.Errorf("basis %q: want sentence or figures", c.Basis)
	}
	if !slices.Contains([]Provenance{Quoted, Reconstructed, Inferred}, c.Provenance) {
		return fmt.Errorf("provenance %q: want quoted, reconstructed or inferred", c.Provenance)
	}
	if (len(c.Compare) == 0) != (c.Untested != "") {
		return fmt.Errorf("want compare, or untested with the reason")
	}
	if c.Plan == "" && slices.ContainsFunc(c.Compare, func(p Comparison) bool { return len(p.Published.A) == 0 || len(p.Published.B) == 0 }) {
		return fmt.Errorf("want the plan that measures it, or two published figures in each comparison")
	}
	for _, p := range c.Compare {
		if !slices.Contains(expectations, p.Expect) {
			return fmt.Errorf("expect %q: want faster, slower, alike, not faster or not slower", p.Expect)
		}
		if p.AtLeast != 0 && (p.AtLeast <= 1 || p.Size != 0 || p.Expect != Faster && p.Expect != Slower) {
			return fmt.Errorf("least %g: want a factor above 1 by which A is faster or slower, and no size", p.AtLeast)
		}
		if p.Size != 0 && p.Size <= 1 || p.Size == 0 && p.Expect == Alike {
			return fmt.Errorf("size %g: want a factor above 1, and with alike the one within which A and B are", p.Size)
		}
	}
	return metric(c.Metric)
}

// vague is by how much the gain that a source states may be more or less: they
// print "about 3x", and their machines are others.
const vague = 2

// Bounds are the gains of A over B that a comparison expects: above 1 where A is
// better. About three times as fast is from 2 to 5: a gain of 2, or half of that,
// or twice.
func (c Comparison) Bounds() (low, high float64) {
	switch {
	case c.Expect == Alike:
		return 1 / c.Size, c.Size
	case c.Expect == NotFaster:
		return 0, max(1, c.Size)
	case c.Expect == NotSlower:
		return 1 / max(1, c.Size), math.Inf(1)
	case c.AtLeast > 0:
		low, high = c.AtLeast, math.Inf(1)
	case c.Size > 0:
		low, high = 1+(c.Size-1)/vague, 1+(c.Size-1)*vague
	default:
		low, high = 1, math.Inf(1)
	}
	if c.Expect == Slower {
		return 1 / high, 1 / low
	}
	return low, high
}

// Selection has, by coordinate, the values that select the cells of claims about one
// plan and few others: of the coordinates that every cell of them has.
func Selection(claims ...Claim) map[string][]string {
	var cells []map[string]string
	for _, c := range claims {
		for _, p := range c.Compare {
			cells = append(cells, c.Cell(p.A), c.Cell(p.B))
		}
	}
	values := map[string][]string{}
	for _, cell := range cells {
		for name, value := range cell {
			if !slices.Contains(values[name], value) {
				values[name] = append(values[name], value)
			}
		}
	}
	maps.DeleteFunc(values, func(name string, _ []string) bool {
		return slices.ContainsFunc(cells, func(cell map[string]string) bool { return cell[name] == "" })
	})
	return values
}

// Side selects the cells of one side of the claim's comparisons.
func (c Claim) Side(side map[string]string) map[string][]string {
	return Selection(Claim{Where: c.Where, Compare: []Comparison{{A: side, B: side}}})
}

// Command returns what measures the cells of a claim.
func (c Claim) Command() string { return c.CommandTo(c.Precision()) }

// CommandTo measures them until intervals are so narrow; 0: as usual.
func (c Claim) CommandTo(precision float64) string {
	text := "assay run " + c.Cells()
	if drivers := c.Drivers(); len(drivers) > 0 {
		text += " --drivers " + strings.Join(drivers, ",")
	}
	if precision > 0 {
		text += " --precision " + strconv.FormatFloat(precision, 'g', 2, 64)
	}
	return text
}

// Cells are the plan and the flags that select the claim's cells.
func (c Claim) Cells() string {
	words := []string{c.Plan}
	selection := Selection(c)
	for _, name := range slices.Sorted(maps.Keys(selection)) {
		words = append(words, "--only", name+"="+strings.Join(slices.Sorted(slices.Values(selection[name])), ","))
	}
	return strings.Join(words, " ")
}

// Drivers returns the drivers of the claim's cells, each at the version that the source had where
// that can be built; none where all are as the plan has them.
func (c Claim) Drivers() []string {
	var names []string
	versioned := false
	for _, name := range slices.Sorted(slices.Values(Selection(c)["driver"])) {
		if version := c.Versions[name]; strings.HasPrefix(version, "v") {
			name, versioned = name+"@"+version, true
		}
		names = append(names, name)
	}
	if !versioned {
		return nil
	}
	return names
}

// Cell has all coordinates of one side of a comparison.
func (c Claim) Cell(side map[string]string) map[string]string {
	all := maps.Clone(side)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, c.Where)
	return all
}

// usualPrecision is the half-width that runs aim at.
const usualPrecision = 0.02

// Precision is the half-width that would tell the smallest stated gain from half
// of it, were it that of the claim's ratio; a run knows others. 0: the usual one.
func (c Claim) Precision() float64 {
	least := usualPrecision
	for _, p := range c.Compare {
		if p.Size > 0 {
			least = min(least, (p.Size-1)/(2*vague))
		}
	}
	if least == usualPrecision {
		return 0
	}
	return least
}

// Ratio is the quotient of the two published figures that a comparison names;
// the last result is false where it names none. It is an error that one is not
// in the source's table, or that several are.
func (s Source) Ratio(p Comparison) (a, b Figure, known bool, err error) {
	if len(p.Published.A) == 0 {
		return a, b, false, nil
	}
	if a, err = one(s.figures, p.Published.A); err != nil {
		return a, b, false, err
	}
	b, err = one(s.figures, p.Published.B)
	return a, b, err == nil, err
}

// one finds the figure with these values in its columns.
func one(figures []Figure, columns map[string]string) (Figure, error) {
	found := slices.DeleteFunc(slices.Clone(figures), func(f Figure) bool {
		for name, want := range columns {
			if value, ok := f.column(name); !ok || value != want {
				return true
			}
		}
		return false
	})
	if _, named := columns["metric"]; !named {
		found = timesOf(found)
	}
	if len(found) != 1 {
		return Figure{}, notOne(figures, found, columns)
	}
	return found[0], nil
}

// timesOf are the figures of times, where each other one is of something else beside them.
func timesOf(figures []Figure) []Figure {
	times := slices.DeleteFunc(slices.Clone(figures), func(f Figure) bool { return !slices.Contains([]string{"ns/op", "sec/op"}, f.Metric) })
	if len(times) > 0 {
		return times
	}
	return figures
}

// notOne says what the figures of a comparison lack: a value that there is, or the column by
// which they differ.
func notOne(figures, found []Figure, selected map[string]string) error {
	candidates := found
	if len(found) == 0 {
		candidates = figures
	}
	var words, differing []string
	for _, name := range slices.Sorted(maps.Keys(selected)) {
		words = append(words, name+" "+selected[name])
	}
	for _, name := range slices.Concat(columns, optional) {
		var values []string
		for _, f := range candidates {
			if value, ok := f.column(name); ok && value != "" && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		_, is := selected[name]
		if is == (len(found) == 0) && len(values) > 1 {
			const shown = 8
			differing = append(differing, name+" is "+strings.Join(values[:min(shown, len(values))], " or "))
		}
	}
	text := fmt.Sprintf("%d published figures have %s, not one", len(found), strings.Join(words, ", "))
	if len(differing) > 0 {
		text += ": " + strings.Join(differing, ", ")
	}
	return errors.New(text)
}
