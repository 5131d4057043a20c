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

// object is an object of JSON.
type object map[string]any

func sarifText(text string) object { return object{"text": text} }

// SARIF prints findings for code scanning services, by this version of assay, as SARIF 2.1.0
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
func SARIF(out io.Writer, version string, rules []Rule, findings []Finding) error {
	described, results := []object{}, []object{}
	for _, r := range rules {
		described = append(described, object{"id": r.ID, "shortDescription": sarifText(r.About), "help": sarifText(r.Help)})
	}
	for _, f := range findings {
		result := object{"ruleId": f.Rule, "level": f.Level, "message": sarifText(f.Message)}
		if f.File != "" {
			result["locations"] = []object{{"physicalLocation": f.place()}}
		}
		results = append(results, result)
	}
	tool := object{"driver": object{"name": "assay", "version": version, "rules": described}}
	return JSON(out, object{"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": []object{{"tool": tool, "results": results}}})
}

// place is where a finding is, as far as that is known.
func (f Finding) place() object {
	place := object{"artifactLocation": object{"uri": f.File}}
	if f.Line == 0 {
		return place
	}
	region := object{"startLine": f.Line}
	if f.Column > 0 {
		region["startColumn"] = f.Column
	}
	place["region"] = region
	return place
}
