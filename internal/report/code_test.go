package report

import (
	"strings"
	"testing"
)

// Where the worker says how programs in its language open a database, the screen and
// the report show that code, and not the DSN and the SQL alone.
func TestCodeIsShown(t *testing.T) {
	const (
		open    = `connection = sqlite3.connect("file:app.db", uri=True)`
		execute = `connection.executescript("PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL")`
	)
	run, trials := readsOf(8, "python", "mattn")
	for i := range run.Targets {
		if run.Targets[i].Driver == "python" {
			run.Targets[i].Facts["open"], run.Targets[i].Facts["execute"] = "connection = sqlite3.connect({{dsn}}, uri=True)", "connection.executescript({{sql}})"
		}
	}
	for i := range trials {
		trials[i].DSN = "file:{{path}}"
		trials[i].Each = []string{"PRAGMA busy_timeout = 5000", "PRAGMA synchronous = NORMAL"}
	}
	r := mustReport(t, run, trials)
	var screen, markdown strings.Builder
	must(t, r.WriteScreen(&screen, Screen{Width: 80}))
	must(t, r.Write(&markdown, "markdown"))
	for name, text := range map[string]string{"screen": screen.String(), "markdown": markdown.String()} {
		for _, line := range []string{open, execute} {
			if n := strings.Count(text, line); n == 0 || n > 2 {
				t.Errorf("%s: got %d times %s, want it; it is\n%s", name, n, line, text)
			}
		}
	}
	if strings.Contains(screen.String(), "\n  file:app.db\n") {
		t.Errorf("got the DSN beside the code:\n%s", screen.String())
	}
}

// How the clients of a runtime with one thread run is said once, behind the gravest
// finding, where several clients were measured.
func TestClientsAreSaidOnce(t *testing.T) {
	for clients, want := range map[int]int{1: 0, 8: 1} {
		run, trials := readsOf(8, "mattn", "node")
		for i := range run.Targets {
			if run.Targets[i].Driver == "node" {
				run.Targets[i].Facts["clients"] = "take turns, in one thread"
			}
		}
		for i := range trials {
			trials[i].Cell.Clients = clients
			trials[i].Figures["busy/op"] = 14
		}
		var out strings.Builder
		must(t, mustReport(t, run, trials).WriteScreen(&out, Screen{Width: 100}))
		const words = "\n  ! several clients: take turns, in one thread (node)\n"
		if got := strings.Count(out.String(), words); got != want {
			t.Errorf("%d clients: got the words %d times, want %d:\n%s", clients, got, want, out.String())
		}
		if clients > 1 && strings.Index(out.String(), words) < strings.Index(out.String(), "! busy") {
			t.Errorf("got the words before the gravest finding:\n%s", out.String())
		}
	}
}
