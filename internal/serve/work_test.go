package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay"
)

// A reader waits for a moment only, and sees what was known before; what takes long goes
// on, and only once.
func TestSlowWork(t *testing.T) {
	s := shelf{life: t.Context(), patience: time.Nanosecond}
	var w work[int]
	let, made := make(chan struct{}), 0
	produce := func(runs ...assay.Run) (int, age, error) {
		return ask(t.Context(), &s, &w, runs, func(context.Context) (int, error) { <-let; made++; return len(runs), nil })
	}
	finish := func() {
		s.mutex.Lock()
		going := w.going
		s.mutex.Unlock()
		let <- struct{}{}
		<-going
	}
	want := func(what string, value int, a age, runs ...assay.Run) {
		t.Helper()
		got, of, err := produce(runs...)
		if got != value || of != a || err != nil {
			t.Errorf("%s: got %d of age %d, %v, want %d of age %d", what, got, of, err, value, a)
		}
	}
	first, second := assay.Run{ID: "1"}, assay.Run{ID: "2"}
	want("at first", 0, none, first)
	want("asked again", 0, none, first)
	finish()
	want("made", 1, current, first)
	want("with another run", 1, earlier, first, second)
	finish()
	want("made anew", 2, current, first, second)
	second.Proofs = []assay.Proof{{Target: "a"}}
	want("with a proof", 2, earlier, first, second)
	finish()
	want("in the end", 2, current, first, second)
	if made != 3 {
		t.Errorf("made %d times, want 3", made)
	}
}

// What could not be made is an error, and tried again.
func TestSlowWorkFails(t *testing.T) {
	s := shelf{life: t.Context(), patience: time.Hour}
	var w work[int]
	cause := errors.New("no disk")
	for _, want := range []error{cause, nil} {
		value, a, err := ask(t.Context(), &s, &w, []assay.Run{{ID: "1"}}, func(context.Context) (int, error) { return 7, want })
		if !errors.Is(err, want) || want == nil && (value != 7 || a != current) {
			t.Errorf("got %d of age %d, %v, want the error %v", value, a, err, want)
		}
	}
}

// Pages whose work is not done say so; those of which nothing is known are loaded again.
func TestPagesOfSlowWork(t *testing.T) {
	s := sampleStore(t, 2)
	addMachines(t, s, map[string]string{"cpu": "x"})
	addClaimed(t, s, "20261202-000000-0001", "x", 8000)
	l := newLibrary(t.Context(), s, time.Nanosecond)
	web := &server{Options: Options{Store: s}, library: l}
	l.machines["everywhere"] = &work[acrossRuns]{going: make(chan struct{})} // which does not end
	l.verdict.going = make(chan struct{})
	show := func(page func(context.Context, *http.Request, *answer) error, path string) *answer {
		t.Helper()
		a := &answer{header: http.Header{}, status: http.StatusOK}
		r, err := http.NewRequestWithContext(t.Context(), "GET", path, nil)
		if err == nil {
			err = page(t.Context(), r, a)
		}
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for path, page := range map[string]func(context.Context, *http.Request, *answer) error{"/machines?plan=everywhere": web.machines, "/claims": web.claims} {
		a := show(page, path)
		if text := a.body.String(); a.header.Get("Refresh") != reload || !strings.Contains(text, "the page reloads by itself in a moment") ||
			strings.Contains(text, "No two machines") || strings.Contains(text, "No finished run") {
			t.Errorf("%s: got Refresh %q and\n%s\nwant that it is being computed", path, a.header.Get("Refresh"), text)
		}
	}
	l.machines["everywhere"].known, l.verdict.known = true, true // of no run
	for path, page := range map[string]func(context.Context, *http.Request, *answer) error{"/machines?plan=everywhere": web.machines, "/claims": web.claims} {
		a := show(page, path)
		if a.header.Get("Refresh") != "" || !strings.Contains(a.body.String(), "reload the page to see them") {
			t.Errorf("%s: got Refresh %q and\n%s\nwant what was known, and that more is coming", path, a.header.Get("Refresh"), &a.body)
		}
	}
}
