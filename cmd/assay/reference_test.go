package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"assay"
	"assay/internal/doctor"
	"assay/internal/gate"
	"assay/internal/lint"
	"assay/internal/report"
)

//go:generate go test . -run TestReference -update

var update = flag.Bool("update", false, "write docs/reference.md")

const referencePage = "../../docs/reference.md"

// csvHeading is what holds for all columns of the CSV.
const csvHeading = `
## Columns of the CSV

"assay report --format csv" prints one row per cell and metric; a cell without figures has one row with an empty metric. The encoding is UTF-8, quoting follows RFC 4180, and every record is on one line. An unknown value is empty, never NaN; numbers have full precision. New columns are added at the end; no column is renamed. The trials of the A/A test (the baseline's twin) are in the JSON only.

| column | meaning |
| --- | --- |
`

// The page of commands, flags, metrics and columns is made from the code.
func TestReference(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Reference\n\nCommands, findings, metrics and the columns of the CSV, as the code has them. This page is generated: change the code, then run `go generate ./cmd/assay`.\n\n## Commands\n")
	for _, c := range newRoot(newApp(os.Stdout, os.Stderr)).Commands() {
		describeCommand(&page, c, 3)
	}
	page.WriteString("\n## Findings of assay doctor\n\nIn their order: lost data, lost commits, failures under load, speed, space. Each has its evidence and the command that fixes it.\n\n| finding | where |\n| --- | --- |\n")
	for _, p := range doctor.Problems {
		fmt.Fprintf(&page, "| `%s` | %s |\n", p.Name, p.About)
	}
	page.WriteString("\n## Kinds of findings of assay gate\n\n| kind | the head fails where |\n| --- | --- |\n")
	for _, k := range gate.Kinds {
		fmt.Fprintf(&page, "| `%s` | %s |\n", k.Kind, k.Help)
	}
	page.WriteString("\n## Rules of assay lint\n")
	for _, r := range lint.Rules() {
		fmt.Fprintf(&page, "\n### %s\n\n%s: %s. %s\n", r.ID, r.Severity, r.About, r.Help)
	}
	page.WriteString("\n## Metrics\n\n| metric | unit | better | meaning |\n| --- | --- | --- | --- |\n")
	for _, m := range assay.Metrics {
		better := "lower"
		if m.HigherBetter {
			better = "higher"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", m.Name, m.Unit, better, m.About)
	}
	page.WriteString(csvHeading)
	for _, c := range report.CSVColumns {
		fmt.Fprintf(&page, "| `%s` | %s |\n", c.Name, c.About)
	}
	if *update {
		if err := os.WriteFile(referencePage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referencePage)
	if err != nil || string(got) != page.String() {
		t.Errorf("docs/reference.md is not that of the code (%v): run go generate ./cmd/assay", err)
	}
}

// describeCommand writes a command with its flags, and those below it.
func describeCommand(page *strings.Builder, c *cobra.Command, level int) {
	if c.Hidden {
		return
	}
	fmt.Fprintf(page, "\n%s %s\n\n%s.\n\n```text\n", strings.Repeat("#", level), c.CommandPath(), strings.TrimSuffix(c.Short, "."))
	if c.Long != "" {
		page.WriteString(strings.TrimSpace(c.Long) + "\n\n")
	}
	page.WriteString(c.UseLine() + "\n")
	if flags := c.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		page.WriteString("\n" + flags.FlagUsages())
	}
	page.WriteString("```\n")
	for _, sub := range c.Commands() {
		describeCommand(page, sub, level+1)
	}
}
