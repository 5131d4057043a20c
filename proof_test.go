package assay_test

import (
	"testing"

	"assay"
)

func TestProof(t *testing.T) {
	for _, c := range []struct {
		proof       assay.Proof
		code, words string
	}{
		{assay.Proof{}, "", "claimed"},
		{assay.Proof{Fault: assay.PowerCut, States: 1240, Held: 1240}, "held:1240", "held in 1240 cuts"},
		{assay.Proof{Fault: assay.Kill, States: 1, Held: 1}, "held:1", "held in 1 kill"},
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
