package serve

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/doc"
	"assay/internal/lab"
	"assay/internal/report"
	"assay/internal/store"
	"assay/internal/sys/file"
)

// Shown is a run that a gallery shows, with the store that has it.
type Shown struct {
	Store *store.Store
	ID    string
}

// galleryView is the first page of a gallery.
type galleryView struct {
	Head doc.Head
	Runs []galleryLine
}

type galleryLine struct {
	runLine
	Page, Answer string
	started      time.Time
}

// WriteGallery writes a page for each run, once, and a first one with what each says, the newest
// first. It returns the files. They need no server.
func WriteGallery(ctx context.Context, dir string, runs []Shown) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write gallery: %w", err)
	}
	v := galleryView{}
	var paths []string
	write := func(name string, page []byte) error {
		path := filepath.Join(dir, name)
		paths = append(paths, path)
		return file.Replace(path, page)
	}
	for _, r := range runs {
		line, page, err := galleryPage(ctx, r)
		if err != nil {
			return paths, err
		}
		if slices.ContainsFunc(v.Runs, func(l galleryLine) bool { return l.ID == line.ID }) {
			continue
		}
		if err := write(line.Page, page); err != nil {
			return paths, fmt.Errorf("write gallery: %w", err)
		}
		v.Runs = append(v.Runs, line)
	}
	slices.SortStableFunc(v.Runs, func(a, b galleryLine) int { return b.started.Compare(a.started) })
	v.Head = doc.NewHead("assay", wording.Plural(len(v.Runs), "run"), "'none'", nil, "")
	var index bytes.Buffer
	if err := parsed.ExecuteTemplate(&index, "gallery", v); err != nil {
		return paths, err
	}
	return paths, write("index.html", []byte(shown(index.String())))
}

// galleryPage is the page of a run, and its line on the first page.
func galleryPage(ctx context.Context, of Shown) (line galleryLine, page []byte, err error) {
	result, err := lab.Analyze(ctx, of.Store, of.ID)
	if err != nil {
		return line, nil, err
	}
	r := report.New(result)
	r.Links = []doc.Link{{Name: "Runs", URL: "index.html"}}
	var out bytes.Buffer
	if err := r.Write(&out, "html"); err != nil {
		return line, nil, err
	}
	line = galleryLine{newRunLine(result.Run), "run-" + result.Run.ID + ".html", r.Headline(), result.Run.Started}
	return line, []byte(shown(out.String())), nil
}

// newRunLine is a run in a list.
func newRunLine(run assay.Run) runLine {
	line := runLine{ID: run.ID, Plan: run.Plan, Started: run.Started.UTC().Format(time.DateTime), Status: string(run.Status), Machine: run.Machine()}
	if run.Imported {
		line.Status += ", imported"
	}
	for i, t := range run.Targets {
		if i > 0 {
			line.Targets += ", "
		}
		line.Targets += t.Name()
	}
	return line
}
