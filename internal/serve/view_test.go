package serve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/doc/chart"
	"assay/internal/history"
)

// A page marks its own link, and leaves those of other pages alone.
func TestLinks(t *testing.T) {
	for _, current := range []string{"/history", "/"} {
		for _, l := range links(current) {
			if l.Current != (l.URL == current) {
				t.Errorf("%s: got that %s is the current page: %v", current, l.URL, l.Current)
			}
		}
	}
}

// A chart has the newest points, and a curve from each change point on as far as there are
// colours.
func TestSeriesChart(t *testing.T) {
	s := &history.Series{}
	for i := range maxPoints + 10 {
		s.Points = append(s.Points, history.Point{Started: analysistest.SampleStart.Add(time.Duration(i) * time.Hour)})
	}
	for _, at := range []int{20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130} {
		s.Changes = append(s.Changes, history.Change{At: at})
	}
	drawn := seriesChart(s)
	curves := drawn.Body.(*chart.Lines).Series
	if len(curves) != chart.Series || len(curves[0].Points) != 10 || len(curves[1].Points) != 10 {
		t.Errorf("got %d curves, want %d, the first of 10 points", len(curves), chart.Series)
	}
	last := curves[len(curves)-1].Points
	if first, end := curves[0].Points[0].X, last[len(last)-1].X; first != 10 || end != maxPoints+9 {
		t.Errorf("got the points %v to %v, want 10 to %d", first, end, maxPoints+9)
	}
	if want := fmt.Sprintf("(the last %d of %d runs)", maxPoints, maxPoints+10); !strings.HasSuffix(drawn.Title, want) {
		t.Errorf("got the title %q, want %q in it", drawn.Title, want)
	}
}

// Runs that did not end are in no history, and runs of no known machine are of no class.
func TestFinishedAndMachines(t *testing.T) {
	runs := []assay.Run{
		{ID: "a", Status: assay.Finished, Host: map[string]string{"cpu": "x"}}, {ID: "b", Status: assay.Running, Host: map[string]string{"cpu": "x"}},
		{ID: "c", Status: assay.Finished, Host: map[string]string{"cpu": "y"}}, {ID: "d", Status: assay.Finished}, {ID: "e", Status: assay.Finished, Host: map[string]string{"cpu": "x"}},
		{ID: "f", Status: assay.Finished, Host: map[string]string{"cpu": "x", "filesystem": "tmpfs"}},
	}
	for machine, want := range map[string]string{"": "acdef", "x": "ae", "y": "c", "x, filesystem tmpfs": "f"} {
		got := ""
		for _, run := range finished(runs, machine) {
			got += run.ID
		}
		if got != want {
			t.Errorf("of machine %q: got %q, want %q", machine, got, want)
		}
	}
	if got, want := fmt.Sprint(machines(runs)), "[x y x, filesystem tmpfs]"; got != want {
		t.Errorf("got the machines %s, want %s", got, want)
	}
}

// Comparing a run with itself is the reader's to change, and a page says what there is.
func TestCompareTells(t *testing.T) {
	web := start(t, Options{Store: sampleStore(t, 1)})
	for path, status := range map[string]int{"/compare?a=mattn&b=mattn&run=" + firstID: 400, "/compare?a=" + firstID + "&b=" + firstID: 400} {
		if answer, text := web.ask(t, "GET", path, nil, nil); answer.StatusCode != status || !strings.Contains(text, `role="alert"`) {
			t.Errorf("%s: got status %d, want %d and what is wrong\n%s", path, answer.StatusCode, status, text)
		}
	}
}
