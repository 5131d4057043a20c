package store

import (
	"bytes"
	"os"
	"path/filepath"
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
	inMemory := more
	inMemory.FileSystem, inMemory.States, inMemory.Held, inMemory.Refuted, inMemory.Kind = assay.Tmpfs, 9, 8, 1, assay.Corrupts
	must(t, s.KeepProof(t.Context(), "text", inMemory))
	must(t, s.KeepProof(t.Context(), "text", more)) // of another file system: it restores nothing
	all, err := s.Proofs(t.Context(), "text")
	if diff := cmp.Diff([]assay.Proof{more, inMemory}, all, sameTime); err != nil || diff != "" {
		t.Errorf("with one in memory: error %v, (-want +got)\n%s", err, diff)
	}
	run, err := s.Run(t.Context(), "other")
	must(t, err)
	if len(run.Proofs) > 0 {
		t.Errorf("a plan with another text has the proofs %+v", run.Proofs)
	}
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
