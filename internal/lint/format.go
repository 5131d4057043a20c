package lint

import (
	"fmt"
	"io"
	"strings"

	"assay/internal/sys/format"
)

// Formats are those of the result, by this version of assay.
func Formats(version string) format.List[Result] {
	return format.List[Result]{
		{Name: "text", Write: writeText},
		{Name: "json", Write: format.JSON[Result]},
		{Name: "sarif", Write: func(out io.Writer, r Result) error { return format.SARIF(out, version, sarifRules(), sarifFindings(r)) }},
	}
}

// writeText prints a line for each finding, as compilers do.
func writeText(out io.Writer, r Result) error {
	for _, f := range r.Findings {
		if _, err := fmt.Fprintf(out, "%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule); err != nil {
			return err
		}
	}
	for _, u := range r.NotJudged {
		if _, err := fmt.Fprintf(out, "%s:%d:%d: not judged: %s\n", u.File, u.Line, u.Column, strings.TrimPrefix(strings.TrimSpace(u.Driver+" "+u.Version)+": ", ": ")+u.Parameter+": "+u.Reason); err != nil {
			return err
		}
	}
	return nil
}

func sarifRules() []format.Rule {
	var all []format.Rule
	for _, rule := range Rules() {
		all = append(all, format.Rule{ID: rule.ID, About: rule.About, Help: rule.Help})
	}
	return all
}

func sarifFindings(r Result) []format.Finding {
	var all []format.Finding
	for _, f := range r.Findings {
		level := format.Error
		if f.Severity == Risk {
			level = format.Warning
		}
		all = append(all, format.Finding{Rule: f.Rule, Level: level, Message: f.Message, File: f.File, Line: f.Line, Column: f.Column})
	}
	return all
}
