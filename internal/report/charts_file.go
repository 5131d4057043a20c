package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/chart"
	"assay/internal/file"
)

// longestName is how long a chart's file name may be, without its extension.
const longestName = 100

// WriteCharts writes every chart to a file of its own in a folder, which is
// made where it is missing, and returns their paths.
func (r *Report) WriteCharts(dir string, format Format) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write charts: %w", err)
	}
	var paths []string
	for _, named := range r.Charts() {
		data, err := format.Chart(named.Chart)
		if err != nil {
			return paths, err
		}
		path := filepath.Join(dir, named.Name+"."+format.Extension)
		if err := file.Write(path, data); err != nil {
			return paths, fmt.Errorf("write charts: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// pngFile is a chart as a bitmap.
func pngFile(c *chart.Chart) ([]byte, error) {
	var out bytes.Buffer
	err := c.PNG(&out)
	return out.Bytes(), err
}

// fileName makes a name of letters, digits and dashes, which no system reads as
// a path or an option.
func fileName(words, kind string) string {
	var name strings.Builder
	for _, r := range strings.ToLower(words + " " + kind) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			name.WriteRune(r)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
	}
	text := name.String()
	if len(text) > longestName {
		text = text[:longestName]
	}
	return strings.Trim(text, "-")
}

// uniqueNames numbers the charts whose names would be the same.
func uniqueNames(all []NamedChart) []NamedChart {
	seen := map[string]int{}
	for i := range all {
		name := all[i].Name
		seen[name]++
		if n := seen[name]; n > 1 {
			all[i].Name = fmt.Sprintf("%s--%d", name, n)
		}
	}
	return all
}
