package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"assay"
)

//go:generate go test . -run TestReference -update

var update = flag.Bool("update", false, "write docs/reference.md")

const referencePage = "../../docs/reference.md"

// The page of commands, flags and metrics is made from the code.
func TestReference(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Reference\n\nCommands, flags and metrics, as the code has them. This page is generated: change the code, then run `go generate ./cmd/assay`.\n\n## Commands\n")
	for _, c := range newRoot(newApp(os.Stdout, os.Stderr)).Commands() {
		describeCommand(&page, c, 3)
	}
	page.WriteString("\n## Metrics\n\n| metric | unit | better | meaning |\n| --- | --- | --- | --- |\n")
	for _, m := range assay.Metrics {
		better := "lower"
		if m.HigherBetter {
			better = "higher"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", m.Name, m.Unit, better, m.About)
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
	fmt.Fprintf(page, "\n%s %s\n\n%s.\n\n```text\n%s\n", strings.Repeat("#", level), c.CommandPath(), strings.TrimSuffix(c.Short, "."), c.UseLine())
	if flags := c.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		page.WriteString("\n" + flags.FlagUsages())
	}
	page.WriteString("```\n")
	for _, sub := range c.Commands() {
		describeCommand(page, sub, level+1)
	}
}
