package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"assay/internal/serve/browser"
)

// choose sets a control as a reader does, and tells what the page shows then.
func choose(t *testing.T, v *browser.Visitor, control string) {
	t.Helper()
	browser.Evaluate[chromedp.Void](t, v, control+`; document.getElementById("controls").dispatchEvent(new Event("change"))`)
}

// What the page shows: the first line of the heat map, whose row that is, the drivers of the
// picture with the first row of each, the operations below, and the state in the address.
const shownLook = `(() => {
	const seen = e => e.getBoundingClientRect().height > 0, words = e => e.firstChild.data ?? e.firstChild.firstChild.data;
	const line = [...document.querySelectorAll(".matrix tbody tr")].find(seen);
	return [
		[...line.cells].filter(seen).map(c => words(c.firstChild)).join(" "),
		[...document.querySelectorAll(".ratios tbody")].filter(seen).map(g => g.querySelector("th").textContent + " " + words([...g.querySelectorAll("tr[data-line]")].find(seen).querySelector("td.n a"))).join(", "),
		[...document.querySelectorAll(".baseline")].map(e => e.textContent).join(" "),
		String([...document.querySelectorAll("section.operation")].filter(seen).length),
		decodeURIComponent(location.hash)];
})()`

// The controls change what is seen, the address keeps it, and a page that is opened with that
// address shows it.
func TestHTMLControls(t *testing.T) {
	v := browser.New(t)
	run, trials := decidedRun()
	text, _ := mustHTML(t, mustReport(t, run, trials))
	if did := openPage(t, v, text, 1280); len(did) > 0 {
		t.Fatalf("the page did: %q", did)
	}
	all := []string{"point-read, 100k rows 6.08 µs* 1.30x 1.60x 1.60x 2.08x 2.56x", "modernc (web) 1.30x, glebarez (web) 1.60x, mattn (default) 1.60x, modernc (default) 2.08x, glebarez (default) 2.56x", "mattn (web) mattn (web)", "3", ""}
	asked := []string{"insert, 100k rows 166 µs 1.23x 204 µs~ 265 µs~ 327 µs~", "glebarez (web) 1.23x", "modernc (web) modernc (web)", "1",
		"#baseline=modernc+(web)&sort=plan&hide=mattn+(web)&without=point-read&without=range-100"}
	for _, step := range []struct {
		control string
		want    []string
	}{
		{`0`, all},
		{`document.getElementById("baseline").value = "1"`, []string{"point-read, 100k rows 0.770x* 7.90 µs 1.23x 1.23x 1.60x 1.97x", "mattn (web) 0.770x*, glebarez (web) 1.23x, mattn (default) 1.23x, modernc (default) 1.60x, glebarez (default) 1.97x", "modernc (web) modernc (web)", "3", "#baseline=modernc+(web)"}},
		{`document.getElementById("sort").value = "plan"; document.querySelector("input[data-column='0']").checked = false; for (const box of [...document.querySelectorAll("input[data-operation]")].slice(0, 2)) box.checked = false`, asked},
	} {
		choose(t, v, step.control)
		if got := browser.Evaluate[[]string](t, v, shownLook); !slices.Equal(got, step.want) {
			t.Errorf("%s: got\n%q, want\n%q", step.control, got, step.want)
		}
	}
	address := browser.Evaluate[string](t, v, `location.href`)
	for url, want := range map[string][]string{address: asked, "file://" + filepath.Join(v.Dir, "report.html") + "#baseline=nobody&sort=x&hide=y": append(all[:4:4], "#baseline=nobody&sort=x&hide=y")} {
		v.Visit(t, "about:blank", 1280)
		v.Visit(t, url, 1280)
		if got := browser.Evaluate[[]string](t, v, shownLook); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%q, want\n%q", url, got, want)
		}
	}
}

// A link from the heat map opens what is folded, and the interval of what has the focus is seen.
func TestHTMLLinksAndTips(t *testing.T) {
	v := browser.New(t)
	run, trials := decidedRun()
	text, _ := mustHTML(t, mustReport(t, run, trials))
	path := filepath.Join(v.Dir, "report.html")
	must(t, os.WriteFile(path, text, 0o644))
	must(t, chromedp.Do(v, chromedp.EmulateViewport(1280, 900), chromedp.Navigate("file://"+path)))
	const seen = `document.querySelector("#t5 table").checkVisibility({contentVisibilityAuto: true})`
	if browser.Evaluate[bool](t, v, seen) {
		t.Error("the table is not folded")
	}
	tip := browser.Evaluate[string](t, v, `(() => { const a = document.querySelector(".matrix a[href='#t5']:has(.tip)"); a.focus(); const b = a.querySelector(".tip").getBoundingClientRect(); return b.width > 100 && b.bottom <= innerHeight && b.top >= 0 ? a.querySelector(".tip").textContent : JSON.stringify(b); })()`)
	if want := " the baseline: ns/op 128 µs [127 µs, 128 µs], n = 8"; tip != want {
		t.Errorf("got the tip %q, want %q", tip, want)
	}
	browser.Evaluate[chromedp.Void](t, v, `document.activeElement.click()`)
	if !browser.Evaluate[bool](t, v, `location.hash == "#t5" && `+seen) {
		t.Error("the link does not open its table")
	}
}

// An automated check finds nothing in the page that keeps readers out: light and wide, dark
// and narrow, with one table unfolded. It finds a button without a name.
func TestHTMLAccessible(t *testing.T) {
	v := browser.New(t)
	check := v.Accessible(t)
	run, trials := decidedRun()
	text, _ := mustHTML(t, mustReport(t, run, trials))
	path := filepath.Join(v.Dir, "report.html")
	must(t, os.WriteFile(path, text, 0o644))
	for scheme, width := range map[string]int64{"light": 1280, "dark": 390} {
		v.Scheme(t, "screen", scheme)
		must(t, chromedp.Do(v, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path)))
		browser.Evaluate[chromedp.Void](t, v, `document.querySelector("details:has(> #t1)").open = true`)
		for _, found := range check("body") {
			t.Errorf("%s, %d: %.900s", scheme, width, found)
		}
	}
	browser.Evaluate[chromedp.Void](t, v, `document.querySelector("header").append(document.createElement("button"))`)
	if got := check("header"); len(got) != 1 || !strings.HasPrefix(got[0], "button-name: ") {
		t.Errorf("got %q, want the button without a name", got)
	}
}
