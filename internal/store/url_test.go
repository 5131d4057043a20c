package store

import (
	"strings"
	"testing"
)

// What waits for a server is delivered however its URL is written.
func TestTargetOfURLs(t *testing.T) {
	const want = "results.example:5432/assay"
	for _, location := range []string{
		"postgres://me:secret@results.example/assay",
		"postgres://you@results.example:5432/assay?sslmode=disable",
		"postgresql:///assay?host=results.example",
	} {
		at, err := parseURL(location)
		if err != nil || at.target != want {
			t.Errorf("%s: got target %q, error %v, want %s", location, at.target, err, want)
		}
	}
}

// A password that is given apart is used where the URL has none, and never shown.
func TestWithPassword(t *testing.T) {
	for location, want := range map[string]string{
		"postgres://me@results.example/assay":                  "p@ss/w?rd#",
		"postgres:///assay?host=results.example&sslmode=allow": "p@ss/w?rd#",
		"postgres://me:own@results.example/assay":              "own",
		"postgres://me@results.example/assay?password=own":     "own",
	} {
		at, err := parseURL(WithPassword(location, "p@ss/w?rd#"))
		if err != nil || at.config.Password != want || strings.Contains(at.name, "rd") || at.config.Host != "results.example" {
			t.Errorf("%s: got %q, password %q at %s, error %v; want the password %q, not shown", location, at.name, at.config.Password, at.config.Host, err, want)
		}
	}
	for _, location := range []string{"file.db", "postgres://me@results.example/assay?a=b"} {
		if got := WithPassword(location, ""); got != location {
			t.Errorf("%s without a password: got %s", location, got)
		}
	}
	if got := WithPassword("file.db", "secret"); got != "file.db" {
		t.Errorf("a file: got %s", got)
	}
}

// A spool has the entries that it was told to keep, whatever was written in part.
func TestSpoolsThatOthersLeaveAlone(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	s := &Store{name: "here", target: "here"}
	p, err := s.openSpool(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	other := &Store{name: "there", target: "there"}
	other.deliverLeft(t.Context())
	if err := p.remove(); err != nil || len(other.notes) > 0 {
		t.Errorf("got error %v and notes %q, want a spool that is still there and nothing said", err, other.notes)
	}
}
