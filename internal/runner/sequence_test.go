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
		j := &job{Case: assay.Case{Operation: op}, mode: assay.Windows, data: &dataset.Data{Spec: assay.Dataset{Tables: []assay.Table{{Rows: rows}}}}}
		length, err := sequenceLength(t.Context(), j)
		if err != nil || length != want.length {
			t.Errorf("%d rows: got a sequence of %d (%v), want %d", rows, length, err, want.length)
		}
		j.trace = &dataset.Trace{Length: length}
		warnings := j.sequenceWarning()
		if (len(warnings) > 0) != (want.warning != "") || len(warnings) > 0 && !strings.Contains(warnings[0].Evidence, want.warning) {
			t.Errorf("%d rows: got %v, want a warning: %q", rows, warnings, want.warning)
		}
		j.mode = assay.Blocks
		if length, err := sequenceLength(t.Context(), j); err != nil || length != minSequence {
			t.Errorf("a block on %d rows: got %d (%v), want %d", rows, length, err, minSequence)
		}
	}
}
