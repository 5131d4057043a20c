package lab

import (
	"slices"
	"testing"

	"assay"
)

// TestSearchedArrivals: capacity is searched with the arrivals of the plan, and where it has
// closed loads only, with those of independent users.
func TestSearchedArrivals(t *testing.T) {
	served := func(rate float64, params map[string]string) assay.Case {
		return assay.Case{Cell: assay.Cell{Clients: 4, Rate: rate, Params: params}, Operation: assay.Operation{Serve: true}}
	}
	even, poisson := map[string]string{"arrivals": "even"}, map[string]string{"arrivals": "poisson"}
	for name, c := range map[string]struct {
		cases []assay.Case
		want  []string
	}{
		"closed":      {[]assay.Case{served(0, nil)}, []string{"poisson"}},
		"open":        {[]assay.Case{served(0, nil), served(10, even), served(20, even)}, []string{"even"}},
		"open, both":  {[]assay.Case{served(10, even), served(10, poisson)}, []string{"even", "poisson"}},
		"with params": {[]assay.Case{served(0, map[string]string{"rows": "1"})}, []string{"poisson"}},
	} {
		found, err := searchable(c.cases)
		var got []string
		for _, f := range found {
			got = append(got, f.Cell.Params[assay.ArrivalsParam])
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
		if _, changed := c.cases[0].Cell.Params[assay.ArrivalsParam]; changed != (c.cases[0].Cell.Rate > 0) {
			t.Errorf("%s: the plan's case became %v", name, c.cases[0].Cell)
		}
	}
}
