package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"assay"
	"assay/internal/analysis"
	"assay/internal/build"
	"assay/internal/doctor"
	"assay/internal/gate"
	"assay/internal/lint"
	"assay/internal/lint/facts"
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

// jsonHeading is what holds for all objects of the JSON.
const jsonHeading = `
## The JSON of a report

"assay report --format json" prints one document with the analysis of a run and every trial. Fields keep their names; later versions may add some. A number that is unknown is null. Times are RFC 3339, those with _ns nanoseconds; ratios are figure / figure of the baseline. A field without a meaning is as named, or as in the CSV.
`

// The page of commands, flags, metrics, columns and fields is made from the code.
func TestReference(t *testing.T) {
	var page strings.Builder
	page.WriteString("# Reference\n\nCommands, drivers, findings, warnings, metrics, the columns of the CSV and the fields of the JSON, as the code has them. This page is generated: change the code, then run `go generate ./cmd/assay`.\n\n## Commands\n")
	for _, c := range newRoot(newApp(os.Stdout, os.Stderr)).Commands() {
		describeCommand(&page, c, 3)
	}
	describeDrivers(t, &page)
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
	describeWarnings(t, &page)
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
	page.WriteString(jsonHeading)
	describeJSON(t, &page)
	if *update {
		must(t, os.WriteFile(referencePage, []byte(page.String()), 0o644))
	}
	got, err := os.ReadFile(referencePage)
	if err != nil || string(got) != page.String() {
		t.Errorf("docs/reference.md is not that of the code (%v): run go generate ./cmd/assay", err)
	}
}

// describeDrivers writes the drivers with what experiments found of the pinned version.
func describeDrivers(t *testing.T, page *strings.Builder) {
	t.Helper()
	drivers, err := build.Source{Dir: "../.."}.Drivers()
	must(t, err)
	catalog, err := build.Source{Dir: "../.."}.Catalog()
	must(t, err)
	table, err := facts.Load(catalog, "")
	must(t, err)
	page.WriteString("\n## Drivers\n\nThe settings are those of a connection that asks for none, where an experiment found them.\n\n| driver | version | SQLite | `journal_mode` | `synchronous` | `busy_timeout` | about |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, d := range drivers {
		f, _ := table.Find(d.Name, d.Pinned)
		fmt.Fprintf(page, "| `%s` |", d.Name)
		timeout := f.Defaults["busy_timeout"]
		if beside := f.BesidePragma["busy_timeout"]; beside != "" {
			timeout += ", with any `_pragma` " + beside
		}
		if f.Module == "" {
			f.Engine = "" // the interpreter's where the experiments were made
		}
		for _, column := range []string{d.Pinned, f.Engine, f.Defaults["journal_mode"], f.Defaults["synchronous"], timeout, about(d)} {
			fmt.Fprintf(page, " %s |", cmp.Or(strings.ReplaceAll(column, "|", `\|`), "-"))
		}
		page.WriteString("\n")
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

// describeWarnings writes the kinds of doubts, of which the comments behind them say what
// was found and what to do.
func describeWarnings(t *testing.T, page *strings.Builder) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "../../internal/analysis/doubt_traits.go", nil, parser.ParseComments)
	must(t, err)
	behind := map[int]string{} // by line
	for _, comment := range file.Comments {
		behind[files.Position(comment.Pos()).Line] = strings.TrimSpace(comment.Text())
	}
	page.WriteString("\n## Warnings\n\nA warning reads \"code: evidence; advice\", beside the figure that it is about.\n\n| warning | what was found | what to do |\n| --- | --- | --- |\n")
	rows := 0
	ast.Inspect(file, func(n ast.Node) bool {
		row, ok := n.(*ast.KeyValueExpr) // of Kinds: the file has no other table
		if !ok {
			return true
		}
		code := analysis.UnequalDurability
		if literal, is := row.Key.(*ast.BasicLit); is {
			code = strings.Trim(literal.Value, `"`)
		}
		found, advice, ok := strings.Cut(behind[files.Position(row.Pos()).Line], "; ")
		if !ok {
			t.Errorf("no comment behind the kind %s says what was found; what to do", code)
		}
		rows++
		fmt.Fprintf(page, "| `%s` | %s | %s |\n", code, found, advice)
		return false
	})
	if rows != len(analysis.Kinds) {
		t.Errorf("the page has %d warnings, want %d", rows, len(analysis.Kinds))
	}
}

// describeJSON writes the objects of the JSON with their fields, whose meanings are the
// comments behind them.
func describeJSON(t *testing.T, page *strings.Builder) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../internal/report/json.go", nil, parser.ParseComments)
	must(t, err)
	objects := 0
	ast.Inspect(file, func(n ast.Node) bool {
		object, ok := n.(*ast.TypeSpec)
		if !ok || !strings.HasPrefix(object.Name.Name, "json") {
			return true
		}
		fields, ok := object.Type.(*ast.StructType)
		if !ok {
			return true
		}
		objects++
		fmt.Fprintf(page, "\n### %s\n\n| field | value | meaning |\n| --- | --- | --- |\n", strings.TrimPrefix(object.Name.Name, "json"))
		for _, f := range fields.Fields.List {
			meaning := strings.TrimSpace(f.Comment.Text())
			if f.Tag == nil {
				fmt.Fprintf(page, "| | %s | its fields, too |\n", jsonValue(f.Type))
				continue
			}
			name, option, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
			value := jsonValue(f.Type)
			if option == "string" {
				value = "text"
			}
			fmt.Fprintf(page, "| `%s` | %s | %s |\n", name, value, meaning)
		}
		return true
	})
	if objects < 15 {
		t.Errorf("the JSON has %d objects, want 15 or more", objects)
	}
}

// jsonValue is what a field of a type has in the JSON.
func jsonValue(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return jsonValue(of.X) + " or null"
	case *ast.ArrayType:
		if of.Len != nil {
			return "pair"
		}
		return "list: " + jsonValue(of.Elt)
	case *ast.MapType:
		return "object: " + jsonValue(of.Value)
	case *ast.Ident:
		if object, is := strings.CutPrefix(of.Name, "json"); is {
			return fmt.Sprintf("[%s](#%s)", object, strings.ToLower(object))
		}
		return cmp.Or(map[string]string{"bool": "bool", "string": "text"}[of.Name], "number")
	case *ast.SelectorExpr:
		return cmp.Or(map[string]string{"Spent": "object: number", "Time": "time"}[of.Sel.Name], "text")
	}
	return ""
}
