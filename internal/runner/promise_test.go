//go:build unix

package runner

import (
	"strings"
	"testing"

	"assay"
)

// What promises unequally about the data gets no verdict, and no launches to reach one.
func TestUnequalPromisesGetNoLaunches(t *testing.T) {
	weak, strong := assay.Consistent, assay.Power
	for _, c := range []struct {
		name    string
		classes map[string]assay.Durability
		tests   int // with the baseline a, or of b and c where none is
		alone   int // figures that are compared with nothing
		apart   string
	}{
		{"all alike", map[string]assay.Durability{"a": strong, "b": strong, "c": strong}, 2, 0, ""},
		{"one unlike", map[string]assay.Durability{"a": strong, "b": weak, "c": strong}, 1, 0, "b"},
		{"the baseline alone", map[string]assay.Durability{"a": strong, "b": weak, "c": weak}, 1, 0, "a"},
		{"each alone", map[string]assay.Durability{"a": strong, "b": weak, "c": assay.None}, 0, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs := []*job{at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p"), at(assay.Blocks, "put c p")}
			g := groupCases(jobs, assay.ParseBaseline("a"))[0]
			for launch := range 3 {
				for i, j := range jobs {
					trial := trialOf(j, launch+1, false, float64(1000*(1+i)+launch))
					trial.Durability = c.classes[j.Cell.Driver]
					g.record.note(&trial)
				}
				g.launches.add(trialOf(jobs[0], 1, false, 1).Took, false)
			}
			found := g.comparisons(jobs[0].Cell.Peer(), assay.ParseBaseline("a"))
			if len(found.table.Tests) != c.tests || len(found.uncompared) != c.alone {
				t.Errorf("got %d comparisons and %d figures alone, want %d and %d", len(found.table.Tests), len(found.uncompared), c.tests, c.alone)
			}
			var apart []string
			for _, i := range found.apart {
				apart = append(apart, jobs[i].Cell.Driver)
			}
			if got := strings.Join(apart, " "); got != c.apart {
				t.Errorf("got %q apart, want %q", got, c.apart)
			}
		})
	}
}

// Comparisons borrow within a profile where data change, whatever single cells promise, and
// among all where none does: as a report does.
func TestKindsOfPairs(t *testing.T) {
	for _, c := range []struct {
		name    string
		classes [2]assay.Durability // of the profiles
		want    []string
	}{
		{"nothing changes", [2]assay.Durability{}, []string{"", "", ""}},
		{"data change", [2]assay.Durability{assay.Power, assay.Power}, []string{"p", "across", "q"}},
		{"a class is unknown", [2]assay.Durability{assay.DurabilityUnknown, assay.Power}, []string{"p", "across", "q"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			jobs := []*job{at(assay.Blocks, "put a p"), at(assay.Blocks, "put b p"), at(assay.Blocks, "put a q"), at(assay.Blocks, "put b q")}
			g := groupCases(jobs, assay.ParseBaseline("a"))[0]
			for launch := range 2 {
				for i, j := range jobs {
					trial := trialOf(j, launch+1, false, float64(1000+i))
					trial.Durability = c.classes[i/2]
					g.record.note(&trial)
				}
			}
			pairs := g.comparisons(jobs[0].Cell.Peer(), assay.ParseBaseline("a")).table.Pairs
			var got []string
			for _, at := range [][2]int{{1, 0}, {2, 0}, {3, 2}} {
				got = append(got, strings.TrimPrefix(pairs[at[0]][at[1]].Kind, "\x00"))
			}
			same(t, "kinds of b to a, a to a of the other profile, b to a there", got, c.want)
		})
	}
}
