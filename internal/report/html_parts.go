package report

import (
	"html/template"
	"strings"

	"assay/internal/report/chart"
)

// Head is the beginning of a page: of a report, or of another page in its style.
type Head struct {
	Title, Sub string
	Links      []Link
	Style      template.CSS
	Policy     string // content security policy
}

// Link leads to another page.
type Link struct {
	Name, URL string
	Current   bool // it is this page
}

// NewHead is the head of a page whose forms are sent to its own server.
func NewHead(title, sub string, links []Link) Head { return newHead(title, sub, "'self'", links) }

func newHead(title, sub, forms string, links []Link) Head {
	style := strings.TrimSpace(pageStyle) + "\n" + chart.Style() // the only one, which the policy allows by its digest
	return Head{title, sub, links, template.CSS(style), policy(style, forms)}
}

// Parts are the templates that a page in the style of a report is made of: "head"
// of a Head, "blocks" of a Document, "grid", and "figures" of Figures.
func Parts() (*template.Template, error) { return parsedPage.Clone() }

// Figure is a chart for wide and for narrow pages.
type Figure = figureView

// Figures draws charts.
func Figures(charts []*chart.Chart) ([]Figure, error) {
	var named []NamedChart
	for _, c := range charts {
		named = append(named, NamedChart{Chart: c})
	}
	return figureViews(named)
}
