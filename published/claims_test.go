package published

import (
	"maps"
	"math"
	"strings"
	"testing"

	"assay/internal/plan"
)

// TestEveryClaimHasItsCells holds claims against the plans and the tables.
func TestEveryClaimHasItsCells(t *testing.T) {
	sources, err := Claims()
	must(t, err)
	for _, source := range sources {
		for _, claim := range source.Claims {
			for _, c := range claim.Compare {
				for _, cell := range []map[string]string{c.A, c.B} {
					only := map[string][]string{}
					for name, value := range merged(claim.Where, cell) {
						only[name] = []string{value}
					}
					if selected, err := plan.Select(cases(t, claim.Plan), only); err != nil || len(selected) != 1 {
						t.Errorf("%s of %s: %v selects %d cells of %s, %v", claim.Name, source.Name, only, len(selected), claim.Plan, err)
					}
				}
				a, b, known, err := source.Ratio(c)
				if err != nil {
					t.Errorf("%s of %s: %v", claim.Name, source.Name, err)
				}
				for _, figure := range []Figure{a, b} {
					if known && figure.Cell.Metric != claim.Metric {
						t.Errorf("%s of %s: compares %s, and the published figure %q is of %s", claim.Name, source.Name, claim.Metric, figure.Metric, figure.Cell.Metric)
					}
				}
				if known && c.Published.Other == "" && a.Cell.Plan != claim.Plan {
					t.Errorf("%s of %s: plan %s, and its published figures are measured by %s", claim.Name, source.Name, claim.Plan, a.Cell.Plan)
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

// The command of a claim measures its cells, and not the whole plan.
func TestCommandsOfClaims(t *testing.T) {
	sources, err := Claims()
	must(t, err)
	for _, source := range sources {
		for _, claim := range source.Claims {
			if len(claim.Compare) == 0 {
				continue
			}
			words := strings.Fields(claim.Command())
			only := map[string][]string{}
			for i, word := range words {
				if word == "--only" {
					name, values, _ := strings.Cut(words[i+1], "=")
					only[name] = strings.Split(values, ",")
				}
			}
			all := cases(t, claim.Plan)
			selected, err := plan.Select(all, only)
			if err != nil || 3*len(selected) > len(all) {
				t.Errorf("%s: %d of %d cells, %v", claim.Command(), len(selected), len(all), err)
			}
			for _, c := range claim.Compare {
				for _, side := range []map[string]string{c.A, c.B} {
					one := map[string][]string{}
					for name, value := range merged(claim.Where, side) {
						one[name] = []string{value}
					}
					if found, err := plan.Select(selected, one); err != nil || len(found) != 1 {
						t.Errorf("%s has no cell %v: %v", claim.Command(), one, err)
					}
				}
			}
		}
	}
}

func TestCommand(t *testing.T) {
	c := Claim{Plan: "p", Where: map[string]string{"n": "10"}, Compare: []Comparison{
		{A: map[string]string{"driver": "a", "k": "1", "options": ""}, B: map[string]string{"driver": "b", "options": "x"}, Size: 1.01},
		{A: map[string]string{"driver": "a", "k": "2", "options": ""}, B: map[string]string{"driver": "c", "options": "x"}, Size: 3}}}
	if got, want := c.Command(), "assay run p --only driver=a,b,c --only n=10 --precision 0.0025"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// With the usual precision, none is told.
func TestCommandWithUsualPrecision(t *testing.T) {
	c := Claim{Plan: "p", Compare: []Comparison{{A: map[string]string{"driver": "a"}, B: map[string]string{"driver": "b"}, Size: 3}}}
	if got := c.Command(); got != "assay run p --only driver=a,b" {
		t.Error(got)
	}
}

func TestBounds(t *testing.T) {
	for _, test := range []struct {
		c         Comparison
		low, high float64
	}{
		{Comparison{Expect: Faster}, 1, math.Inf(1)}, {Comparison{Expect: Slower}, 0, 1}, {Comparison{Expect: NotFaster}, 0, 1},
		{Comparison{Expect: Faster, Size: 3}, 2, 5}, {Comparison{Expect: Slower, Size: 3}, 0.2, 0.5},
		{Comparison{Expect: Faster, AtLeast: 2}, 2, math.Inf(1)}, {Comparison{Expect: Slower, AtLeast: 2}, 0, 0.5},
		{Comparison{Expect: NotSlower}, 1, math.Inf(1)}, {Comparison{Expect: NotSlower, Size: 1.25}, 0.8, math.Inf(1)},
		{Comparison{Expect: Alike, Size: 1.25}, 0.8, 1.25}, {Comparison{Expect: NotFaster, Size: 1.15}, 0, 1.15},
	} {
		if low, high := test.c.Bounds(); low != test.low || high != test.high {
			t.Errorf("%+v: %g to %g, want %g to %g", test.c, low, high, test.low, test.high)
		}
	}
}

// What a claim compares is of the source's condition as far as its data says that: its drivers,
// its n, equal numbers of puts, and the default pool of database/sql where it names none.
func TestConditionsOfSources(t *testing.T) {
	sources, err := Claims()
	must(t, err)
	commands, pools := map[string]string{}, 0
	for _, s := range sources {
		if s.Conditions.OS == "" || s.Conditions.Arch == "" || s.Conditions.Cores == "" {
			t.Errorf("%s: conditions %+v, want system, architecture and processors", s.Name, s.Conditions)
		}
		for _, c := range s.Claims {
			commands[c.Name] = c.Command()
			for _, p := range c.Compare {
				a, b := c.Cell(p.A), c.Cell(p.B)
				if c.Plan == "kv" && strings.HasPrefix(a["operation"], "published-") && b["driver"] == "lotusdb" && a["n"] != "10000" {
					t.Errorf("%s: compares n %s with the 10000 puts of LotusDB", c.Name, a["n"])
				}
				if c.Plan == "monster" && a["profile"] == "P9-meant" && a["clients"] != "" {
					if pools++; a["workload"] != "monster-default-pool" || b["workload"] != a["workload"] {
						t.Errorf("%s: in memory with the pools of %s and %s", c.Name, a["workload"], b["workload"])
					}
				}
			}
		}
		if s.Name == "sqlite-on-rails" && s.Conditions.Cell["n"] != "64" {
			t.Errorf("the n of %s is %q, want 64", s.Name, s.Conditions.Cell["n"])
		}
	}
	const want = "--drivers glebarez@v1.22.0,mattn@v1.14.24,modernc@v1.33.1"
	if got := commands["single-select-all"]; !strings.HasSuffix(got, want) || pools == 0 || commands["sorting-twenty-times"] != "" {
		t.Errorf("got the command %q, want it to end with %s; %d pools; and no claim of 20 times, which nobody made", got, want, pools)
	}
}

func TestMistakesInClaims(t *testing.T) {
	for text, want := range map[string]string{
		"claims: [{name: a}]": "want name and says",
		"claims: [{name: a, says: b, provenance: quoted, untested: c}]":                                                                                        `basis ""`,
		"claims: [{name: a, says: b, basis: rumour, provenance: quoted, untested: c}]":                                                                         `basis "rumour"`,
		"claims: [{name: a, says: b, basis: sentence, provenance: guessed, untested: c}]":                                                                      `provenance "guessed"`,
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted}]":                                                                                    "want compare, or untested",
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, compare: [{expect: faster}]}]":                                                       "want the plan",
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, plan: p, compare: [{expect: better}]}]":                                              `expect "better"`,
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, plan: p, compare: [{expect: alike}]}]":                                               "size 0",
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, plan: p, compare: [{expect: slower, size: 0.5}]}]":                                   "size 0.5",
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, plan: p, compare: [{expect: alike, size: 2, least: 2}]}]":                            "least 2",
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, plan: p, compare: [{expect: faster, size: 1}]}]":                                     "size 1:",
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, plan: p, compare: [{expect: faster, least: 1}]}]":                                    "least 1:",
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, plan: p, compare: [{expect: not faster, least: 3}]}]":                                "least 3:",
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, untested: c, metric: mm}]":                                                           `no metric "mm"`,
		"claims: [{name: a, says: b, basis: sentence, provenance: quoted, untested: c}, {name: a, says: b, basis: sentence, provenance: quoted, untested: c}]": "two claims",
		"claim: []": "unknown field",
	} {
		if _, err := decodeClaims("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
