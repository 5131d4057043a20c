package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/internal/report"
)

// document is a page of docs.
func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	must(t, err)
	return string(text)
}

// The guide's tables have what the code has, and nothing else.
func TestGuideHasTheTablesOfTheCode(t *testing.T) {
	guide := document(t, "guide.md")
	_, section, _ := strings.Cut(guide, "\n## Exit status\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var statuses []string
	for _, match := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(section, -1) {
		statuses = append(statuses, match[1])
	}
	if want := strings.Fields(fmt.Sprint(statusOK, statusFailed, statusUsage, statusInterrupted)); !slices.Equal(statuses, want) {
		t.Errorf("docs/guide.md has the exit statuses %v, want %v", statuses, want)
	}

	_, section, _ = strings.Cut(guide, "\n| format | for |\n")
	section, _, _ = strings.Cut(section, "\n\n")
	if got, want := firstColumn(section), report.Formats.Names(); !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("docs/guide.md has the formats %v of a report, want %v", got, want)
	}
}

// The help of audit names every verdict.
func TestAuditNamesItsVerdicts(t *testing.T) {
	source, err := os.ReadFile("../../internal/audit/audit.go")
	must(t, err)
	verdicts := regexp.MustCompile(`(?m)^\t\w+ +Verdict = "([^"]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(verdicts) < 6 {
		t.Errorf("found the verdicts %v only", verdicts)
	}
	help := strings.Join(strings.Fields(newApp(os.Stdout, os.Stderr).auditCommand().Long), " ")
	for _, verdict := range verdicts {
		if !strings.Contains(help, verdict[1]) {
			t.Errorf("the help of assay audit does not name the verdict %q", verdict[1])
		}
	}
}

// firstColumn are the names, as code, that a table's rows begin with.
func firstColumn(table string) (names []string) {
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				names = append(names, match[1])
			}
		}
	}
	return names
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
