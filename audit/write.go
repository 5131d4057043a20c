package audit

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"assay"
)

// Formats lists the formats that Write knows.
var Formats = []string{"markdown", "csv"}

// Write prints findings, in one of Formats.
func Write(w io.Writer, format string, findings []Finding) error {
	switch format {
	case "markdown":
		_, err := io.WriteString(w, markdown(findings))
		return err
	case "csv":
		return writeCSV(w, findings)
	}
	return fmt.Errorf("unknown format %q: use one of %s", format, strings.Join(Formats, ", "))
}

func markdown(findings []Finding) string {
	var b strings.Builder
	b.WriteString("# Published claims, held against this machine\n\n")
	b.WriteString("| claim | source | verdict |\n| --- | --- | --- |\n")
	for _, f := range findings {
		fmt.Fprintf(&b, "| %s | %s | **%s** |\n", cell(f.Claim.Says), f.Source.Name, f.Verdict)
	}
	last := ""
	for _, f := range findings {
		if f.Source.Name != last {
			last = f.Source.Name
			heading(&b, f)
		}
		f.addTo(&b)
	}
	return b.String()
}

func heading(b *strings.Builder, f Finding) {
	fmt.Fprintf(b, "\n## %s\n\n%s Published on: %s.\n", f.Source.Name, f.Source.About, f.Source.Machine)
}

func (f Finding) addTo(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n**%s**%s. Its condition is %s.", f.Claim.Says, f.Verdict, because(f.Reason), f.Claim.Provenance)
	if r := f.Report; r != nil {
		fmt.Fprintf(b, " Run %s, on %s.", r.Run.ID, cmp.Or(r.Run.Host["cpu"], "an unknown processor"))
	}
	b.WriteString("\n")
	if len(f.Evidence) == 0 {
		return
	}
	metric, _ := assay.MetricByName(f.Claim.Metric)
	fmt.Fprintf(b, "\n| A | B | expected of A | published A / B | here A / B | %s here | verdict |\n", cell(metric.Name))
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, e := range f.Evidence {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", cell(coordinates(e.Comparison.A)), cell(coordinates(e.Comparison.B)),
			e.expected(), cell(e.claimed()), e.here(), e.centers(), e.Verdict+Verdict(because(e.Reason)))
	}
}

// cell keeps text from ending a table's cell.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text) }

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + cell(reason)
}

func (e Evidence) expected() string {
	if e.Comparison.Size == 0 {
		return string(e.Comparison.Expect)
	}
	return fmt.Sprintf("%s, about %.3gx", e.Comparison.Expect, e.Comparison.Size)
}

func (e Evidence) claimed() string {
	if e.Claimed == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g (%s / %s)", e.Claimed, e.Published[0], e.Published[1])
}

func (e Evidence) here() string {
	if e.Here == nil || e.Here.Ratio.N == 0 {
		return "-"
	}
	how := "n = " + fmt.Sprint(e.Here.Ratio.N)
	if !e.Paired {
		how += ", other launches"
	}
	low, high := "?", "?"
	if e.Here.Ratio.Low > 0 { // one launch has no interval
		low, high = fmt.Sprintf("%.3g", e.Here.Ratio.Low), fmt.Sprintf("%.3g", e.Here.Ratio.High)
	}
	return fmt.Sprintf("%.3g [%s, %s], %s", e.Here.Ratio.Center, low, high, how)
}

func (e Evidence) centers() string {
	if e.Here == nil {
		return "-"
	}
	return fmt.Sprintf("%.4g / %.4g", e.Centers[0], e.Centers[1])
}

var header = []string{"source", "claim", "says", "provenance", "verdict", "reason", "plan", "run", "a", "b", "expected", "metric",
	"published_a", "published_b", "published_ratio", "here_a", "here_b", "here_ratio", "here_low", "here_high", "n", "paired", "comparison"}

// writeCSV prints a row for each comparison, and one for a claim without any.
func writeCSV(w io.Writer, findings []Finding) error {
	out := csv.NewWriter(w)
	_ = out.Write(header) // Flush keeps the error
	for _, f := range findings {
		evidence := f.Evidence
		if len(evidence) == 0 {
			evidence = []Evidence{{}}
		}
		for _, e := range evidence {
			_ = out.Write(f.record(e))
		}
	}
	out.Flush()
	return out.Error()
}

// run is the run's identifier, empty where there is none.
func (f Finding) run() string {
	if f.Report == nil {
		return ""
	}
	return f.Report.Run.ID
}

func (f Finding) record(e Evidence) []string {
	record := []string{f.Source.Name, f.Claim.Name, f.Claim.Says, string(f.Claim.Provenance), string(f.Verdict), f.Reason,
		f.Claim.Plan, f.run(), coordinates(f.Claim.Where, e.Comparison.A), coordinates(f.Claim.Where, e.Comparison.B),
		e.expected(), f.Claim.Metric, e.Published[0], e.Published[1], number(e.Claimed)}
	if e.Here == nil {
		return append(record, "", "", "", "", "", "", "", string(e.Verdict))
	}
	r := e.Here.Ratio
	return append(record, number(e.Centers[0]), number(e.Centers[1]), number(r.Center), number(r.Low), number(r.High),
		fmt.Sprint(r.N), fmt.Sprint(e.Paired), string(e.Verdict))
}

func number(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.6g", v)
}
