package store

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"assay"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
)

// ended is a run in a file of this machine, with trials that have these numbers of
// launches.
func ended(t *testing.T, s *Store, id string, status assay.Status, launches ...int) assay.Run {
	t.Helper()
	run := start(id, "quick", 0)
	run.PlanText = "plan"
	must(t, s.Begin(t.Context(), run))
	for _, number := range launches {
		must(t, s.Append(t.Context(), id, launch(number)))
	}
	run.Status = status
	must(t, s.Update(t.Context(), run))
	return run
}

func launch(number int) assay.Trial {
	return assay.Trial{Cell: assay.Cell{Clients: 1}, Launch: number, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: float64(number)}}
}

func wantPushed(t *testing.T, from, to *Store, id string, want bool) {
	t.Helper()
	if added, err := from.Push(t.Context(), to, id); err != nil || added != want {
		t.Errorf("pushing %s: got added %v, %v; want %v", id, added, err, want)
	}
}

// inFile is a new store of this machine.
func inFile(t *testing.T) *Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "local.db"))
}

// A run is pushed as it is, once, and with the proofs of its plan; one that was imported
// stays that.
func TestPush(t *testing.T) {
	from, to := inFile(t), fresh(t)
	ended(t, from, "a", assay.Finished, 1, 2)
	must(t, from.KeepProof(t.Context(), "plan", assay.Proof{Target: "t", Fault: assay.PowerCut, States: 5, Held: 5}))
	wantPushed(t, from, to, "a", true)
	want, err := from.Run(t.Context(), "a")
	must(t, err)
	got, err := to.Run(t.Context(), "a")
	if diff := cmp.Diff(want, got, sameTime); err != nil || diff != "" || got.Imported || len(got.Proofs) != 1 {
		t.Errorf("error %v, imported %v, (-want +got)\n%s", err, got.Imported, diff)
	}
	if diff := cmp.Diff(trials(t, from, "a"), trials(t, to, "a"), sameTime); diff != "" {
		t.Errorf("trials (-want +got)\n%s", diff)
	}
	before := content(t, to)
	wantPushed(t, from, to, "a", false)
	if after := content(t, to); after != before {
		t.Errorf("pushed twice: got\n%s\nwant\n%s", after, before)
	}

	_, file := exported(t)
	_, _, err = from.Import(t.Context(), bytes.NewReader(file), MaxUnpacked)
	must(t, err)
	wantPushed(t, from, to, exportedID, true)
	if got, err := to.Run(t.Context(), exportedID); err != nil || !got.Imported {
		t.Errorf("an imported run: got imported %v, %v; want true", got.Imported, err)
	}
}

// An older copy of an unfinished run does not take the place of what it has become.
func TestPushOfAnOlderCopy(t *testing.T) {
	now, before, to := inFile(t), inFile(t), fresh(t)
	ended(t, now, "a", assay.Interrupted, 1, 2)
	ended(t, before, "a", assay.Interrupted, 1)
	wantPushed(t, now, to, "a", true)
	_, err := before.Push(t.Context(), to, "a")
	expect(t, err, nil, "has run a already, with other trials")
	if n := len(trials(t, to, "a")); n != 2 {
		t.Errorf("the store has %d trials, want the 2 of the newer copy", n)
	}
}

// What an unfinished run has become takes its place, once; a finished one stays.
func TestPushOfAResumedRun(t *testing.T) {
	from, to := inFile(t), fresh(t)
	run := ended(t, from, "a", assay.Interrupted, 1)
	wantPushed(t, from, to, "a", true)
	must(t, from.Append(t.Context(), "a", launch(2)))
	run.Status = assay.Finished
	must(t, from.Update(t.Context(), run))
	wantPushed(t, from, to, "a", true)
	if got, err := to.Run(t.Context(), "a"); err != nil || got.Status != assay.Finished || len(trials(t, to, "a")) != 2 {
		t.Errorf("got status %s and %d trials, %v; want finished and 2", got.Status, len(trials(t, to, "a")), err)
	}
	before := content(t, to)
	must(t, from.Append(t.Context(), "a", launch(3)))
	_, err := from.Push(t.Context(), to, "a")
	expect(t, err, nil, "has run a already, with other trials")
	if after := content(t, to); after != before {
		t.Errorf("after a refused push: got\n%s\nwant\n%s", after, before)
	}
}

// Pushed by itself is what has ended here, and nothing that others measured.
func TestUnpushed(t *testing.T) {
	from, to := inFile(t), fresh(t)
	ended(t, from, "one", assay.Finished, 1)
	ended(t, from, "two", assay.Interrupted, 1)
	ended(t, from, "none", assay.Interrupted)
	ended(t, from, "alive", assay.Running, 1)
	_, file := exported(t)
	_, _, err := from.Import(t.Context(), bytes.NewReader(file), MaxUnpacked)
	must(t, err)
	unpushed := func(want ...string) {
		t.Helper()
		if got, err := from.Unpushed(t.Context(), to); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	unpushed("one", "two", "none")
	wantPushed(t, from, to, "one", true)
	wantPushed(t, from, to, "two", true)
	wantPushed(t, from, to, "none", false)
	unpushed("two", "none") // which may go on
}

func TestPushProofs(t *testing.T) {
	from, to := inFile(t), fresh(t)
	proof := assay.Proof{Target: "t", Fault: assay.PowerCut, States: 5, Held: 5}
	must(t, from.KeepProof(t.Context(), "plan", proof))
	for range 2 {
		must(t, from.PushProofs(t.Context(), to))
	}
	all, err := to.Proofs(t.Context(), "plan")
	if diff := cmp.Diff([]assay.Proof{proof}, all, sameTime); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
}

// A store on a server into which an earlier version wrote trial by trial is read as it was
// left: a run that had not ended was interrupted.
func TestServerOfFleets(t *testing.T) {
	at := database(t, admin, false)
	earlier := fstest.MapFS{}
	for _, name := range []string{"00001_results.sql", "00002_options_and_layouts.sql", "00003_order_and_owner.sql", "00004_proofs.sql", "00005_checked.sql",
		"00006_spent.sql", "00007_file_systems.sql", "00008_fleet.sql", "00009_begin.sql"} {
		text, err := fs.ReadFile(migrations, name)
		must(t, err)
		earlier[name] = &fstest.MapFile{Data: text}
	}
	s, err := connect(at)
	must(t, err)
	defer s.Close()
	_, err = s.db.Exec("CREATE SCHEMA " + schemaName)
	must(t, err)
	must(t, applyMigrations(t.Context(), s.db, goose.DialectPostgres, translated{earlier}))
	for i, run := range []struct{ id, status string }{{"whole", "finished"}, {"part", "running"}} {
		_, err = s.db.Exec(`INSERT INTO run (id, plan, plan_text, plan_file, options, seed, status, version, host, reference, least_ns, files, sequence, owner)
			VALUES (?, 'quick', '', '', '{"fleet": "f", "launches": 2}', '1', ?, 'v1', '{}', '', 0, '{}', ?, 'another-boot 1 2 X')`, run.id, run.status, i+1)
		must(t, err)
	}
	_, err = s.db.Exec("INSERT INTO fleet VALUES ('f', 'quick', '', '', '{}', '1', 'v1', '', 2)")
	must(t, err)
	_, err = s.db.Exec("INSERT INTO fleet_machine (fleet_id, position, run_id) VALUES ('f', 1, 'part')")
	must(t, err)
	reader, err := OpenToRead(t.Context(), at)
	must(t, err)
	defer reader.Close()
	for id, want := range map[string]assay.Status{"whole": assay.Finished, "part": assay.Interrupted} {
		if run, err := reader.Run(t.Context(), id); err != nil || run.Status != want || run.Options.Launches != 2 {
			t.Errorf("%s: got status %s, %d launches, %v; want %s and 2", id, run.Status, run.Options.Launches, err, want)
		}
	}
	var left int
	must(t, s.db.QueryRow("SELECT count(*) FROM pg_tables WHERE schemaname = 'assay' AND tablename LIKE 'fleet%'").Scan(&left))
	if left != 0 {
		t.Errorf("%d tables of fleets are left", left)
	}
}
