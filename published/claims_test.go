package published

import (
	"maps"
	"strings"
	"testing"

	"assay"
	"assay/plan"
)

// TestEveryClaimHasItsCells holds claims against the plans and the tables.
func TestEveryClaimHasItsCells(t *testing.T) {
	sources, err := Claims()
	if err != nil {
		t.Fatal(err)
	}
	expanded := map[string][]assay.Case{}
	for _, source := range sources {
		for _, claim := range source.Claims {
			for _, c := range claim.Compare {
				if expanded[claim.Plan] == nil {
					expanded[claim.Plan] = cases(t, claim.Plan)
				}
				for _, cell := range []map[string]string{c.A, c.B} {
					only := map[string][]string{}
					for name, value := range merged(claim.Where, cell) {
						only[name] = []string{value}
					}
					if selected, err := plan.Select(expanded[claim.Plan], only); err != nil || len(selected) != 1 {
						t.Errorf("%s of %s: %v selects %d cells of %s, %v", claim.Name, source.Name, only, len(selected), claim.Plan, err)
					}
				}
				if _, _, _, err := source.Ratio(c); err != nil {
					t.Errorf("%s of %s: %v", claim.Name, source.Name, err)
				}
			}
		}
	}
}

func merged(a, b map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

func TestMistakesInClaims(t *testing.T) {
	for text, want := range map[string]string{
		"claims: [{name: a}]": "want name and says",
		"claims: [{name: a, says: b, provenance: guessed, untested: c}]":                                                     `provenance "guessed"`,
		"claims: [{name: a, says: b, provenance: quoted}]":                                                                   "want compare, or untested",
		"claims: [{name: a, says: b, provenance: quoted, compare: [{expect: faster}]}]":                                      "want the plan",
		"claims: [{name: a, says: b, provenance: quoted, plan: p, compare: [{expect: better}]}]":                             `expect "better"`,
		"claims: [{name: a, says: b, provenance: quoted, plan: p, compare: [{expect: alike, size: 2}]}]":                     "size 2",
		"claims: [{name: a, says: b, provenance: quoted, untested: c, metric: mm}]":                                          `no metric "mm"`,
		"claims: [{name: a, says: b, provenance: quoted, untested: c}, {name: a, says: b, provenance: quoted, untested: c}]": "two claims",
		"claim: []": "unknown field",
	} {
		if _, err := decodeClaims([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
