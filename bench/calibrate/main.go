// Command calibrate simulates comparisons whose truth is known, and prints how
// often package stat's intervals hold it, how often equals are called different
// and different ones equivalent, and how large a difference is found with how
// many launches. It is for whoever changes the rule or doubts it: the tables of
// docs/statistics.md are its output. It fails where a bar is missed outside of
// the conditions of which that is known.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
)

func main() {
	seed := flag.Uint64("seed", 2026, "of the simulation")
	draws := flag.Int("draws", 4000, "comparisons for each figure")
	flag.Parse()
	if flag.NArg() > 0 || *draws < 1 {
		fmt.Fprintln(os.Stderr, "usage: calibrate [-seed N] [-draws N], N above zero")
		os.Exit(2)
	}
	p := &printer{seed: *seed, draws: *draws, out: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	p.rules()
	p.scenarios()
	p.detectors()
	p.windowDetectors()
	p.power()
	p.out.Flush()
	list("Bars that are missed in conditions of which that is known:", p.limits)
	list("Bars that are missed:", p.missed)
	if len(p.missed) > 0 {
		os.Exit(1)
	}
}

func list(title string, lines []string) {
	if len(lines) == 0 {
		lines = []string{"none"}
	}
	fmt.Printf("\n%s\n  %s\n", title, strings.Join(lines, "\n  "))
}
