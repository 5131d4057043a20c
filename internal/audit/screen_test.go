package audit_test

import (
	"strings"
	"testing"

	"assay"
	"assay/internal/audit"
	"assay/published"

	"github.com/google/go-cmp/cmp"
)

// On a terminal each claim stands below its verdict, in lines of the terminal's width, and no
// verdict is there without claims.
func TestScreen(t *testing.T) {
	of := func(says string, size float64, b float64) audit.Finding {
		c := claim(published.Faster, size)
		c.Says = says
		return judge(t, published.Source{Name: "s"}, c, reports(t, map[string]assay.Trial{"a": trial(1000, "g"), "b": trial(b, "g")}))
	}
	open := judge(t, published.Source{Name: "s"}, claim(published.Faster, 0), reports(t))
	told := []audit.Finding{of("a is faster than b by as much as anybody who reads this line can see", 0, 2000), of("a is fastest", 0, 3000), of("a is three times as fast", 3, 1500)}
	for name, test := range map[string]struct {
		findings []audit.Finding
		want     string
	}{
		"all told": {told, `Of 3 claims, holds here: 2; does not hold here: 1.

holds here
----------

- a is faster than b by as much as anybody who reads this
  line can see (s)
- a is fastest (s)

does not hold here
------------------

- a is three times as fast (s), less than claimed

Figures, reasons, doubts and runs:

    EVIDENCE
`},
		"one open": {[]audit.Finding{open}, `Of 1 claims, cannot be told: 1. No run has their cells yet:
run their plans, or below each claim is the command that
measures its cells alone.

cannot be told
--------------

- a | is so (s)

Measure what is open:

    MEASURE

Figures, reasons, doubts and runs:

    EVIDENCE
`},
	} {
		var out strings.Builder
		must(t, audit.WriteScreen(&out, test.findings, 40, "MEASURE", "EVIDENCE"))
		if diff := cmp.Diff(test.want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
