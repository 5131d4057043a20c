package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/report/chart"
	"assay/internal/sys/file"
	"assay/internal/sys/format"
)

// longestName is how long a chart's file name may be, without its extension.
const longestName = 100

// ofCharts is the format that has a file for every chart.
func ofCharts(name string, draw func(*chart.Chart) ([]byte, error)) format.Format[*Report] {
	return format.Format[*Report]{Name: name, Files: func(dir string, r *Report) ([]string, error) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("write charts: %w", err)
		}
		var paths []string
		for _, named := range r.Charts() {
			data, err := draw(named.Chart)
			if err != nil {
				return paths, err
			}
			path := filepath.Join(dir, named.Name+"."+name)
			if err := file.Write(path, data); err != nil {
				return paths, fmt.Errorf("write charts: %w", err)
			}
			paths = append(paths, path)
		}
		return paths, nil
	}}
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
