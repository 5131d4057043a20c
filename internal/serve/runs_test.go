package serve

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
)

// Each part of a query selects runs by itself.
func TestRunsQuery(t *testing.T) {
	run := assay.Run{Plan: "quick", Host: map[string]string{"cpu": "x", "filesystem": "ext4"}, Targets: []assay.Target{{Driver: "modernc"}, {Driver: "mattn"}}}
	for query, want := range map[string]bool{
		"": true, "plan=quick": true, "plan=kv": false, "driver=mattn": true, "driver=bbolt": false, "machine=x": false, "machine=" + url.QueryEscape(machines([]assay.Run{run})[0]): true,
		"plan=quick&driver=modernc&machine=x, filesystem ext4": true, "plan=kv&driver=modernc&machine=x, filesystem ext4": false,
	} {
		values, err := url.ParseQuery(query)
		must(t, err)
		if got := newRunsQuery(values).has(run); got != want {
			t.Errorf("%q: got that it has the run: %v, want %v", query, got, want)
		}
	}
}

// Pages have all runs of a selection once, and lead to each other.
func TestPagesOfRuns(t *testing.T) {
	all := make([]assay.Run, 2*pageLength+1)
	for i := range all {
		all[i].ID = fmt.Sprint("run-", i)
	}
	for _, test := range []struct {
		page                int
		runs                []assay.Run
		first, last         string
		shown, newer, older string
	}{
		{0, all, "run-0", "run-99", "1 to 100 of 201 runs", "", "/?driver=d&machine=m&page=1&plan=p"},
		{1, all, "run-100", "run-199", "101 to 200 of 201 runs", "/?driver=d&machine=m&page=0&plan=p", "/?driver=d&machine=m&page=2&plan=p"},
		{2, all, "run-200", "run-200", "201 to 201 of 201 runs", "/?driver=d&machine=m&page=1&plan=p", ""},
		{0, all[:pageLength], "run-0", "run-99", "1 to 100 of 100 runs", "", ""},
	} {
		v := runsView{Query: runsQuery{"p", "d", "m", test.page}}
		v.list(slices.Clone(test.runs))
		if len(v.Runs) == 0 || v.Runs[0].ID != test.first || v.Runs[len(v.Runs)-1].ID != test.last {
			t.Errorf("page %d: got the runs %v, want %s to %s", test.page, v.Runs, test.first, test.last)
		}
		if v.Shown != test.shown || v.Newer != test.newer || v.Older != test.older {
			t.Errorf("page %d: got %q, newer %q, older %q, want %q, %q, %q", test.page, v.Shown, v.Newer, v.Older, test.shown, test.newer, test.older)
		}
	}
}

// A line says when a run started in UTC, wherever the run and the server are, and that it
// was imported; what can be chosen is sorted, and there once.
func TestListOfRuns(t *testing.T) {
	v := runsView{}
	v.list([]assay.Run{{ID: "a", Started: time.Date(2026, 11, 1, 3, 0, 0, 0, time.FixedZone("east", 2*60*60)), Status: assay.Finished, Imported: true}})
	if got, want := v.Runs[0].Started+" "+v.Runs[0].Status, "2026-11-01 01:00:00 finished, imported"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s := sampleStore(t, 2)
	run := analysistest.PlainRun
	run.ID, run.Plan, run.PlanText, run.Started, run.Status = "20261001-000000-0001", "zoo", "name: zoo\n", analysistest.SampleStart, assay.Finished
	put(t, s, run, nil)
	_, text := start(t, Options{Store: s}).ask(t, "GET", "/", nil, nil)
	options, _, _ := strings.Cut(text, "</select>")
	if got := strings.Count(options, ">quick</option>"); got != 1 || strings.Index(options, ">quick<") > strings.Index(options, ">zoo<") {
		t.Errorf("got quick %d times, in\n%s\nwant quick once, before zoo", got, options)
	}
}

// What a page says when it fails is a page, whatever was begun before.
func TestFailReplacesThePage(t *testing.T) {
	logged := &bytes.Buffer{}
	web := &server{Options: Options{Log: logged}}
	a := &answer{header: map[string][]string{"Content-Type": {"application/octet-stream"}, "Content-Disposition": {"attachment"}}}
	a.body.WriteString("half of a file")
	web.fail(a, fmt.Errorf("no disk"))
	if got := a.header.Get("Content-Type") + a.header.Get("Content-Disposition"); got != "text/html; charset=utf-8" || strings.Contains(a.body.String(), "half of a file") {
		t.Errorf("got the header %v and\n%s\nwant a page only", a.header, &a.body)
	}
}
