package report

import (
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
)

func TestProofInReports(t *testing.T) {
	run, trials := analysistest.SampleRun()
	of := func(driver string) assay.Proof {
		return assay.Proof{Target: driver + "@" + analysistest.Versions[driver], Build: "b-" + driver, Profile: "web", Fault: assay.PowerCut, Claimed: assay.Power, States: 1240}
	}
	held, refuted := of("modernc"), of("glebarez")
	held.Held = 1240
	refuted.Held, refuted.Refuted, refuted.Kind = 1200, 40, assay.LosesCommits
	run.Proofs = []assay.Proof{held, refuted}
	r := mustReport(t, run, trials)
	var text, data strings.Builder
	must(t, r.Write(&text, "text"))
	must(t, r.Write(&data, "csv"))
	for _, want := range []string{"power (held in 1240 power cuts), wal FULL", "consistent (power refuted: loses acknowledged commits), wal FULL", "consistent (claimed), wal NORMAL",
		"refuted-durability: in 40 of 1240 power cuts it does not keep power", "at worst it loses acknowledged commits;"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("text: no %q in\n%s", want, text.String())
		}
	}
	for _, want := range []string{",held:1240,,1\n", ",refuted:loses-commits,,1\n", ",AMD EPYC 7K62,,,1\n"} {
		if !strings.Contains(data.String(), want) {
			t.Errorf("CSV: no %q in\n%s", want, data.String())
		}
	}
}
