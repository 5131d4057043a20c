package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
	"assay/published"
)

// publishedOf are the relations whose first cell is in the table.
func (r *Report) publishedOf(t *analysis.Table, relations []published.Relation) doc.Document {
	var d doc.Document
	grid := doc.Grid{Header: []string{"time of", "published ratio", "printed", "own ratio", "own verdict"}, Right: []bool{false, true, true, true}}
	for _, p := range relations {
		a, b := r.cellOf(p.A), r.cellOf(p.B)
		metric, known := assay.MetricByName(p.A.Cell.Metric)
		if a == nil || a.Table != t || b == nil || !known || p.B.Value == 0 && p.A.Reason == "" {
			continue
		}
		if len(d) == 0 {
			d.Add(doc.Subheading, "As published by %s, and as measured here", p.Source)
			d.Add(doc.Paragraph, "Relations only: the figures themselves were measured on unlike machines, there on %s, here on %s.",
				cmp.Or(p.Machine, "an unknown machine"), cmp.Or(r.machine(), "an unknown machine"))
		}
		ratio := wording.Digits(p.A.Value / p.B.Value)
		own, verdict := ownRelation(a, b, metric)
		if p.A.Reason != "" {
			ratio, verdict = "none", verdict+"; as published, "+p.A.Reason
		}
		grid.Rows = append(grid.Rows, []string{p.A.What(p.B) + " / " + p.B.What(p.A), ratio, fmt.Sprintf("%s / %s %s", p.A.Printed, p.B.Printed, p.B.Unit), own, verdict})
	}
	d.AddTable(grid)
	return d
}

// cellOf finds the first cell that measures a published figure; nil where the run has none.
func (r *Report) cellOf(of published.Figure) *analysis.Row {
	where := map[string]string{}
	for name, values := range of.Cell.Only {
		where[name] = values[0]
	}
	rows := analysis.Side{Result: r.Result, Where: where}.Rows()
	if len(where) == 0 || len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// ownRelation is the ratio as this run has it, or why there is none.
func ownRelation(a, b *analysis.Row, metric assay.Metric) (ratio, verdict string) {
	line, err := a.Line(b, metric, nil)
	if err != nil {
		return "not compared", wording.Clean(err.Error())
	}
	c := line.Comparison
	verdict = string(c.Verdict)
	if c.Verdict == stat.Undecided {
		verdict += ": " + Why(c)
	}
	if c.Ratio.N == 0 {
		return "not compared", wording.Clean(verdict)
	}
	ratio = ratioText(c.Ratio)
	if line.Basis != analysis.Joint && c.Ratio.N > 1 {
		verdict += "; not measured in the same launches"
	}
	return ratio, wording.Clean(verdict)
}

// settingLine is one setting for the drivers for which it went alike.
type settingLine struct {
	Name, Requested, Issued, Effective string
	Remark                             string // why it is worth a look; empty where it is not
}

// settings lists those of each profile. Those that are alike everywhere and that nobody
// asked for are counted only.
func (r *Report) settings() doc.Document {
	telling := r.tellingSettings()
	byProfile := map[string]map[settingLine][]string{}
	var profiles []string
	skipped := map[string]bool{}
	for row := range r.Rows() {
		profile := wording.Clean(row.Cell.Profile)
		if byProfile[profile] == nil && len(row.Settings) > 0 {
			byProfile[profile] = map[settingLine][]string{}
			profiles = append(profiles, profile)
		}
		for _, s := range analysis.JoinConnections(row.Settings) {
			if !telling[s.Name] {
				skipped[s.Name] = true
				continue
			}
			line := newSettingLine(s)
			if drivers := byProfile[profile][line]; !slices.Contains(drivers, row.Driver) {
				byProfile[profile][line] = append(drivers, row.Driver)
			}
		}
	}
	var d doc.Document
	if len(profiles) == 0 {
		return nil
	}
	d.Add(doc.Heading, "Settings")
	d.Add(doc.Paragraph, "Requested by the profile, issued to the driver, and effective: as read back on the connections. A setting that is not requested is the driver's own default.")
	if len(skipped) > 0 {
		d.Add(doc.Paragraph, "%d more settings were read back; no profile asks for them and they are alike everywhere.", len(skipped))
	}
	slices.Sort(profiles)
	for _, profile := range profiles {
		addSettings(&d, cmp.Or(profile, "no profile"), byProfile[profile])
	}
	return d
}

func newSettingLine(s assay.Setting) settingLine {
	line := settingLine{Name: wording.Clean(s.Name), Requested: wording.Clean(wording.Setting(s.Name, s.Requested)), Issued: wording.Clean(s.Issued), Effective: wording.Clean(wording.Setting(s.Name, s.Effective))}
	if !s.Applied && s.Requested != "" {
		line.Remark = "not applied"
	}
	return line
}

// addSettings adds a table that is folded, and says how many settings are not the same for
// all drivers, or not applied.
func addSettings(d *doc.Document, profile string, lines map[settingLine][]string) {
	effective, differ := map[string]map[string]bool{}, map[string]bool{}
	for line := range lines {
		analysis.Count(effective, line.Name, line.Effective)
	}
	grid := doc.Grid{Header: []string{"setting", "requested", "issued", "effective", "remark", "drivers"}}
	for line, drivers := range lines {
		slices.Sort(drivers)
		if line.Remark == "" && len(effective[line.Name]) > 1 {
			line.Remark = "differs"
		}
		if line.Remark != "" {
			differ[line.Name] = true
		}
		grid.Rows = append(grid.Rows, []string{line.Name, cmp.Or(line.Requested, "-"), cmp.Or(line.Issued, "-"), cmp.Or(line.Effective, "-"), line.Remark, strings.Join(drivers, ", ")})
	}
	slices.SortFunc(grid.Rows, func(a, b []string) int {
		return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[3], b[3]), strings.Compare(a[5], b[5]), strings.Compare(a[2], b[2]))
	})
	title := profile + ": " + wording.Plural(len(grid.Rows), "line")
	if len(differ) > 0 {
		title += fmt.Sprintf(", %d differ", len(differ))
	}
	var folded doc.Document
	folded.AddTable(grid)
	d.AddFold(title, folded)
}

// maxPlain is how many figures a page may have whose downloads are kept as they
// are: about 400 kB of CSV. With more, all of them are compressed, so that the
// page stays small enough to be sent; nothing is left out.
const maxPlain = 1400

// download is a file inside the page.
type download struct {
	Name string
	Size string
	URL  template.URL
}

// packer makes downloads.
type packer struct {
	compress   bool
	compressor *gzip.Writer // it is large, and used again
}

// download encodes what write writes. The URL is made of base64 alone, which
// cannot end an attribute.
func (p *packer) download(name string, write func(io.Writer) error) (download, error) {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return download{}, fmt.Errorf("%s: %w", name, err)
	}
	kind, words := "text/csv", wording.Human(float64(content.Len()), "B")
	if p.compress {
		var packed bytes.Buffer // to which writing does not fail
		p.compressor.Reset(&packed)
		_, _ = content.WriteTo(p.compressor)
		_ = p.compressor.Close()
		name, kind, content = name+".gz", "application/gzip", packed
		words = fmt.Sprintf("%s, compressed to %s: unpack with gunzip", words, wording.Human(float64(content.Len()), "B"))
	}
	return download{name, words, template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(content.Bytes()))}, nil
}
