package main

import (
	"testing"

	"assay"
)

func TestTimeShares(t *testing.T) {
	spent := assay.Spent{assay.StageMeasured: 62, assay.StageWarmUp: 12, assay.StageCopy: 25, assay.StageOther: 1}
	for _, c := range []struct {
		spent assay.Spent
		want  string
	}{
		{nil, ""},
		{assay.Spent{assay.StageMeasured: 5}, ", 100 % of it inside measured windows and blocks"},
		{spent, ", 62 % of it inside measured windows and blocks (copies 25 %, warming up 12 %)"},
	} {
		if got := timeShares(c.spent); got != c.want {
			t.Errorf("%v: %q, want %q", c.spent, got, c.want)
		}
	}
}
