package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/chart"
)

// Format is one way to print a report. Exactly one of Write and Chart is set.
type Format struct {
	Name      string // of --format
	Extension string // of its files
	Write     func(r *Report, w io.Writer) error
	// Chart makes the file of one chart: the format has a file for each of them,
	// and needs a folder.
	Chart func(c *chart.Chart) ([]byte, error)
}

// Formats are all formats. The command and its help take them from here.
var Formats = []Format{
	{Name: "text", Extension: "txt", Write: func(r *Report, w io.Writer) error { return writeText(w, r.document()) }},
	{Name: "markdown", Extension: "md", Write: func(r *Report, w io.Writer) error { return writeMarkdown(w, r.document()) }},
	{Name: "csv", Extension: "csv", Write: (*Report).writeCSV},
	{Name: "json", Extension: "json", Write: (*Report).writeJSON},
	{Name: "benchfmt", Extension: "txt", Write: (*Report).writeBenchfmt},
	{Name: "html", Extension: "html", Write: (*Report).writeHTML},
	{Name: "svg", Extension: "svg", Chart: (*chart.Chart).File},
	{Name: "png", Extension: "png", Chart: pngFile},
}

// FormatNames are the names of all formats.
func FormatNames() []string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return names
}

// FormatNamed finds a format by its name.
func FormatNamed(name string) (Format, error) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, fmt.Errorf("unknown format %q: use one of %s", name, strings.Join(FormatNames(), ", "))
	}
	return Formats[i], nil
}
