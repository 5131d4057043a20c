package dataset

import (
	"slices"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
)

// TextVaries reports whether SQL may rightly do or answer something else when it is run
// again.
func TextVaries(sql string) bool {
	tokens, _ := sqltext.Scan(sql)
	found, _ := sqltext.Varying(tokens)
	return found != ""
}

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
