// Package browser opens pages in a real browser, for tests, and tells what they
// do by themselves.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Visitor is a tab of the browser that notes everything that a page does by itself.
type Visitor struct {
	context.Context
	Dir    string // for files of the test
	mutex  sync.Mutex
	events []string
}

// Main runs the tests of a package, and stops the browser that they shared.
func Main(m *testing.M) int {
	defer func() { stop() }()
	return m.Run()
}

// stop stops the browser, if start started one.
var stop = func() {}

// start starts the browser once for all tests of a package. Without a program to
// start, the context is nil.
var start = sync.OnceValues(func() (context.Context, error) {
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		return nil, nil
	}
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(program)}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the browser refuses root otherwise
	}
	ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(options...))
	stop = cancel
	if err := chromedp.Do(ctx); err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return ctx, nil
})

// New opens a tab; the test is skipped where there is no browser.
func New(t *testing.T) *Visitor {
	t.Helper()
	all, err := start()
	if err != nil {
		t.Fatal(err)
	}
	if all == nil {
		t.Skip("no chromium on this system: pages were not opened in a browser")
	}
	ctx, late := context.WithTimeout(all, 10*time.Minute)
	t.Cleanup(late)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	v := &Visitor{Context: ctx, Dir: t.TempDir()}
	if err := chromedp.Listen(ctx, v.note); err != nil {
		t.Fatal(err)
	}
	return v
}

// note keeps what no page of ours may cause. A dialog is closed, since the page
// waits for it.
func (v *Visitor) note(event any) {
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

// Visit opens an address at a width, with all details open, and returns what the
// page did by itself.
func (v *Visitor) Visit(t *testing.T, url string, width int64) []string {
	t.Helper()
	v.mutex.Lock()
	v.events = nil
	v.mutex.Unlock()
	err := chromedp.Do(v, chromedp.EmulateViewport(width, 900), chromedp.Navigate(url),
		chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true)`))
	if err != nil {
		t.Fatal(err)
	}
	return v.Events()
}

// Resize gives the page that is open another width, and returns what the page
// did by itself since it was opened.
func (v *Visitor) Resize(t *testing.T, width int64) []string {
	t.Helper()
	if err := chromedp.Do(v, chromedp.EmulateViewport(width, 900)); err != nil {
		t.Fatal(err)
	}
	return v.Events()
}

// Events returns what was noted since the last visit began.
func (v *Visitor) Events() []string {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.events
}

// Scheme sets the medium and whether the reader prefers light or dark.
func (v *Visitor) Scheme(t *testing.T, media, scheme string) {
	t.Helper()
	_, err := chromedp.Call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		t.Fatal(err)
	}
}

// Evaluate asks the page.
func Evaluate[T any](t *testing.T, v *Visitor, expression string) T {
	t.Helper()
	answer, err := chromedp.Run(v, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return answer
}

// Widest names what is wider than the page.
const Widest = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest(".scroll, figure, pre")).map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40)).slice(0, 3).join("; ")`

// Hostile are texts that try to become more than text.
var Hostile = []string{
	`<script>alert("script")</script>`, `<img src=x onerror=alert("img")>`, `"><svg onload=alert("svg")>`, `javascript:alert("url")`,
	`'-alert("quote")-'`, `</style><script>alert("style")</script>`, `</text></svg><script>alert("text")</script>`, `]]><script>alert("cdata")</script>`,
	`{{.}}`, `<a href="http://127.0.0.1:9/link">x</a>`, `" style="background:url(http://127.0.0.1:9/style)`, `=HYPERLINK("http://127.0.0.1:9/csv")`,
	strings.Repeat("unbroken", 60),
}
