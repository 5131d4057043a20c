package format

import "io"

// Rule is a kind of finding.
type Rule struct{ ID, About, Help string }

// Level says how much a finding matters, in SARIF's words.
type Level string

// The levels.
const (
	Error   Level = "error"
	Warning Level = "warning"
)

// Finding is one thing that is wrong, and where.
type Finding struct {
	Rule    string // its ID
	Level   Level
	Message string
	File    string // empty: it has no place
	Line    int    // counts from 1; 0: all of the file
	Column  int    // counts from 1; 0: all of the line
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
		Level     Level           `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

// SARIF prints findings for code scanning services, by this version of assay.
func SARIF(out io.Writer, version string, rules []Rule, findings []Finding) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "assay", Version: version}}, Results: []sarifResult{}}
	for _, r := range rules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{r.ID, sarifText{r.About}, sarifText{r.Help}})
	}
	for _, f := range findings {
		result := sarifResult{Rule: f.Rule, Level: f.Level, Message: sarifText{f.Message}}
		if f.File != "" {
			at := sarifPhysical{Artifact: sarifArtifact{f.File}}
			if f.Line > 0 {
				at.Region = &sarifRegion{f.Line, f.Column}
			}
			result.Locations = []sarifLocation{{at}}
		}
		run.Results = append(run.Results, result)
	}
	return JSON(out, sarifLog{"2.1.0", "https://json.schemastore.org/sarif-2.1.0.json", []sarifRun{run}})
}
