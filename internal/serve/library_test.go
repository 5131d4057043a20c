package serve

import (
	"bytes"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis/analysistest"
	"assay/internal/store"
)

// addClaimed adds a run of the cells of the claim that mattn reads one row faster
// than modernc, which is faster than glebarez.
func addClaimed(t *testing.T, s *store.Store, id, cpu string, mattn float64) {
	t.Helper()
	run := analysistest.PlainRun
	run.ID, run.Plan, run.PlanText, run.Status, run.Started = id, "monster", "name: monster\n", assay.Finished, analysistest.SampleStart
	run.Host = map[string]string{"cpu": cpu}
	var trials []assay.Trial
	for i, driver := range []string{"modernc", "mattn", "glebarez"} {
		cell := analysistest.Cell("SelectByID", driver, "P1-meant")
		cell.Plan, cell.Workload = "monster", "monster-single"
		run.Targets = append(run.Targets, assay.Target{Driver: driver, DriverVersion: cell.DriverVersion, Build: cell.Build})
		ns := []float64{10000, mattn, 12000}[i]
		trials = append(trials, analysistest.Change(analysistest.Launches(cell, 6, ns, i+1), func(trial *assay.Trial) { trial.Durability = assay.Power })...)
	}
	put(t, s, run, trials)
}

// imported adds to a store a run that was made elsewhere.
func imported(t *testing.T, to *store.Store, id, cpu string, mattn float64) {
	t.Helper()
	from := sampleStore(t, 0)
	addClaimed(t, from, id, cpu, mattn)
	var file bytes.Buffer
	_, err := from.Export(t.Context(), id, &file)
	if err == nil {
		_, _, err = to.Import(t.Context(), bytes.NewReader(file.Bytes()), store.MaxUnpacked)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// claimRow are the heads of the claims' table, and the row of the claim.
func claimRow(t *testing.T, web serving) (head, row string) {
	t.Helper()
	_, text := web.ask(t, "GET", "/claims", nil, nil)
	_, head, _ = strings.Cut(text, "<thead>")
	head, body, _ := strings.Cut(head, "</thead>")
	_, row, found := strings.Cut(body, "reading one row, mattn is fastest")
	if !found {
		t.Fatalf("no claim in\n%s", text)
	}
	row, _, _ = strings.Cut(row, "</tr>")
	return head, row
}

// A proof that comes later is a doubt beside the verdict on a claim, and changes no ratio.
func TestLaterProof(t *testing.T) {
	s := sampleStore(t, 0)
	addClaimed(t, s, firstID, "x", 8000)
	web := start(t, Options{Store: s})
	const cell = "/history?cell=SelectByID+driver%3Dmattn"
	web.ask(t, "GET", cell, nil, nil)
	if _, row := claimRow(t, web); !strings.Contains(row, "<b>holds here</b>") || strings.Contains(row, "unequal-durability") {
		t.Errorf("before the proof: got %s, want that the claim holds, and no doubt about durability", row)
	}
	if err := s.KeepProof(t.Context(), "name: monster\n", assay.Proof{Target: "mattn@" + analysistest.Versions["mattn"], Build: "b-mattn", Profile: "P1-meant",
		Fault: assay.PowerCut, Claimed: assay.Power, States: 40, Held: 39, Refuted: 1, Kind: assay.LosesCommits, Replay: "seed-7"}); err != nil {
		t.Fatal(err)
	}
	_, got := web.ask(t, "GET", cell, nil, nil)
	if _, want := start(t, Options{Store: s}).ask(t, "GET", cell, nil, nil); got != want {
		t.Errorf("the history after the refutation: got\n%s\nwant what a new server shows\n%s", got, want)
	}
	if _, row := claimRow(t, web); !strings.Contains(row, "unequal-durability") {
		t.Errorf("after the refutation: got %s, want the doubt that durability is unequal beside it", row)
	}
}

// A class of machines is judged by the runs that were made here; where it has none,
// its head says so.
func TestImportedClaims(t *testing.T) {
	s := sampleStore(t, 0)
	addClaimed(t, s, firstID, "own", 8000)
	imported(t, s, secondID, "own", 30000)
	imported(t, s, "20261103-000000-0003", "foreign", 30000)
	head, row := claimRow(t, start(t, Options{Store: s}))
	if !strings.Contains(head, ">own</th>") || !strings.Contains(head, ">foreign (imported)</th>") {
		t.Errorf("got the heads %s, want own, and foreign as imported", head)
	}
	own, foreign, found := strings.Cut(row[strings.Index(row, "<b"):], "</td>")
	if !found || !strings.Contains(own, "<b>holds here</b>") || !strings.Contains(foreign, ">not reproduced</b>") {
		t.Errorf("got %q of own runs and %q of foreign ones, want that it holds here, and is not reproduced", own, foreign)
	}
}
