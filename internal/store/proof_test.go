package store

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay"

	"github.com/google/go-cmp/cmp"
)

// Proofs stand at the runs of a plan with the same text, and of no other one. A
// refutation is not forgotten because fewer states were tried later.
func TestProofs(t *testing.T) {
	s := fresh(t)
	proof := assay.Proof{Target: "mattn@v1", Build: "b", Profile: "web", Fault: assay.PowerCut, Claimed: assay.Power, States: 100, Held: 100}
	refuted := proof
	refuted.Held, refuted.Refuted, refuted.Kind, refuted.Replay = 99, 1, assay.LosesCommits, "abc"
	again := refuted
	again.States, again.Held, again.Replay = 50, 49, "abd"
	fewer, more := proof, proof
	fewer.States, fewer.Held, more.States, more.Held = 50, 50, 200, 200
	same, other := start("same", "quick", 0), start("other", "quick", 1)
	same.PlanText, other.PlanText = "text", "another text"
	must(t, s.Begin(t.Context(), same))
	must(t, s.Begin(t.Context(), other))
	for i, step := range []struct{ keep, want assay.Proof }{{proof, proof}, {fewer, proof}, {refuted, refuted}, {fewer, refuted}, {proof, proof},
		{refuted, refuted}, {again, again}, {fewer, fewer}, {more, more}} {
		must(t, s.KeepProof(t.Context(), "text", step.keep))
		run, err := s.Run(t.Context(), "same")
		must(t, err)
		if diff := cmp.Diff([]assay.Proof{step.want}, run.Proofs, sameTime); diff != "" {
			t.Errorf("step %d: proofs (-want +got)\n%s", i, diff)
		}
		all, err := s.Proofs(t.Context(), "text")
		if diff := cmp.Diff(run.Proofs, all, sameTime); err != nil || diff != "" {
			t.Errorf("step %d, by the plan's text: error %v, (-want +got)\n%s", i, err, diff)
		}
	}
	onXFS := more
	onXFS.FileSystem, onXFS.States, onXFS.Held, onXFS.Refuted, onXFS.Kind = assay.XFS, 9, 8, 1, assay.Corrupts
	must(t, s.KeepProof(t.Context(), "text", onXFS))
	must(t, s.KeepProof(t.Context(), "text", more)) // of another file system: it restores nothing
	all, err := s.Proofs(t.Context(), "text")
	if diff := cmp.Diff([]assay.Proof{more, onXFS}, all, sameTime); err != nil || diff != "" {
		t.Errorf("with one on XFS: error %v, (-want +got)\n%s", err, diff)
	}
	run, err := s.Run(t.Context(), "other")
	must(t, err)
	if len(run.Proofs) > 0 {
		t.Errorf("a plan with another text has the proofs %+v", run.Proofs)
	}
}

// proofIn is a proof of a profile that held in some states.
func proofIn(states int, profile string) assay.Proof {
	return assay.Proof{Target: "mattn@v1", Build: "b", Profile: profile, Fault: assay.PowerCut, Claimed: assay.Power, States: states, Held: states}
}

// refute makes it one that was refuted in one state.
func refute(p assay.Proof) assay.Proof {
	p.Held, p.Refuted, p.Kind, p.Replay = p.States-1, 1, assay.LosesCommits, "abc"
	return p
}

// wantProofs checks that a store has these proofs of the plan, in order.
func wantProofs(t *testing.T, location string, want ...assay.Proof) {
	t.Helper()
	got, err := open(t, location).Proofs(t.Context(), "text")
	if diff := cmp.Diff(want, got, sameTime); err != nil || diff != "" {
		t.Errorf("proofs: error %v, (-want +got)\n%s", err, diff)
	}
}

// A proof that is made while the server is away comes when it is back, and changes what
// it would have changed in time: the refutation of what others kept before, and nothing
// that others kept since.
func TestProofsWhileServerIsAway(t *testing.T) {
	atOnce(t)
	n, at, direct := behindNetwork(t)
	s, other := open(t, at), open(t, direct)
	keep := func(s *Store, p assay.Proof) { t.Helper(); must(t, s.KeepProof(t.Context(), "text", p)) }
	keepAt := func(when string, p assay.Proof) { // by another store
		t.Helper()
		keep(other, p)
		asAdmin(t, "\\connect "+nameOf(t, direct)+"\nUPDATE assay.proof SET proved = '"+when+"' WHERE profile = '"+p.Profile+"'")
	}
	keepAt("2020-01-01T00:00:00Z", proofIn(100, "before"))
	n.set(true, false)
	for _, profile := range []string{"before", "since"} {
		keep(s, refute(proofIn(50, profile)))
	}
	if err := s.Deliver(t.Context()); !errors.As(err, new(*UndeliveredError)) || spooled(t) != 1 {
		t.Errorf("while the server is away: got %v and %d spools, want an UndeliveredError and 1", err, spooled(t))
	}
	keepAt("2999-01-01T00:00:00Z", proofIn(60, "since"))
	n.set(false, false)
	must(t, s.Deliver(t.Context()))
	if spooled(t) != 0 {
		t.Errorf("with the server back: got %d spools, want none", spooled(t))
	}
	wantProofs(t, direct, refute(proofIn(50, "before")), proofIn(60, "since"))
}

// The server has the commit of a proof and its answer is lost; then the process ends
// before the server is back, and the next one delivers what it left.
func TestProofWithoutAnswer(t *testing.T) {
	atOnce(t)
	n, at, direct := behindNetwork(t)
	s := open(t, at)
	n.mutex.Lock()
	n.atCommit = true
	n.mutex.Unlock()
	must(t, s.KeepProof(t.Context(), "text", proofIn(10, "a")))
	n.set(true, false)
	must(t, s.KeepProof(t.Context(), "text", proofIn(20, "b")))
	must(t, s.Close())
	wantProofs(t, direct, proofIn(10, "a"))
	n.set(false, false)
	next := open(t, at)
	if notes := strings.Join(next.Notes(), "\n"); spooled(t) != 0 || !strings.Contains(notes, "(results: 2)") {
		t.Errorf("got %d spools and the notes %q, want none and 2 results delivered", spooled(t), notes)
	}
	wantProofs(t, direct, proofIn(10, "a"), proofIn(20, "b"))
}

// A store that cannot keep proofs says so before one is made; asking keeps none.
func TestCheckProofs(t *testing.T) {
	s := fresh(t)
	must(t, s.CheckProofs(t.Context()))
	if got, err := s.Proofs(t.Context(), ""); err != nil || len(got) > 0 {
		t.Errorf("got %+v, %v, want no proof", got, err)
	}
}

// A store whose proofs are on a damaged page is told before a proof is made.
func TestCheckProofsOfDamagedStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := Open(t.Context(), path)
	must(t, err)
	var page, size int64
	must(t, s.db.QueryRow("SELECT rootpage FROM sqlite_master WHERE name = 'proof'").Scan(&page))
	must(t, s.db.QueryRow("PRAGMA page_size").Scan(&size))
	must(t, s.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	copy(data[(page-1)*size:page*size], bytes.Repeat([]byte{0xff}, int(size)))
	must(t, os.WriteFile(path, data, 0o600))
	s, err = Open(t.Context(), path)
	must(t, err)
	defer s.Close()
	expect(t, s.CheckProofs(t.Context()), nil, "the database is damaged")
}

func TestCheckProofsOfReader(t *testing.T) {
	at := database(t, admin, true)
	asAdmin(t, "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'only_reads') THEN CREATE ROLE only_reads LOGIN; END IF; END $$")
	asAdmin(t, "\\connect "+nameOf(t, at)+"\nGRANT USAGE ON SCHEMA assay TO only_reads; GRANT SELECT ON ALL TABLES IN SCHEMA assay TO only_reads")
	s := open(t, serverURL(private.folder, nameOf(t, at), url.User("only_reads")))
	expect(t, s.CheckProofs(t.Context()), nil, "the role may not do that")
}

// nameOf is the name of a database in a URL.
func nameOf(t *testing.T, location string) string {
	t.Helper()
	u, err := url.Parse(location)
	must(t, err)
	return strings.TrimPrefix(u.Path, "/")
}
