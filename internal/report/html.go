package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

//go:embed html/page.html
var pageTemplate string

//go:embed html/page.css
var pageStyle string

// parsedPage is the template, parsed once. Everything in the page but its charts and
// downloads is escaped by it.
var parsedPage = template.Must(template.New("page").Funcs(template.FuncMap{"blocks": blockParts}).Parse(pageTemplate))

// policy allows the page its own style sheet and nothing else: no script, no
// request. forms says where forms are sent.
func policy(style, forms string) string {
	digest := sha256.Sum256([]byte(style))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; img-src data:; base-uri 'none'; form-action %s",
		base64.StdEncoding.EncodeToString(digest[:]), forms)
}

// writeHTML writes the report as one HTML file that needs no network and runs no
// script.
func writeHTML(w io.Writer, r *Report) error {
	if err := r.page(r.Published).write(w); err != nil {
		return fmt.Errorf("write report of run %s: %w", r.Run.ID, err)
	}
	return nil
}

func (v *pageView) write(w io.Writer) error {
	done := make(chan struct{})
	defer close(done)
	go v.makeTables(done)
	go v.makeCSV()
	return parsedPage.Execute(w, v)
}
