package main

import "testing"

// The command that is told calls the program as the user did, where a shell reads that
// as one word.
func TestHowToCheck(t *testing.T) {
	for program, want := range map[string]string{
		"assay":           `assay check "$(assay build fresh)"`,
		"bin/assay":       `bin/assay check "$(bin/assay build fresh)"`,
		"/opt/my bin/one": `assay check "$(assay build fresh)"`,
		"/opt/$HOME/one":  `assay check "$(assay build fresh)"`,
	} {
		if got := howToCheck(program, "fresh"); got != want {
			t.Errorf("called as %s: got %s, want %s", program, got, want)
		}
	}
}
