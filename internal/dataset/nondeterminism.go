package dataset

import (
	"regexp"
	"slices"
	"strings"

	"assay"
)

// varying is in SQL that answers otherwise each time, or with another driver, though
// each answer is right: the clock, chance, what the connection did before, the
// version of SQLite.
var varying = regexp.MustCompile(`(?i)\bcurrent_(timestamp|time|date)\b|'(now|subsec|subsecond)'|` +
	`\b(date|time|datetime|julianday|unixepoch)\s*\(\s*\)|\bstrftime\s*\(\s*('[^']*'|\?\d*)\s*\)|` +
	`\b(random|randomblob|last_insert_rowid|changes|total_changes|sqlite_version|sqlite_source_id)\s*\(`)

// TextVaries reports whether SQL may rightly do or answer something else when it is run
// again.
func TextVaries(sql string) bool { return varying.MatchString(sql) }

// Varies reports whether an operation without parts may rightly answer otherwise when
// it is run again.
func Varies(op assay.Operation) bool {
	return slices.ContainsFunc(op.Steps, func(step assay.Step) bool {
		return TextVaries(step.SQL) || slices.ContainsFunc(step.Args, func(v assay.Values) bool {
			text, is := v.Value.(string)
			return is && strings.EqualFold(text, "now")
		})
	})
}
