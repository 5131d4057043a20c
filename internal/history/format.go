package history

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/stat"
	"assay/internal/sys/format"
)

// Formats returns the formats of series.
func Formats() format.List[[]*Series] {
	return format.List[[]*Series]{
		{Name: "text", Write: writeText},
		{Name: "csv", Write: writeCSV},
		{Name: "json", Write: func(out io.Writer, all []*Series) error { return format.JSON(out, values(all)) }},
	}
}

// plotWidth is the columns of the plot beside the figures.
const plotWidth = 31

// writeText prints a table for each series, with a line where the ratio shifts.
func writeText(out io.Writer, all []*Series) error {
	var d doc.Document
	for _, s := range all {
		d.Add(doc.Answer, "%s, plan %s, %s", s.Name(), s.Plan, wording.Plural(len(s.Points), "run"))
		scale := newPlot(s.Points)
		grid := doc.Grid{Header: []string{"started", "version", "time / baseline", scale.header(), "run"}}
		next := 0
		for i, p := range s.Points {
			if next < len(s.Changes) && s.Changes[next].At == i {
				grid.Rows = append(grid.Rows, []string{"-- change: " + s.Describe(s.Changes[next])})
				next++
			}
			grid.Rows = append(grid.Rows, []string{p.Started.UTC().Format("2006-01-02 15:04"), p.Version, wording.Times(p.Cost), scale.line(p.Cost), p.Run})
		}
		d.AddTable(grid)
		if len(s.Changes) == 0 {
			d.Add(doc.Footnote, "no change point")
		}
	}
	return doc.WriteText(out, d, 0)
}

// Describe says what a change point is: between which ratios, and with which
// version of the driver.
func (s *Series) Describe(c Change) string {
	before, after := s.Points[c.At-1], s.Points[c.At]
	line := fmt.Sprintf("%sx -> %sx (%+.1f %%), p = %s", wording.Digits(c.Before), wording.Digits(c.After), 100*(c.After/c.Before-1), wording.Digits(c.P))
	if before.Version != after.Version {
		line += fmt.Sprintf(", with %s -> %s", wording.Clean(before.Version), wording.Clean(after.Version))
	}
	return line
}

// plot draws intervals in lines of text, from the lowest to the highest end.
type plot struct{ low, high float64 }

func newPlot(points []Point) plot {
	p := plot{points[0].Cost.Low, points[0].Cost.High}
	for _, point := range points {
		p.low, p.high = min(p.low, point.Cost.Low), max(p.high, point.Cost.High)
	}
	return p
}

// header says where a line begins and ends.
func (p plot) header() string {
	low, high := wording.Digits(p.low)+"x", wording.Digits(p.high)+"x"
	return low + strings.Repeat(".", max(1, plotWidth-len(low)-len(high))) + high
}

func (p plot) line(i stat.Interval) string {
	place := func(v float64) int {
		if p.high <= p.low {
			return 0
		}
		return min(plotWidth-1, max(0, int((v-p.low)/(p.high-p.low)*float64(plotWidth-1)+0.5)))
	}
	line := []byte(strings.Repeat(".", plotWidth))
	for at := place(i.Low); at <= place(i.High); at++ {
		line[at] = '-'
	}
	line[place(i.Center)] = '*'
	return string(line)
}

func writeCSV(out io.Writer, all []*Series) error {
	w := csv.NewWriter(out)
	rows := [][]string{{"plan", "operation", "driver", "profile", "baseline", "run", "started", "version", "ratio", "low", "high", "launches", "segment"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for _, s := range all {
		for i, p := range s.Points {
			rows = append(rows, []string{s.Plan, s.Title, s.Driver, s.Profile, s.Baseline, p.Run, p.Started.UTC().Format(time.RFC3339), p.Version,
				number(p.Cost.Center), number(p.Cost.Low), number(p.Cost.High), strconv.Itoa(p.Cost.N), strconv.Itoa(s.segment(i))})
		}
	}
	return w.WriteAll(rows)
}

// segment counts the change points before a point, and itself.
func (s *Series) segment(at int) int {
	n := 1
	for _, c := range s.Changes {
		if c.At <= at {
			n++
		}
	}
	return n
}

// The names of JSON, which programs read.
type (
	jsonSeries struct {
		Plan      string       `json:"plan"`
		Operation string       `json:"operation"`
		Driver    string       `json:"driver"`
		Profile   string       `json:"profile,omitempty"`
		Baseline  string       `json:"baseline"`
		Points    []jsonPoint  `json:"points"`
		Changes   []jsonChange `json:"changes"`
	}
	jsonPoint struct {
		Run     string    `json:"run"`
		Started time.Time `json:"started"`
		Version string    `json:"version"`
		Ratio   float64   `json:"ratio"`
		Low     float64   `json:"low"`
		High    float64   `json:"high"`
		N       int       `json:"launches"`
	}
	jsonChange struct {
		At     string  `json:"at"` // the first run behind it
		Before float64 `json:"before"`
		After  float64 `json:"after"`
		P      float64 `json:"p"`
	}
)

func values(all []*Series) []jsonSeries {
	printed := []jsonSeries{}
	for _, s := range all {
		one := jsonSeries{Plan: s.Plan, Operation: s.Title, Driver: s.Driver, Profile: s.Profile, Baseline: s.Baseline, Changes: []jsonChange{}}
		for _, p := range s.Points {
			one.Points = append(one.Points, jsonPoint{p.Run, p.Started.UTC(), p.Version, p.Cost.Center, p.Cost.Low, p.Cost.High, p.Cost.N})
		}
		for _, c := range s.Changes {
			one.Changes = append(one.Changes, jsonChange{s.Points[c.At].Run, c.Before, c.After, c.P})
		}
		printed = append(printed, one)
	}
	return printed
}
