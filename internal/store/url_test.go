package store

import (
	"strings"
	"testing"
)

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
