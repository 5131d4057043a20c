package report_test

import (
	"fmt"
	"iter"
	"os"

	"assay"
	"assay/internal/analysis"
	"assay/internal/report"
)

// measured stands for a store: six launches of two drivers.
func measured() iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		for launch := 1; launch <= 6; launch++ {
			for driver, ns := range map[string]float64{"mattn": 1000, "modernc": 1380} {
				trial := assay.Trial{
					Cell: assay.Cell{Operation: "point-read", Driver: driver, Profile: "web", Clients: 1, Pool: 1, Idle: 1,
						Params: map[string]string{"rows": "100000"}},
					Launch: launch, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: ns + float64(launch)},
				}
				if !yield(trial, nil) {
					return
				}
			}
		}
	}
}

// From trials to a verdict.
func Example() {
	run := assay.Run{ID: "r1", Plan: "quick", Baseline: assay.ParseBaseline("modernc@v1.61.1"), Status: assay.Finished}
	r, err := analysis.New(run, measured())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, table := range r.Tables {
		for _, ranking := range table.Rankings {
			fmt.Println(report.Sentence(ranking))
		}
	}
	fmt.Println("failed:", r.Failed())
	if err := report.New(r).Write(os.Stdout, "xml"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// point-read, rows=100000, 1 client, warm cache: use mattn with profile web: 1.38x [1.38, 1.38] faster than modernc (web)
	// failed: false
	// unknown format "xml": use one of text, markdown, csv, json, benchfmt, html, svg
}
