package report

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/plans"
)

// visitor is a browser that notes everything that a page does by itself.
type visitor struct {
	context.Context
	dir    string
	mutex  sync.Mutex
	events []string
}

// newVisitor starts a browser; the test is skipped where there is none.
func newVisitor(t *testing.T) *visitor {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("no chromium on this system: reports were not opened in a browser")
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(program)}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the browser refuses root otherwise
	}
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithAllocatorOptions(options...))
	t.Cleanup(cancel)
	v := &visitor{Context: ctx, dir: t.TempDir()}
	if err := chromedp.Listen(ctx, v.note); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	return v
}

// note keeps what no page of ours may cause. A dialog is closed, since the page
// waits for it.
func (v *visitor) note(event any) {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	switch event := event.(type) {
	case *page.EventJavascriptDialogOpening:
		v.events = append(v.events, "dialog "+event.Message)
		go func() {
			_, _ = chromedp.Call(v, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
		}()
	case *runtime.EventConsoleAPICalled:
		v.events = append(v.events, "console "+string(event.Type))
	case *runtime.EventExceptionThrown:
		v.events = append(v.events, "exception "+event.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		v.events = append(v.events, "log "+event.Entry.Text)
	case *network.EventRequestWillBeSent:
		if url := event.Request.URL; !strings.HasPrefix(url, "data:") && event.Type != network.ResourceTypeDocument {
			v.events = append(v.events, "request "+url)
		}
	}
}

// open shows a text at a width, with all details open, and returns what it did.
func (v *visitor) open(t *testing.T, text []byte, width int64) []string {
	t.Helper()
	path := filepath.Join(v.dir, "report.html")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	v.mutex.Lock()
	v.events = nil
	v.mutex.Unlock()
	err := chromedp.Do(v, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path),
		chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true)`))
	if err != nil {
		t.Fatal(err)
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.events
}

// evaluate asks the page.
func evaluate[T any](t *testing.T, v *visitor, expression string) T {
	t.Helper()
	answer, err := chromedp.Run(v, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return answer
}

// What the other tests look for is seen where it is.
func TestBrowserNotesWhatHappens(t *testing.T) {
	v := newVisitor(t)
	for text, want := range map[string]string{
		`<script>alert("hello")</script>`:  "dialog hello",
		`<script>console.log(1)</script>`:  "console log",
		`<script>throw 1</script>`:         "exception Uncaught",
		`<img src="http://127.0.0.1:9/x">`: "request http://127.0.0.1:9/x",
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'"><p style="color:red">`: "log Applying inline style violates",
	} {
		if got := strings.Join(v.open(t, []byte("<!DOCTYPE html><title>x</title>"+text), 1280), "; "); !strings.Contains(got, want) {
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
	v := newVisitor(t)
	for name, r := range reports(t) {
		text, _ := mustHTML(t, r)
		for _, width := range []int64{1280, 360} {
			t.Run(fmt.Sprint(name, "/", width), func(t *testing.T) {
				if did := v.open(t, text, width); len(did) > 0 {
					t.Errorf("the page did: %q", did)
				}
				if over := evaluate[int](t, v, `document.scrollingElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("the page is %d pixels too wide; by %s", over, evaluate[string](t, v, widest))
				}
				got := evaluate[[]string](t, v, drawn)
				if want := fmt.Sprint(len(r.Charts())); got[0] != want || len(got) > 1 {
					t.Errorf("%s of %s charts are drawn; wrong are %q", got[0], want, got[1:])
				}
			})
		}
		pdf, err := chromedp.Run(v, chromedp.PrintToPDF())
		if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) || len(pdf) < 20_000 {
			t.Errorf("%s: %d bytes of PDF, %v", name, len(pdf), err)
		}
	}
}

// widest names what sticks out of the page.
const widest = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll, figure, pre")).map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40)).slice(0, 3).join("; ")`

// hostile are texts that try to become more than text.
var hostile = []string{
	`<script>alert("script")</script>`, `<img src=x onerror=alert("img")>`, `"><svg onload=alert("svg")>`, `javascript:alert("url")`,
	`'-alert("quote")-'`, `</style><script>alert("style")</script>`, `</text></svg><script>alert("text")</script>`, `]]><script>alert("cdata")</script>`,
	`{{.}}`, `<a href="http://127.0.0.1:9/link">x</a>`, `" style="background:url(http://127.0.0.1:9/style)`, `=HYPERLINK("http://127.0.0.1:9/csv")`,
	strings.Repeat("unbroken", 60),
}

// hostileReport has a hostile text wherever a user, a plan or a worker can put
// one.
func hostileReport(t *testing.T) *Report {
	t.Helper()
	all := strings.Join(hostile, " ")
	run, sample := analysistest.SampleRun()
	run.ID, run.Plan, run.PlanText, run.PlanFile, run.Version = "../"+all, all, all, "/"+all, all
	run.Host = map[string]string{"cpu": all, all: all}
	run.Options.Drivers = []string{all}
	for i := range run.Targets {
		run.Targets[i].Facts["api"], run.Targets[i].EngineVersion = all+fmt.Sprint(i), all
		run.Targets[i].CompileOptions = []string{"THREADSAFE=" + all + fmt.Sprint(i)}
	}
	var trials []assay.Trial
	for i, h := range hostile {
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
	v := newVisitor(t)
	text, _ := mustHTML(t, hostileReport(t))
	open := bytes.Replace(text, []byte(`http-equiv="Content-Security-Policy"`), []byte(`name="nothing"`), 1)
	if len(open) == len(text) {
		t.Fatal("the page has no policy")
	}
	if did := v.open(t, open, 1280); len(did) > 0 {
		t.Errorf("the page did: %q", did)
	}
}

// A chart's file with hostile names does nothing either.
func TestHostileChartInBrowser(t *testing.T) {
	v := newVisitor(t)
	for _, named := range hostileReport(t).Charts()[:3] {
		svg, err := named.Chart.File()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(v.dir, named.Name+".svg")
		if err := os.WriteFile(path, svg, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(v, chromedp.Navigate("file://"+path)); err != nil {
			t.Fatal(err)
		}
		if root := evaluate[string](t, v, `document.documentElement.tagName`); root != "svg" {
			t.Errorf("%s is not drawn: its root is %s", named.Name, root)
		}
	}
	if len(v.events) > 0 {
		t.Errorf("the charts did: %q", v.events)
	}
}

// Dark is dark, in charts too, and paper is light.
func TestHTMLThemes(t *testing.T) {
	v := newVisitor(t)
	run, trials := analysistest.SampleRun()
	text, _ := mustHTML(t, mustReport(t, run, trials))
	v.open(t, text, 1280)
	for _, test := range []struct{ media, scheme, want string }{
		{"screen", "light", "rgb(255, 255, 255) rgb(255, 255, 255) rgb(26, 29, 33)"},
		{"screen", "dark", "rgb(21, 24, 28) rgb(21, 24, 28) rgb(232, 234, 237)"},
		{"print", "dark", "rgb(255, 255, 255) rgb(255, 255, 255) rgb(26, 29, 33)"},
	} {
		_, err := chromedp.Call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media: test.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: test.scheme}}})
		if err != nil {
			t.Fatal(err)
		}
		got := evaluate[string](t, v, `[getComputedStyle(document.documentElement).backgroundColor,
			getComputedStyle(document.querySelector("svg .f0")).fill, getComputedStyle(document.querySelector("svg .f1")).fill].join(" ")`)
		if got != test.want {
			t.Errorf("%s %s: %s, want %s", test.media, test.scheme, got, test.want)
		}
	}
}

// The CSV that the browser saves is the CSV.
func TestHTMLDownloadInBrowser(t *testing.T) {
	v := newVisitor(t)
	run, trials := analysistest.SampleRun()
	r := mustReport(t, run, trials)
	text, _ := mustHTML(t, r)
	v.open(t, text, 1280)
	progress := chromedp.Events(v, browser.DownloadProgress)
	events := true
	_, err := chromedp.Call(v, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: v.dir, EventsEnabled: &events})
	if err != nil {
		t.Fatal(err)
	}
	evaluate[chromedp.Void](t, v, `document.querySelector("#downloads a").click()`)
	for event, err := range progress {
		if err != nil {
			t.Fatal(err)
		}
		if event.State == browser.DownloadProgressStateInProgress {
			continue
		}
		got, err := os.ReadFile(filepath.Join(v.dir, event.GUID))
		var want bytes.Buffer
		_ = r.Write(&want, "csv")
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("saved %d bytes (%v), want %d", len(got), err, want.Len())
		}
		break
	}
	if len(v.events) > 0 {
		t.Errorf("the page did: %q", v.events)
	}
}
