//go:build unix

package runner

import (
	"strings"
	"testing"

	"assay"
	"assay/internal/dataset"
)

// The sequence that windows use up is as long as what it draws from; where that is
// more than a sequence can have, the trial says which share was never used.
func TestSequenceLength(t *testing.T) {
	for rows, want := range map[int]struct {
		length  int
		warning string
	}{
		100:       {minSequence, ""},
		1_000_000: {1_000_000, ""},
		8_388_608: {maxSequence, "draws from 8388608 values: at least 75 % of them are never used"},
	} {
		op := assay.Operation{Name: "read", Steps: []assay.Step{{SQL: "SELECT 1", Args: []assay.Values{{Kind: assay.Uniform, From: 1, To: int64(rows)}}}}}
		j := &job{Case: assay.Case{Operation: op}, data: &dataset.Data{Spec: assay.Dataset{Tables: []assay.Table{{Rows: rows}}}}}
		length, err := inWindows{}.arguments(t.Context(), j)
		if err != nil || length != want.length {
			t.Errorf("%d rows: got a sequence of %d (%v), want %d", rows, length, err, want.length)
		}
		j.trace = &dataset.Trace{Length: length}
		warnings := j.sequenceWarning()
		if (len(warnings) > 0) != (want.warning != "") || len(warnings) > 0 && !strings.Contains(warnings[0].Evidence, want.warning) {
			t.Errorf("%d rows: got %v, want a warning: %q", rows, warnings, want.warning)
		}
		j.Operation.Count = 500
		if length, err := (inBlocks{}).arguments(t.Context(), j); err != nil || length != 550 || j.warm != 50 {
			t.Errorf("a block of 500 on %d rows: got %d arguments, of which %d are for the warm-up (%v); want 550, 50", rows, length, j.warm, err)
		}
	}
}
