package lint

import (
	"cmp"
	"fmt"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/lint/facts"
	"assay/internal/sys/format"
)

// Finding is one thing that is wrong, and where.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	File     string   `json:"file"` // from the folder that was asked about
	Line     int      `json:"line"`
	Column   int      `json:"column"`
	Message  string   `json:"message"`
	Docs     string   `json:"docs"`
}

// Unjudged is something that nothing is known about, and where it stands.
type Unjudged struct {
	File      string `json:"file"` // from the folder that was asked about
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Driver    string `json:"driver"`
	Version   string `json:"version"`
	Parameter string `json:"parameter"`
	Reason    string `json:"reason"`
}

// Untried is a parameter that is nearly one that the driver knows, and that no
// experiment was made about.
type Untried struct {
	Driver Driver
	facts.Slip
}

// Result holds what was found.
type Result struct {
	Findings []Finding `json:"findings"`
	// NotJudged are parameters that nothing is known about: no findings.
	NotJudged []Unjudged `json:"not_judged,omitempty"`
	// Untried are parameters that an experiment could decide about.
	Untried []Untried `json:"-"`
	// Unmeasured are the drivers whose version has no facts of its own.
	Unmeasured []string `json:"unmeasured,omitempty"`
	// Broken are packages that could not be read in full.
	Broken   []string `json:"broken,omitempty"`
	Packages int      `json:"packages"`
	// Opens is how many calls that open SQLite were found.
	Opens int `json:"opens"`
	// Configurations is how many files with settings of other languages' libraries
	// were found.
	Configurations int `json:"configurations,omitempty"`
	// Judged is how many of these calls and files were judged, and Seen how many places show
	// that SQLite is used.
	Judged, Seen int `json:"-"`
	// Missing are imported packages that are not there.
	Missing int `json:"-"`
}

// Checked reports whether what uses SQLite was: without it, no findings say nothing.
func (r *Result) Checked() bool {
	return r.Missing == 0 && (r.Judged > 0 || r.Seen == 0)
}

// Add puts another result in.
func (r *Result) Add(other Result) {
	r.Findings = append(r.Findings, other.Findings...)
	r.NotJudged = append(r.NotJudged, other.NotJudged...)
	r.Unmeasured = append(r.Unmeasured, other.Unmeasured...)
	r.Broken = append(r.Broken, other.Broken...)
	r.Packages += other.Packages
	r.Opens += other.Opens
	r.Configurations += other.Configurations
	r.Judged += other.Judged
	r.Seen += other.Seen
	r.Missing += other.Missing
	r.sort()
}

func (r *Result) sort() {
	slices.SortFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Rule+a.Message, b.Rule+b.Message))
	})
	slices.SortFunc(r.NotJudged, func(a, b Unjudged) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Parameter, b.Parameter))
	})
	r.NotJudged = slices.Compact(r.NotJudged) // a package is there again with its tests
	slices.Sort(r.Unmeasured)
	r.Unmeasured = slices.Compact(r.Unmeasured)
	slices.Sort(r.Broken)
	r.Broken = slices.Compact(r.Broken)
}

// notes collects what is found, but for what comments switch off.
type notes struct {
	*Result
	dir    string
	silent map[line][]string // rules that comments switch off
}

func newNotes(dir string, result *Result) *notes { return &notes{result, dir, map[line][]string{}} }

type line struct {
	file   string
	number int
}

// notJudged is what a comment names to leave parameters out that are not judged.
const notJudged = "not-judged"

// silence takes a comment on a line that may switch a rule off, there and on the line
// below. Without a reason it switches nothing off.
func (n *notes) silence(comment, file string, number int) {
	rest, ok := strings.CutPrefix(comment, "assay:ignore ")
	rule, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if !ok || strings.TrimSpace(reason) == "" {
		return
	}
	for _, at := range []line{{file, number}, {file, number + 1}} {
		n.silent[at] = append(n.silent[at], rule)
	}
}

func (n *notes) silences(at token.Position, rule string) bool {
	return slices.Contains(n.silent[line{at.Filename, at.Line}], rule)
}

// add notes a finding. A package is there again with its tests.
func (n *notes) add(at token.Position, rule Rule, message string) {
	f := Finding{rule.ID, rule.Severity, n.relative(at.Filename), at.Line, at.Column, message, docs + "#" + rule.ID}
	if !n.silences(at, rule.ID) && !slices.ContainsFunc(n.Findings, func(other Finding) bool {
		return other.File == f.File && other.Line == f.Line && other.Column == f.Column && other.Rule == f.Rule
	}) {
		n.Findings = append(n.Findings, f)
	}
}

// leave notes that something is not judged.
func (n *notes) leave(at token.Position, d Driver, what, reason string) {
	if !n.silences(at, notJudged) {
		n.NotJudged = append(n.NotJudged, Unjudged{n.relative(at.Filename), at.Line, at.Column, d.Name, d.Version, strings.ReplaceAll(what, unknown, "..."), reason})
	}
}

// relative is a file's name from the folder that was asked about, where it lies below that.
func (n *notes) relative(name string) string {
	if absolute, err := filepath.Abs(n.dir); err == nil && filepath.IsAbs(name) {
		if below, err := filepath.Rel(absolute, name); err == nil && !strings.HasPrefix(below, "..") {
			name = below
		}
	}
	return filepath.ToSlash(name)
}

// Formats returns the formats of the result, by this version of assay.
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
