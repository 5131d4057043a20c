package doc

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"assay/internal/analysis/wording"
	"assay/internal/doc/chart"
)

//go:embed html/page.html
var pageTemplate string

//go:embed html/page.css
var pageStyle string

// parts are the templates of all pages; documentPage is what documents are written with.
// Everything in them but charts is escaped.
var (
	parts        = template.Must(template.New("page").Funcs(template.FuncMap{"blocks": elements}).Parse(pageTemplate))
	documentPage = template.Must(parts.Clone())
)

// Parts are the templates that a page is made of: "head" of a Head, "blocks" of a
// Document, "grid" of a Grid, and "figures" of Figures.
func Parts() (*template.Template, error) { return parts.Clone() }

// WriteHTML prints a document as one HTML file that needs no network and runs no script.
func WriteHTML(w io.Writer, title, sub string, d Document) error {
	return documentPage.ExecuteTemplate(w, "document", struct {
		Head     Head
		Document Document
	}{NewHead(wording.Clean(title), wording.Clean(sub), "'none'", nil, ""), d})
}

// Head is the beginning of a page.
type Head struct {
	Title, Sub string
	Links      []Link
	Style      template.CSS
	Script     template.JS // at the end of the page; empty: none
	Policy     string      // content security policy
}

// Link leads to another page.
type Link struct {
	Name, URL string
	Current   bool // it is this page
}

// NewHead is the head of a page; forms says where its forms are sent, in the words of a
// content security policy, and script is the only one that the page runs.
func NewHead(title, sub, forms string, links []Link, script string) Head {
	style := strings.TrimSpace(pageStyle) + "\n" + chart.Style() // the only one, which the policy allows by its digest
	return Head{title, sub, links, template.CSS(style), template.JS(script), policy(style, script, forms)}
}

// policy allows a page its own style sheet and script, by their digests, and nothing else: no
// request.
func policy(style, script, forms string) string {
	allowed := "default-src 'none'; style-src " + digest(style)
	if script != "" {
		allowed += "; script-src " + digest(script)
	}
	return fmt.Sprintf("%s; img-src data:; base-uri 'none'; form-action %s", allowed, forms)
}

// digest names a text in a policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Drawing is a chart for wide and for narrow pages.
type Drawing struct {
	Label        string
	Wide, Narrow template.HTML
}

// Drawings draws charts.
func Drawings(charts ...*chart.Chart) ([]Drawing, error) {
	var all []Drawing
	for _, c := range charts {
		wide, err := c.SVG(chart.Wide)
		if err != nil {
			return nil, err
		}
		narrow, err := c.SVG(chart.Narrow)
		if err != nil {
			return nil, err
		}
		// Package chart escapes all text in its drawings.
		all = append(all, Drawing{c.Title, template.HTML(wide), template.HTML(narrow)})
	}
	return all, nil
}

// element is a run of blocks that are one element of a page.
type element struct {
	Kind         string // of a text
	Text         string
	Items, Lines []string
	Grid         *Grid
	Figures      []Drawing
	Folded       Document
}

// elements joins items to lists and literal lines to one text.
func elements(d Document) ([]element, error) {
	var all []element
	for i, b := range d {
		if i == 0 || d[i-1].Kind != b.Kind || !b.Kind.joins() {
			all = append(all, element{})
		}
		last := &all[len(all)-1]
		switch b.Kind {
		case Item:
			last.Items = append(last.Items, b.Text)
		case Literal, Code:
			last.Lines = append(last.Lines, b.Text)
		case Figure:
			var err error
			if last.Figures, err = Drawings(b.Chart); err != nil {
				return nil, err
			}
		default:
			kind := map[Kind]string{Heading: "heading", Subheading: "subheading", Answer: "answer", Warning: "warn", Footnote: "note"}[b.Kind]
			kind = cmp.Or(kind, "paragraph")
			*last = element{Kind: kind, Text: b.Text, Items: b.Items, Grid: b.Grid, Folded: b.Folded}
		}
	}
	return all, nil
}
