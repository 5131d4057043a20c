package published

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Source is a published benchmark with what it claims.
type Source struct {
	Name    string `yaml:"-"`
	About   string `yaml:"about"`
	Machine string `yaml:"machine"` // on which it was published
	// Versions are those that the source states, by driver; a driver that is
	// not in it has an unknown version.
	Versions map[string]string `yaml:"versions"`
	Claims   []Claim           `yaml:"claims"`
}

// Claim is a sentence of a published benchmark, as comparisons of cells.
type Claim struct {
	Name string `yaml:"name"` // letters and dashes, unique in its source
	Says string `yaml:"says"` // a short paraphrase
	// Provenance tells how its conditions are known: quoted (the source has
	// the very settings), reconstructed (from its text) or inferred.
	Provenance Provenance        `yaml:"provenance"`
	Plan       string            `yaml:"plan"`
	Metric     string            `yaml:"metric"` // name of an assay.Metric; ns/op where it is empty
	Where      map[string]string `yaml:"where"`  // coordinates that both cells of every comparison have
	Compare    []Comparison      `yaml:"compare"`
	// Untested says why there is nothing to compare.
	Untested string `yaml:"untested"`
}

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
	// Size is the factor by which A is faster or slower where the source
	// states one; 0 where it does not.
	Size float64 `yaml:"size"`
	// Published selects one figure each by columns of the source's table.
	Published struct {
		A map[string]string `yaml:"a"`
		B map[string]string `yaml:"b"`
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
)

const claimsSuffix = "-claims.yaml"

// Claims returns every source that has claims, by name.
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
		source, err := decodeClaims(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		source.Name = strings.TrimSuffix(name, claimsSuffix)
		sources = append(sources, source)
	}
	return sources, nil
}

func decodeClaims(text []byte) (Source, error) {
	var s Source
	if err := yaml.UnmarshalWithOptions(text, &s, yaml.Strict()); err != nil {
		return s, err
	}
	seen := map[string]bool{}
	for i := range s.Claims {
		c := &s.Claims[i]
		if c.Metric == "" {
			c.Metric = "ns/op"
		}
		if seen[c.Name] {
			return s, fmt.Errorf("two claims are named %q", c.Name)
		}
		seen[c.Name] = true
		if err := c.check(); err != nil {
			return s, fmt.Errorf("claim %q: %w", c.Name, err)
		}
	}
	return s, nil
}

func (c Claim) check() error {
	if c.Name == "" || c.Says == "" {
		return fmt.Errorf("want name and says")
	}
	if !slices.Contains([]Provenance{Quoted, Reconstructed, Inferred}, c.Provenance) {
		return fmt.Errorf("provenance %q: want quoted, reconstructed or inferred", c.Provenance)
	}
	if (len(c.Compare) == 0) != (c.Untested != "") {
		return fmt.Errorf("want compare, or untested with the reason")
	}
	if len(c.Compare) > 0 && c.Plan == "" {
		return fmt.Errorf("want the plan that measures it")
	}
	for _, p := range c.Compare {
		if !slices.Contains([]Expectation{Faster, Slower, Alike, NotFaster}, p.Expect) {
			return fmt.Errorf("expect %q: want faster, slower, alike or not faster", p.Expect)
		}
		if p.Size != 0 && (p.Size <= 1 || p.Expect != Faster && p.Expect != Slower) {
			return fmt.Errorf("size %g: want a factor above 1 by which A is faster or slower", p.Size)
		}
	}
	return metric(c.Metric)
}

// Ratio is the quotient of the two published figures that a comparison names;
// the last result is false where it names none. It is an error that one is not
// in the source's table, or that several are.
func (s Source) Ratio(p Comparison) (a, b Figure, known bool, err error) {
	if len(p.Published.A) == 0 {
		return a, b, false, nil
	}
	figures, err := Figures(s.Name)
	if err != nil {
		return a, b, false, err
	}
	if a, err = one(figures, p.Published.A); err != nil {
		return a, b, false, err
	}
	b, err = one(figures, p.Published.B)
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
	if len(found) != 1 {
		return Figure{}, fmt.Errorf("%d published figures have %v, not one", len(found), columns)
	}
	return found[0], nil
}
