// Command calibrate simulates runs whose truth is known, and prints how often
// package stat's intervals hold it, in how many tables equals are called different
// or ordered, and how large a difference is found with how many launches. It is
// for whoever changes the rule or doubts it: results/calibration.md is its output. It fails
// where a bar is missed outside of the conditions of which that is known.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"assay/internal/stat"
)

func main() {
	seed := flag.Uint64("seed", 2026, "of the simulation")
	draws := flag.Int("draws", 2000, "tables for each figure")
	flag.Parse()
	if flag.NArg() > 0 || *draws < 8 {
		fmt.Fprintln(os.Stderr, "usage: calibrate [-seed N] [-draws N], N at least 8")
		os.Exit(2)
	}
	fmt.Printf("# Calibration\n\nThe output of `go -C tools run ./calibrate -seed %d -draws %d`; [statistics](../docs/statistics.md) explains it.\n", *seed, *draws)
	p := newPrinter(os.Stdout, *seed, *draws)
	p.equals(chosen, scenarios)
	p.worst(chosen)
	p.adaptive(scenarios)
	p.smallBudgets(scenarios[:16])
	p.different(scenarios[:16])
	p.power(scenarios[:7])
	p.estimates(scenarios[1:7])
	p.losses(stat.Loss, scenarios[:16])
	p.odds(stat.Chance, busy)
	p.looks(chosenLooks, scenarios[:16])
	p.across(scenario{name: "2-12 %, drivers differ 3x", tables: 4, members: 3, spread: between(0.02, 0.12), factor: between(1, 3)})
	p.detectors()
	p.windowDetectors()
	report("Bars that are missed in conditions of which that is known:", p.limits)
	report("Bars that are missed:", p.missed)
	if len(p.missed) > 0 {
		os.Exit(1)
	}
}

func report(title string, lines []string) {
	if len(lines) == 0 {
		lines = []string{"none"}
	}
	fmt.Printf("\n%s\n\n- %s\n", title, strings.Join(lines, "\n- "))
}
