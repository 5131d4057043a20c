package lint

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteText prints a line for each finding, as compilers do.
func WriteText(out io.Writer, r Result) error {
	for _, f := range r.Findings {
		if _, err := fmt.Fprintf(out, "%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, f.Severity, f.Message, f.Rule); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON prints the whole result.
func WriteJSON(out io.Writer, r Result) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// The parts of SARIF 2.1.0 that findings need
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
type (
	sarifLog struct {
		Version string     `json:"version"`
		Schema  string     `json:"$schema"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule      string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn"`
	}
)

// WriteSARIF prints the findings for code scanning services.
func WriteSARIF(out io.Writer, r Result, version string) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "assay", Version: version}}, Results: []sarifResult{}}
	for _, rule := range Rules() {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule.ID, sarifText{rule.About}, sarifText{"see " + docs + "#" + rule.ID}})
	}
	for _, f := range r.Findings {
		level := "error"
		if f.Severity == Risk {
			level = "warning"
		}
		run.Results = append(run.Results, sarifResult{f.Rule, level, sarifText{f.Message},
			[]sarifLocation{{sarifPhysical{sarifArtifact{f.File}, sarifRegion{f.Line, f.Column}}}}})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarifLog{"2.1.0", "https://json.schemastore.org/sarif-2.1.0.json", []sarifRun{run}})
}
