package serve

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/serve/browser"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// hostileServer has a hostile text wherever a user, a plan or a worker can put one.
func hostileServer(t *testing.T) serving {
	t.Helper()
	s := sampleStore(t, 12)
	all := strings.Join(browser.Hostile, " ")
	for i, h := range browser.Hostile {
		run := analysistest.PlainRun
		run.ID, run.Plan, run.PlanText, run.PlanFile, run.Version = fmt.Sprintf("hostile-%d", i), h, h, "/"+h, h
		run.Started, run.Status, run.Host = analysistest.SampleStart.Add(time.Duration(i)*time.Minute), assay.Finished, map[string]string{"cpu": all, h: h}
		run.Targets = []assay.Target{{Driver: h, DriverVersion: h, Engine: h, EngineVersion: h, Build: h, Facts: map[string]string{h: h}, CompileOptions: []string{h}}}
		var trials []assay.Trial
		for j, driver := range []string{"modernc", h} {
			c := analysistest.Cell(h, driver, "web")
			c.DriverVersion, c.Params = h, map[string]string{"rows": h}
			trials = append(trials, analysistest.Change(analysistest.Launches(c, 6, 1000*float64(1+j), 1+j), func(t *assay.Trial) {
				t.Warnings = []assay.Warning{{Code: h, Evidence: h, Advice: h}}
				t.DSN, t.QueryPlan, t.Reason = h, h, h
			})...)
		}
		run.Baseline = assay.ParseBaseline("modernc@" + h)
		put(t, s, run, trials)
		proof := assay.Proof{Target: h, Build: h, Profile: h, Fault: assay.Fault(h), Claimed: assay.Durability(h), States: 2, Refuted: 2, Kind: assay.Refutation(h), Replay: h}
		must(t, s.KeepProof(t.Context(), h, proof))
	}
	return start(t, Options{Store: s, AllowImport: true})
}

// browserPages are all pages, with hostile data in them and in their addresses.
func browserPages() map[string]string {
	all := map[string]string{
		"runs": "/", "run": "/runs/hostile-0", "compare": "/compare?a=hostile-0&b=hostile-1", "two runs": "/compare?a=" + firstID + "&b=" + secondID,
		"sides": "/compare?a=mattn&b=modernc&run=" + firstID, "history": "/history?cell=read+driver%3Dmattn", "cells": "/history",
		"not found": "/runs/nosuch",
	}
	q := url.QueryEscape(strings.Join(browser.Hostile, " "))
	all["asked"] = "/compare?a=" + q + "&b=" + q + "&run=" + q
	all["filtered"] = "/?plan=" + q + "&driver=" + q + "&machine=" + q
	all["followed"] = "/history?machine=" + q + "&cell=" + q
	return all
}

func TestPagesInBrowser(t *testing.T) {
	v := browser.New(t)
	web := hostileServer(t)
	for name, path := range browserPages() {
		t.Run(name, func(t *testing.T) {
			v.Visit(t, web.url+path, 1280)
			for _, width := range []int64{1280, 390} {
				for _, event := range v.Resize(t, width) {
					if !strings.Contains(event, "Failed to load resource") { // the status of a page that says what is wrong
						t.Errorf("%d: the page did: %q", width, event)
					}
				}
				if over := browser.Evaluate[int](t, v, `document.scrollingElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("%d: the page is %d pixels too wide; by %s", width, over, browser.Evaluate[string](t, v, browser.Widest))
				}
			}
			if got := browser.Evaluate[string](t, v, `document.querySelector("h1").textContent`); got == "" {
				t.Error("the page has no heading")
			}
		})
	}
}

func TestPagesHaveThemes(t *testing.T) {
	v := browser.New(t)
	web := start(t, Options{Store: sampleStore(t, 12), AllowImport: true})
	for scheme, want := range map[string]string{"light": "rgb(255, 255, 255) rgb(255, 255, 255) rgb(255, 255, 255)", "dark": "rgb(21, 24, 28) rgb(21, 24, 28) rgb(21, 24, 28)"} {
		v.Scheme(t, "screen", scheme)
		v.Visit(t, web.url+"/history?cell=read", 1280)
		got := browser.Evaluate[string](t, v, `[document.documentElement, document.querySelector("input"), document.querySelector("select")].map(e => getComputedStyle(e).backgroundColor).join(" ")`)
		if got != want {
			t.Errorf("%s: got %s, want %s", scheme, got, want)
		}
	}
}

// press sends a key to the page.
func press(t *testing.T, v *browser.Visitor, keys ...string) {
	t.Helper()
	codes := map[string]int64{"Tab": 9, "Enter": 13, " ": 32}
	for _, key := range keys {
		text := map[string]string{"Enter": "\r", " ": " "}[key]
		for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown, input.DispatchKeyEventTypeKeyUp} {
			p := input.DispatchKeyEventParams{Type: kind, Key: key, WindowsVirtualKeyCode: codes[key]}
			if kind == input.DispatchKeyEventTypeKeyDown {
				p.Text = text
			}
			if _, err := chromedp.Call(v, input.DispatchKeyEvent, p); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// focused says what has the focus, and whether the reader sees that.
const focused = `(() => { const e = document.activeElement; return (e.ariaLabel || e.name || e.textContent || e.tagName).trim() + (getComputedStyle(e).outlineStyle == "none" ? " without an outline" : ""); })()`

// Two runs are compared without a mouse.
func TestKeyboard(t *testing.T) {
	v := browser.New(t)
	web := start(t, Options{Store: sampleStore(t, 2)})
	v.Visit(t, web.url+"/", 1280)
	var seen []string
	for range 40 {
		press(t, v, "Tab")
		at := browser.Evaluate[string](t, v, focused)
		seen = append(seen, at)
		if strings.HasSuffix(at, "without an outline") {
			t.Errorf("%q", at)
		}
		if at == "A: "+secondID || at == "B: "+secondID {
			press(t, v, " ")
		}
		if at == firstID {
			break
		}
	}
	for _, want := range []string{"Runs", "Compare", "History", "plan", "Compare A with B", "A: " + secondID, firstID} {
		if !strings.Contains("\n"+strings.Join(seen, "\n")+"\n", "\n"+want+"\n") {
			t.Errorf("the focus was on %q, want %q among them", seen, want)
		}
	}
	press(t, v, "Enter") // on the link to the first run
	deadline := time.Now().Add(20 * time.Second)
	for browser.Evaluate[string](t, v, `location.pathname`) != "/runs/"+firstID {
		if time.Now().After(deadline) {
			t.Fatalf("at %s, want the run", browser.Evaluate[string](t, v, `location.href`))
		}
		time.Sleep(50 * time.Millisecond)
	}
}
