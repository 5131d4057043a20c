package serve

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/report"
	"assay/internal/serve/browser"
)

// A gallery is a page for each run, once, and a first page that leads to them, the newest
// first; names in it are text, and nothing comes from elsewhere.
func TestGallery(t *testing.T) {
	s := sampleStore(t, 2)
	run := analysistest.PlainRun
	run.ID, run.Plan, run.Status, run.Started = "hostile", strings.Join(browser.Hostile, " "), assay.Finished, analysistest.SampleStart.Add(-time.Hour)
	run.Targets = []assay.Target{{Driver: browser.Hostile[0], DriverVersion: browser.Hostile[1]}}
	put(t, s, run, analysistest.Launches(analysistest.Cell(browser.Hostile[0], browser.Hostile[0], "web"), 6, 1000, 1))
	dir := filepath.Join(t.TempDir(), "new", "gallery")
	must(t, os.MkdirAll(dir, 0o755))
	must(t, os.Symlink("elsewhere", filepath.Join(dir, "index.html"))) // a page takes its place
	paths, err := WriteGallery(t.Context(), dir, []Shown{{s, firstID}, {s, "hostile"}, {s, secondID}, {s, firstID}})
	must(t, err)
	var names []string
	for _, path := range paths {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is no file of its own: %v", path, err)
		}
		names = append(names, filepath.Base(path))
	}
	if want := []string{"run-" + firstID + ".html", "run-hostile.html", "run-" + secondID + ".html", "index.html"}; !slices.Equal(names, want) {
		t.Fatalf("got %q, want %q", names, want)
	}
	var links []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		must(t, err)
		root, err := html.Parse(strings.NewReader(string(data)))
		must(t, err)
		for n := range root.Descendants() {
			if n.Data == "script" && n.FirstChild != nil && n.FirstChild.Data != report.Script && len(n.Attr) == 0 {
				t.Errorf("%s has the script %s", path, n.FirstChild.Data)
			}
			for _, a := range n.Attr {
				if a.Key != "href" && a.Key != "src" || strings.HasPrefix(a.Val, "#") || strings.HasPrefix(a.Val, "data:") {
					continue
				}
				if !slices.Contains(names, a.Val) {
					t.Errorf("%s leads to %s", path, a.Val)
				}
				if filepath.Base(path) == "index.html" {
					links = append(links, a.Val)
				}
			}
		}
	}
	if want := []string{"run-" + secondID + ".html", "run-" + firstID + ".html", "run-hostile.html"}; !slices.Equal(links, want) {
		t.Errorf("the first page leads to %q, want %q", links, want)
	}
	if _, err := WriteGallery(t.Context(), dir, []Shown{{s, "nosuch"}}); err == nil {
		t.Error("got a gallery of a run that does not exist")
	}
}
