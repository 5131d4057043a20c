package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// Marks say for each machine what its figures suffer from: the checks that it failed.
// Its figures count all the same.
func Marks(machines []*analysis.Result) [][]string {
	if len(machines) == 0 { // all gave up
		return nil
	}
	all := make([][]string, len(machines))
	usual := governor(machines)
	for i, r := range machines {
		if own := r.Run.Host["governor"]; own != usual {
			all[i] = append(all[i], fmt.Sprintf("CPU governor %s, most machines: %s", cmp.Or(own, "unknown"), cmp.Or(usual, "unknown")))
		}
		if text := noisy(r); text != "" {
			all[i] = append(all[i], text)
		}
	}
	return all
}

// governor is the CPU governor of most machines; of as many, performance
// or the first by name.
func governor(machines []*analysis.Result) string {
	counts := map[string]int{}
	for _, r := range machines {
		counts[r.Run.Host["governor"]]++
	}
	rank := func(name string) int { return map[string]int{"performance": -1}[name] }
	return slices.MinFunc(slices.Sorted(maps.Keys(counts)), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], rank(a)-rank(b))
	})
}

// noisy says by how much the A/A test differs, where that is more than chance explains
// and than the margin.
func noisy(r *analysis.Result) string {
	worst, n := 0.0, 0
	for _, t := range r.Tables {
		if t.Systematic > t.Margin {
			n, worst = n+1, max(worst, t.Systematic)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s in %d of %s", wording.Noise(worst), n, wording.Plural(len(r.Tables), "table"))
}
