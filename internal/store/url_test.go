package store

import "testing"

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
