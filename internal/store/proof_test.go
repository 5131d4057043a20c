package store

import (
	"reflect"
	"testing"

	"assay"
)

// Proofs stand at the runs of a plan with the same text, and of no other one. A
// refutation is not forgotten because fewer states were tried later.
func TestProofs(t *testing.T) {
	s := fresh(t)
	proof := assay.Proof{Target: "mattn@v1", Build: "b", Profile: "web", Fault: assay.PowerCut, Claimed: assay.Power, States: 100, Held: 100}
	refuted := proof
	refuted.Held, refuted.Refuted, refuted.Kind, refuted.Replay = 99, 1, assay.LosesCommits, "abc"
	fewer, more := proof, proof
	fewer.States, fewer.Held, more.States, more.Held = 50, 50, 200, 200
	same, other := start("same", "quick", 0), start("other", "quick", 1)
	same.PlanText, other.PlanText = "text", "another text"
	must(t, s.Begin(t.Context(), same))
	must(t, s.Begin(t.Context(), other))
	for i, step := range []struct{ keep, want assay.Proof }{{proof, proof}, {fewer, proof}, {refuted, refuted}, {fewer, refuted}, {more, more}} {
		must(t, s.KeepProof(t.Context(), "text", step.keep))
		run, err := s.Run(t.Context(), "same")
		must(t, err)
		if want := []assay.Proof{step.want}; !reflect.DeepEqual(run.Proofs, want) {
			t.Errorf("step %d: proofs %+v, want %+v", i, run.Proofs, want)
		}
		if all, err := s.Proofs(t.Context(), "text"); err != nil || !reflect.DeepEqual(all, run.Proofs) {
			t.Errorf("step %d: by the plan's text got %+v, %v, want %+v", i, all, err, run.Proofs)
		}
	}
	onXFS := more
	onXFS.FileSystem, onXFS.States, onXFS.Held, onXFS.Refuted, onXFS.Kind = assay.XFS, 9, 8, 1, assay.Corrupts
	must(t, s.KeepProof(t.Context(), "text", onXFS))
	must(t, s.KeepProof(t.Context(), "text", more)) // of another file system: it restores nothing
	if all, err := s.Proofs(t.Context(), "text"); err != nil || !reflect.DeepEqual(all, []assay.Proof{more, onXFS}) {
		t.Errorf("with one on XFS: got %+v, %v, want both", all, err)
	}
	run, err := s.Run(t.Context(), "other")
	must(t, err)
	if len(run.Proofs) > 0 {
		t.Errorf("a plan with another text has the proofs %+v", run.Proofs)
	}
}
