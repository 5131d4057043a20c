package assay_test

import (
	"cmp"
	"testing"

	"assay"
)

func TestProof(t *testing.T) {
	for _, c := range []struct {
		proof       assay.Proof
		code, words string
	}{
		{assay.Proof{}, "", "claimed"},
		{assay.Proof{Fault: assay.PowerCut, States: 1240, Held: 1240}, "held:1240", "held in 1240 power cuts"},
		{assay.Proof{Fault: assay.PowerCut, FileSystem: assay.Tmpfs, States: 3, Held: 3}, "held:3", "held in 3 power cuts on tmpfs"},
		{assay.Proof{Fault: assay.FileCut, States: 2, Held: 2}, "held:2", "held in 2 power cuts of a file model"},
		{assay.Proof{Fault: assay.Kill, States: 1, Held: 1}, "held:1", "held in 1 kill"},
		{assay.Proof{Fault: assay.PowerCut, Claimed: assay.Process, States: 40, Held: 40}, "", "promises nothing about power cuts"},
		{assay.Proof{Fault: assay.Kill, Claimed: assay.Process, States: 40, Held: 40}, "held:40", "held in 40 kills"},
		{assay.Proof{Fault: assay.Kill, Claimed: assay.None, States: 40, Held: 40}, "", "promises nothing about kills"},
		{assay.Proof{Fault: assay.PowerCut, States: 9, Held: 8, Refuted: 1, Kind: assay.LosesCommits}, "refuted:loses-commits", "refuted: loses acknowledged commits"},
	} {
		if got := c.proof.Code(); got != c.code {
			t.Errorf("Code of %+v: got %q, want %q", c.proof, got, c.code)
		}
		if got := c.proof.Words(); got != c.words {
			t.Errorf("Words of %+v: got %q, want %q", c.proof, got, c.words)
		}
	}
}

// A refutation stands for all proofs of a target, and takes away the class that
// it refutes and no other.
func TestProven(t *testing.T) {
	held := assay.Proof{Fault: assay.PowerCut, States: 9, Held: 9}
	refuted := func(f assay.Fault, k assay.Refutation) assay.Proof {
		return assay.Proof{Fault: f, States: 9, Held: 8, Refuted: 1, Kind: k}
	}
	killed := assay.Proof{Fault: assay.Kill, States: 5, Held: 5}
	ofProcess := func(f assay.Fault, states int) assay.Proof {
		return assay.Proof{Fault: f, Claimed: assay.Process, States: states, Held: states}
	}
	inMemory := assay.Proof{Fault: assay.PowerCut, FileSystem: assay.Tmpfs, States: 8, Held: 8}
	lost, corrupt := refuted(assay.PowerCut, assay.LosesCommits), refuted(assay.FailingIO, assay.Corrupts)
	for _, c := range []struct {
		all  []assay.Proof
		want assay.Proof
	}{{nil, assay.Proof{}}, {[]assay.Proof{killed}, assay.Proof{}}, {[]assay.Proof{killed, held}, held}, {[]assay.Proof{held, inMemory}, held}, {[]assay.Proof{inMemory, held}, held}, {[]assay.Proof{held, lost, corrupt}, corrupt}, {[]assay.Proof{corrupt, lost, held}, corrupt},
		{[]assay.Proof{ofProcess(assay.PowerCut, 9), ofProcess(assay.Kill, 4), ofProcess(assay.FailingIO, 9)}, ofProcess(assay.Kill, 4)},
		{[]assay.Proof{ofProcess(assay.PowerCut, 9), ofProcess(assay.FileCut, 9)}, assay.Proof{}}} {
		if got := assay.Foremost(c.all); got != c.want {
			t.Errorf("Foremost of %+v: got %+v, want %+v", c.all, got, c.want)
		}
	}
	for _, c := range []struct {
		proof         assay.Proof
		claimed, want assay.Durability
		server        assay.Durability // that is left where the engine is a server; empty: the same
	}{
		{held, assay.Power, assay.Power, ""}, {lost, assay.Power, assay.Consistent, ""}, {lost, assay.DurabilityUnknown, assay.DurabilityUnknown, ""},
		{refuted(assay.PowerCut, assay.LosesLastCommit), assay.Power, assay.LastCommit, ""}, {lost, assay.LastCommit, assay.Consistent, ""},
		{corrupt, assay.LastCommit, assay.Process, ""}, {corrupt, assay.Power, assay.Process, ""}, {corrupt, assay.Consistent, assay.Process, ""},
		{refuted(assay.FailingIO, assay.LosesCommits), assay.Power, assay.Consistent, ""},
		{refuted(assay.Kill, assay.LosesCommits), assay.Power, assay.None, assay.Consistent},
		{refuted(assay.Kill, assay.LosesCommits), assay.Consistent, assay.None, assay.Consistent},
		{refuted(assay.Kill, assay.LosesCommits), assay.Process, assay.None, ""},
		{refuted(assay.Kill, assay.TearsCommits), assay.Consistent, assay.None, assay.Process},
		{refuted(assay.FullDisk, assay.Corrupts), assay.Power, assay.None, assay.Process},
		{refuted(assay.FullDisk, assay.LosesCommits), assay.Power, assay.None, assay.Consistent},
	} {
		for engine, want := range map[string]assay.Durability{"sqlite": c.want, "bbolt": c.want, "postgresql": cmp.Or(c.server, c.want)} {
			if got := c.proof.Proven(engine, c.claimed); got != want {
				t.Errorf("%s by %s leaves of %q of %s: got %q, want %q", c.proof.Kind, c.proof.Fault, c.claimed, engine, got, want)
			}
		}
	}
}
