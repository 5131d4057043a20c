package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/serve/browser"
	"assay/plans"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// openPage shows a text at a width, with all details open, and returns what it did.
func openPage(t *testing.T, v *browser.Visitor, text []byte, width int64) []string {
	t.Helper()
	path := filepath.Join(v.Dir, "report.html")
	must(t, os.WriteFile(path, text, 0o644))
	return v.Visit(t, "file://"+path, width)
}

// What the other tests look for is seen where it is.
func TestBrowserNotesWhatHappens(t *testing.T) {
	v := browser.New(t)
	for text, want := range map[string]string{
		`<script>alert("hello")</script>`:  "dialog hello",
		`<script>console.log(1)</script>`:  "console log",
		`<script>throw 1</script>`:         "exception Uncaught",
		`<img src="http://127.0.0.1:9/x">`: "request http://127.0.0.1:9/x",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'"><p style="color:red">`: "log Applying inline style violates",
	} {
		if got := strings.Join(openPage(t, v, []byte("<!DOCTYPE html><title>x</title>"+text), 1280), "; "); !strings.Contains(got, want) {
			t.Errorf("%s: noted %q, want %s", text, got, want)
		}
	}
}

// drawn counts the drawings that are seen, and names those that are empty or
// wider than the page.
const drawn = `(() => {
	const wrong = []; let seen = 0;
	for (const figure of document.querySelectorAll("figure")) {
		const shown = [...figure.querySelectorAll("svg")].filter(s => s.getBoundingClientRect().width > 0);
		if (shown.length != 1) { wrong.push(figure.ariaLabel + ": " + shown.length + " drawings are shown"); continue; }
		seen++;
		const box = shown[0].getBoundingClientRect();
		if (box.height < 100 || box.right > innerWidth + 1) wrong.push(figure.ariaLabel + ": " + box.width + " x " + box.height);
		const filled = [...shown[0].querySelectorAll("path, text")].filter(e => { const b = e.getBBox(); return b.width + b.height > 0; });
		if (filled.length < 10 || shown[0].querySelectorAll("text").length < 4) wrong.push(figure.ariaLabel + ": " + filled.length + " parts");
	}
	return [String(seen), ...wrong];
})()`

// reports are those that are opened in a browser, one of every built-in plan
// among them.
func reports(t *testing.T) map[string]*Report {
	run, trials := analysistest.SampleRun()
	all := map[string]*Report{
		"sample":  mustReport(t, run, append(trials, samplePhases()...)),
		"hostile": hostileReport(t),
	}
	for _, name := range plans.Names() {
		run, trials := planRun(t, name)
		all[name] = mustReport(t, run, trials)
	}
	return all
}

func TestHTMLInBrowser(t *testing.T) {
	v := browser.New(t)
	for name, r := range reports(t) {
		text, _ := mustHTML(t, r)
		t.Run(name, func(t *testing.T) {
			openPage(t, v, text, 1280)
			for _, width := range []int64{1280, 360} {
				if did := v.Resize(t, width); len(did) > 0 {
					t.Errorf("%d: the page did: %q", width, did)
				}
				if over := browser.Evaluate[int](t, v, `document.scrollingElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("%d: the page is %d pixels too wide; by %s", width, over, browser.Evaluate[string](t, v, browser.Widest))
				}
				got := browser.Evaluate[[]string](t, v, drawn)
				if want := fmt.Sprint(len(r.Charts())); got[0] != want || len(got) > 1 {
					t.Errorf("%d: %s of %s charts are drawn; wrong are %q", width, got[0], want, got[1:])
				}
			}
		})
	}
}

// The page can be printed, with its charts.
func TestHTMLOnPaper(t *testing.T) {
	v := browser.New(t)
	run, trials := analysistest.SampleRun()
	text, _ := mustHTML(t, mustReport(t, run, trials))
	openPage(t, v, text, 1280)
	v.Scheme(t, "print", "light")
	const folded = `(() => { const all = [...document.querySelectorAll("details:not(.menu, .raw, .raw *)")]; all.forEach(d => d.open = false);
		return [all.length > 3, ...new Set(all.map(d => getComputedStyle(d, "::details-content").contentVisibility))].join(" ") })()`
	if got := browser.Evaluate[string](t, v, folded); got != "true visible" {
		t.Errorf("folded sections are %s on paper, want them visible", got)
	}
	pdf, err := chromedp.Run(v, chromedp.PrintToPDF())
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
		t.Errorf("%d bytes of PDF, %v", len(pdf), err)
	}
}

// hostileReport has a hostile text wherever a user, a plan or a worker can put
// one.
func hostileReport(t *testing.T) *Report {
	t.Helper()
	all := strings.Join(browser.Hostile, " ")
	run, sample := analysistest.SampleRun()
	run.ID, run.Plan, run.PlanText, run.PlanFile, run.Version = "../"+all, all, all, "/"+all, all
	run.Host = map[string]string{"cpu": all, all: all}
	run.Options.Drivers = []string{all}
	for i := range run.Targets {
		run.Targets[i].Facts["api"], run.Targets[i].EngineVersion = all+fmt.Sprint(i), all
		run.Targets[i].CompileOptions = []string{"THREADSAFE=" + all + fmt.Sprint(i)}
	}
	var trials []assay.Trial
	for i, h := range browser.Hostile {
		for _, driver := range []string{"modernc", "mattn", h} {
			c := analysistest.Cell(h, driver, "web"+h)
			c.Params = map[string]string{"rows": h, h: h}
			trials = append(trials, analysistest.Change(analysistest.Durable(analysistest.Launches(c, 6, 1000*float64(1+i), 1+i), assay.Power, h), func(t *assay.Trial) {
				t.Warnings = []assay.Warning{{Code: h, Evidence: h, Advice: h}}
				t.Figures[h] = 5
				t.DSN, t.Each, t.QueryPlan, t.Group = "{{path}}"+h, []string{h}, "SCAN "+h, h
				t.Settings = append(t.Settings, assay.Setting{Name: h, Requested: h, Issued: h, Effective: h + driver, Applied: false})
			})...)
		}
		trials = append(trials, analysistest.Ended(analysistest.Cell(h, "glebarez", h), assay.Failed, h+all))
	}
	return mustReport(t, run, append(trials, sample...))
}

// Escaping holds alone: the policy is the second wall.
func TestHostileWithoutPolicyInBrowser(t *testing.T) {
	v := browser.New(t)
	text, _ := mustHTML(t, hostileReport(t))
	open := bytes.Replace(text, []byte(`http-equiv="Content-Security-Policy"`), []byte(`name="nothing"`), 1)
	if len(open) == len(text) {
		t.Fatal("the page has no policy")
	}
	if did := openPage(t, v, open, 1280); len(did) > 0 {
		t.Errorf("the page did: %q", did)
	}
}

// A chart's file with hostile names does nothing either.
func TestHostileChartInBrowser(t *testing.T) {
	v := browser.New(t)
	for _, named := range hostileReport(t).Charts()[:3] {
		svg, err := named.Chart.File()
		must(t, err)
		path := filepath.Join(v.Dir, named.Name+".svg")
		must(t, os.WriteFile(path, svg, 0o644))
		must(t, chromedp.Do(v, chromedp.Navigate("file://"+path)))
		if root := browser.Evaluate[string](t, v, `document.documentElement.tagName`); root != "svg" {
			t.Errorf("%s is not drawn: its root is %s", named.Name, root)
		}
	}
	if len(v.Events()) > 0 {
		t.Errorf("the charts did: %q", v.Events())
	}
}

// Dark is dark, in charts too, and paper is light.
func TestHTMLThemes(t *testing.T) {
	v := browser.New(t)
	run, trials := analysistest.SampleRun()
	text, _ := mustHTML(t, mustReport(t, run, trials))
	openPage(t, v, text, 1280)
	for _, test := range []struct{ media, scheme, want string }{
		{"screen", "light", "rgb(255, 255, 255) rgb(255, 255, 255) rgb(26, 29, 33)"},
		{"screen", "dark", "rgb(21, 24, 28) rgb(21, 24, 28) rgb(232, 234, 237)"},
		{"print", "dark", "rgb(255, 255, 255) rgb(255, 255, 255) rgb(26, 29, 33)"},
	} {
		v.Scheme(t, test.media, test.scheme)
		got := browser.Evaluate[string](t, v, `[getComputedStyle(document.documentElement).backgroundColor,
			getComputedStyle(document.querySelector("svg .f0")).fill, getComputedStyle(document.querySelector("svg .f1")).fill].join(" ")`)
		if got != test.want {
			t.Errorf("%s %s: %s, want %s", test.media, test.scheme, got, test.want)
		}
	}
}

// The CSV that the browser saves is the CSV.
func TestHTMLDownloadInBrowser(t *testing.T) {
	v := browser.New(t)
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	text, _ := mustHTML(t, r)
	openPage(t, v, text, 1280)
	progress := chromedp.Events(v, cdp.DownloadProgress)
	events := true
	_, err := chromedp.Call(v, cdp.SetDownloadBehavior, cdp.SetDownloadBehaviorParams{
		Behavior: cdp.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: v.Dir, EventsEnabled: &events})
	must(t, err)
	browser.Evaluate[chromedp.Void](t, v, `document.querySelector("#downloads a").click()`)
	for event, err := range progress {
		must(t, err)
		if event.State == cdp.DownloadProgressStateInProgress {
			continue
		}
		got, err := os.ReadFile(filepath.Join(v.Dir, event.GUID))
		var want bytes.Buffer
		_ = r.Write(&want, "csv")
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("saved %d bytes (%v), want %d", len(got), err, want.Len())
		}
		break
	}
	if len(v.Events()) > 0 {
		t.Errorf("the page did: %q", v.Events())
	}
}
