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
	"sync"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// Published is a relation of two figures of a published benchmark that the run
// measured again: A / B.
type Published struct {
	Source  string // the published benchmark
	Machine string // it was measured on; empty where the source does not say
	Metric  string // name of the assay.Metric
	A, B    PublishedFigure
}

// PublishedFigure is one of them, in the source's words, with the cell that
// measures it again.
type PublishedFigure struct {
	What    string
	Printed string
	Unit    string
	Value   float64           // in Unit
	Cell    map[string]string // coordinates that select the one cell
	Doubt   string            // why it is no measurement of what it is called; empty: it is
}

// publishedView is what stands under a table.
type publishedView struct {
	Source, There, Here string
	Lines               []publishedLine
}

// publishedLine has both relations.
type publishedLine struct{ What, Published, Printed, Own, Verdict string }

// publishedOf are the relations whose first cell is in the table; nil where
// there are none.
func (r *Report) publishedOf(t *analysis.Table, all []Published) *publishedView {
	var view *publishedView
	for _, p := range all {
		a, b := r.cellOf(p.A.Cell), r.cellOf(p.B.Cell)
		metric, known := assay.MetricByName(p.Metric)
		if a == nil || a.Table != t || b == nil || !known || p.B.Value == 0 && p.A.Doubt == "" {
			continue
		}
		if view == nil {
			view = &publishedView{Source: wording.Clean(p.Source), There: wording.Clean(p.Machine), Here: r.machine()}
		}
		line := publishedLine{
			What:      wording.Clean(p.A.What + " / " + p.B.What),
			Published: wording.Digits(p.A.Value / p.B.Value),
			Printed:   wording.Clean(fmt.Sprintf("%s / %s %s", p.A.Printed, p.B.Printed, p.B.Unit)),
		}
		line.Own, line.Verdict = ownRelation(a, b, metric)
		if p.A.Doubt != "" {
			line.Published, line.Verdict = "none", line.Verdict+"; as published, "+wording.Clean(p.A.Doubt)
		}
		view.Lines = append(view.Lines, line)
	}
	return view
}

// cellOf finds the first cell with these coordinates; nil where the run has none.
func (r *Report) cellOf(where map[string]string) *analysis.Row {
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

// settingsView is what one profile asked for and what became of it.
type settingsView struct {
	Profile string
	Lines   []settingLine
	Differ  int // settings that are not the same for all drivers, or not applied
}

// settingLine is one setting for the drivers for which it went alike.
type settingLine struct {
	Name, Requested, Issued, Effective string
	Drivers                            string
	Remark                             string // why it is worth a look; empty where it is not
}

// settingsViews lists the settings of each profile. Those that are alike
// everywhere and that nobody asked for are counted only.
func (r *Report) settingsViews() (views []settingsView, quiet int) {
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
	slices.Sort(profiles)
	for _, profile := range profiles {
		views = append(views, newSettingsView(profile, byProfile[profile]))
	}
	return views, len(skipped)
}

func newSettingLine(s assay.Setting) settingLine {
	line := settingLine{Name: wording.Clean(s.Name), Requested: wording.Clean(wording.Setting(s.Name, s.Requested)), Issued: wording.Clean(s.Issued), Effective: wording.Clean(wording.Setting(s.Name, s.Effective))}
	if !s.Applied && s.Requested != "" {
		line.Remark = "not applied"
	}
	return line
}

func newSettingsView(profile string, lines map[settingLine][]string) settingsView {
	v := settingsView{Profile: cmp.Or(profile, "no profile")}
	effective := map[string]map[string]bool{}
	for line := range lines {
		analysis.Count(effective, line.Name, line.Effective)
	}
	for line, drivers := range lines {
		slices.Sort(drivers)
		line.Drivers = strings.Join(drivers, ", ")
		if line.Remark == "" && len(effective[line.Name]) > 1 {
			line.Remark = "differs"
		}
		v.Lines = append(v.Lines, line)
	}
	slices.SortFunc(v.Lines, func(a, b settingLine) int {
		return strings.Compare(fmt.Sprint(a.Name, "\x00", a.Effective, "\x00", a.Drivers, a.Issued), fmt.Sprint(b.Name, "\x00", b.Effective, "\x00", b.Drivers, b.Issued))
	})
	names := map[string]bool{}
	for _, line := range v.Lines {
		if line.Remark != "" && !names[line.Name] {
			names[line.Name] = true
			v.Differ++
		}
	}
	return v
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

// packer makes downloads, several at a time.
type packer struct {
	compress bool
	idle     sync.Pool // of *gzip.Writer: they are large, and used again
}

// download encodes what write writes. The URL is made of base64 alone, which
// cannot end an attribute.
func (p *packer) download(name string, write func(io.Writer) error) (download, error) {
	var content bytes.Buffer
	kind, size := "text/csv", 0
	if p.compress {
		name, kind = name+".gz", "application/gzip"
		written, err := p.pack(&content, write)
		if err != nil {
			return download{}, fmt.Errorf("%s: %w", name, err)
		}
		size = written
	} else if err := write(&content); err != nil {
		return download{}, fmt.Errorf("%s: %w", name, err)
	}
	words := human(float64(content.Len()), "B")
	if p.compress {
		words = fmt.Sprintf("%s, compressed to %s: unpack with gunzip", human(float64(size), "B"), words)
	}
	return download{name, words, template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(content.Bytes()))}, nil
}

// pack compresses what write writes, and counts it.
func (p *packer) pack(to io.Writer, write func(io.Writer) error) (written int, err error) {
	compressor, _ := p.idle.Get().(*gzip.Writer)
	if compressor == nil {
		compressor = gzip.NewWriter(nil)
	}
	defer p.idle.Put(compressor)
	compressor.Reset(to)
	counted := &counter{to: compressor}
	if err := write(counted); err != nil {
		return 0, err
	}
	return counted.written, compressor.Close()
}

// counter counts the bytes that pass.
type counter struct {
	to      io.Writer
	written int
}

// Write passes them on.
func (c *counter) Write(data []byte) (int, error) {
	n, err := c.to.Write(data)
	c.written += n
	return n, err
}
