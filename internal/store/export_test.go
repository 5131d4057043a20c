package store

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay"
	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"
)

const exportedID = "20261120-153000-1f2e"

// exported is a run with everything that a run can have, and its file.
func exported(t testing.TB) (*Store, []byte) {
	t.Helper()
	s := fresh(t)
	run := start(exportedID, "quick", 0)
	run.PlanText, run.Status, run.Seed = "workload: {}\n", assay.Finished, math.MaxUint64
	run.Host = map[string]string{"cpu": "x"}
	run.Targets = []assay.Target{{Driver: "mattn", DriverVersion: "v1", CompileOptions: []string{"A"}}, {Driver: "bbolt"}}
	must(t, s.Begin(t.Context(), run))
	must(t, s.Append(t.Context(), run.ID, assay.Trial{Cell: assay.Cell{Clients: 1}, Launch: 1, Outcome: assay.OK, Figures: map[string]float64{assay.NsPerOp: 7.25, assay.P99: math.Inf(1)},
		Settings: []assay.Setting{{Name: "cache_size", Applied: true}}, Samples: []assay.Sample{{Operations: 5, Nanos: 7}}}))
	must(t, s.Append(t.Context(), run.ID, assay.Trial{Cell: assay.Cell{Clients: 1}, Launch: 2, Outcome: assay.Failed, Reason: "<b>\x00"}))
	must(t, s.KeepProof(t.Context(), run.PlanText, assay.Proof{Target: "mattn@v1", Build: "b", Profile: "web", Fault: assay.PowerCut, States: 5, Held: 5}))
	return s, export(t, s)
}

func export(t testing.TB, s *Store) []byte {
	t.Helper()
	var file bytes.Buffer
	_, err := s.Export(t.Context(), exportedID, &file)
	must(t, err)
	return file.Bytes()
}

// importInto adds a file and checks that this adds its run, or that it was there.
func importInto(t testing.TB, s *Store, file []byte, want bool) {
	t.Helper()
	run, added, err := s.Import(t.Context(), bytes.NewReader(file), MaxUnpacked)
	if err != nil || added != want || run.ID != exportedID {
		t.Fatalf("got run %q, added %v, %v; want %s, %v, no error", run.ID, added, err, exportedID, want)
	}
}

func TestExportImport(t *testing.T) {
	from, file := exported(t)
	to := fresh(t)
	importInto(t, to, file, true)
	want, err := from.Run(t.Context(), exportedID)
	must(t, err)
	want.Imported = true
	got, err := to.Run(t.Context(), exportedID)
	if diff := cmp.Diff(want, got, sameTime); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
	moved := trials(t, to, exportedID)
	if diff := cmp.Diff(trials(t, from, exportedID), moved, sameTime); diff != "" || len(moved) != 2 {
		t.Errorf("%d trials, want 2; (-want +got)\n%s", len(moved), diff)
	}
	if again := export(t, to); !bytes.Equal(unzip(t, again), unzip(t, file)) {
		t.Errorf("exported again: got %s\nwant %s", unzip(t, again), unzip(t, file))
	}
}

// Importing a second time changes no row; a file of the run with another trial is
// refused.
func TestImportTwice(t *testing.T) {
	from, file := exported(t)
	to := fresh(t)
	importInto(t, to, file, true)
	before := content(t, to)
	importInto(t, to, file, false)
	importInto(t, from, file, false) // where it comes from
	if after := content(t, to); after != before {
		t.Errorf("after the second import: got\n%s\nwant\n%s", after, before)
	}
	must(t, from.Append(t.Context(), exportedID, assay.Trial{Cell: assay.Cell{Clients: 1}, Launch: 3, Outcome: assay.NotRun}))
	_, _, err := to.Import(t.Context(), bytes.NewReader(export(t, from)), MaxUnpacked)
	expect(t, err, nil, "has run "+exportedID+" already, with other trials or in another state")
	if after := content(t, to); after != before {
		t.Errorf("after a refused import: got\n%s\nwant\n%s", after, before)
	}
}

// content is all that the tables of a store hold.
func content(t testing.TB, s *Store) string {
	t.Helper()
	var text strings.Builder
	for _, table := range []string{"run", "target", "trial", "figure", "setting", "proof"} {
		rows, err := s.db.Query("SELECT * FROM " + table + " ORDER BY 1, 2")
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			must(t, rows.Scan(values...))
			text.WriteString(table)
			for _, value := range values {
				fmt.Fprintf(&text, " %v", *value.(*any))
			}
			text.WriteString("\n")
		}
		must(t, errors.Join(rows.Err(), rows.Close()))
	}
	return text.String()
}

// An imported run is never the newest while there are others, is not resumed, and
// has no owner.
func TestImportedRunIsNobodys(t *testing.T) {
	_, file := exported(t)
	to := fresh(t)
	must(t, to.Begin(t.Context(), start("mine", "quick", 0)))
	importInto(t, to, file, true)
	if run, err := to.Run(t.Context(), ""); err != nil || run.ID != "mine" || run.Imported {
		t.Errorf("the newest: got %q, imported %v, %v; want mine", run.ID, run.Imported, err)
	}
	expect(t, to.Claim(t.Context(), exportedID), ErrTaken, "it was imported")
	expect(t, to.Append(t.Context(), exportedID, assay.Trial{Launch: 9}), ErrTaken, "")
	expect(t, to.Update(t.Context(), assay.Run{ID: exportedID}), ErrTaken, "")
	if run, err := to.Unfinished(t.Context(), "quick", "", nil); err != nil || run.ID != "mine" {
		t.Errorf("unfinished: got %q, %v; want mine", run.ID, err)
	}
}

// Proofs are merged as if they had been made in the order of their times.
func TestImportMergesProofs(t *testing.T) {
	proof := func(day string, states, refuted int) datedProof {
		return datedProof{assay.Proof{Target: "t", Build: "b", Profile: "p", Fault: assay.PowerCut, States: states, Held: states - refuted, Refuted: refuted}, "2026-11-" + day + "T00:00:00Z"}
	}
	s := fresh(t)
	for i, pair := range [][2]datedProof{
		{proof("01", 10, 0), proof("02", 20, 0)}, {proof("01", 20, 0), proof("02", 10, 0)},
		{proof("01", 20, 1), proof("02", 10, 0)}, {proof("01", 10, 1), proof("02", 20, 0)}, {proof("01", 20, 0), proof("02", 10, 1)},
	} {
		var kept []string
		for j, order := range [][2]datedProof{pair, {pair[1], pair[0]}} {
			plan := fmt.Sprint("plan ", i, j)
			for _, p := range order {
				must(t, s.write(t.Context(), func(tx *sql.Tx) error { return insertProof(t.Context(), tx, PlanDigest(plan), p, inOrder) }))
			}
			got, err := datedProofs(t.Context(), s.db, plan)
			must(t, err)
			kept = append(kept, got[0].proved)
		}
		plan := fmt.Sprint("plan ", i)
		for _, p := range pair {
			must(t, s.KeepProof(t.Context(), plan, p.Proof))
		}
		want, err := datedProofs(t.Context(), s.db, plan)
		must(t, err)
		wanted := pair[0].proved
		if want[0].Proof == pair[1].Proof {
			wanted = pair[1].proved
		}
		if kept[0] != wanted || kept[1] != wanted {
			t.Errorf("%+v: kept the proof of %s, and in the other order of %s; want %s", pair, kept[0], kept[1], wanted)
		}
	}
}

func unzip(t testing.TB, file []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(file))
	must(t, err)
	text, err := io.ReadAll(r)
	must(t, err)
	return text
}

func zip(t testing.TB, text []byte) []byte {
	t.Helper()
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, err := w.Write(text)
	must(t, errors.Join(err, w.Close()))
	return file.Bytes()
}

// sealed is a file with these lines, whose digests fit.
func sealed(t testing.TB, lines ...string) []byte {
	t.Helper()
	var text bytes.Buffer
	w := newLineWriter(&text)
	for _, line := range lines {
		if line == endOfTrials || line == endOfProofs {
			must(t, w.writeEnd(line))
			continue
		}
		text.WriteString(line + "\n")
		w.digest.Write([]byte(line + "\n"))
	}
	return zip(t, text.Bytes())
}

// hostileFiles are files that no assay wrote, by what is to be said of them.
func hostileFiles(t testing.TB) map[string][]byte {
	_, file := exported(t)
	text := unzip(t, file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n") // 6 with a trial each in 2 and 3
	head, run, trial := lines[0], lines[1], lines[2]
	replaced := func(line, old, new string) string {
		if !strings.Contains(line, old) {
			t.Fatalf("%s does not have %s", line, old)
		}
		return strings.ReplaceAll(line, old, new)
	}
	changed := bytes.Replace(text, []byte("7.25"), []byte("1.25"), 1)
	return map[string][]byte{
		"it is not a file that":       []byte("text"),
		"it is not a file":            nil,
		"unexpected EOF":              file[:len(file)/2],
		"its checksum does not match": zip(t, changed),
		"the file is not whole":       zip(t, text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1]),
		"more after the end":          zip(t, append(bytes.Clone(text), "{}\n"...)),
		"last line\nunexpected EOF":   append(bytes.Clone(file), "more"...),
		"is not a run ID":             sealed(t, head, replaced(run, exportedID, "../../victim"), endOfTrials, endOfProofs),
		`status is "best"`:            sealed(t, head, replaced(run, `"status":"finished"`, `"status":"best"`), endOfTrials, endOfProofs),
		`column "owner" is not known`: sealed(t, head, replaced(run, `"plan":"quick"`, `"owner":"me","plan":"quick"`), endOfTrials, endOfProofs),
		`unknown field "script"`:      sealed(t, head, `{"script":1}`, endOfTrials, endOfProofs),
		"a newer version of assay":    sealed(t, `{"format":"assay run","schema":99}`, run, endOfTrials, endOfProofs),
		"its schema is 0":             sealed(t, `{"format":"assay run"}`, run, trial, endOfTrials, endOfProofs),
		"its schema is -1":            sealed(t, `{"format":"assay run","schema":-1}`, run, trial, endOfTrials, endOfProofs),
		"has no trials":               sealed(t, head, run, endOfTrials, endOfProofs),
		"the run has this trial":      sealed(t, head, run, trial, trial, endOfTrials, endOfProofs),
		"it is not a trial":           sealed(t, head, run, `{"settings":[]}`, endOfTrials, endOfProofs),
		"it has no value":             sealed(t, head, run, replaced(trial, `"ns/op":7.25`, `"ns/op":null`), endOfTrials, endOfProofs),
		"is not a number":             sealed(t, head, run, replaced(trial, `"ns/op":7.25`, `"ns/op":"NaN"`), endOfTrials, endOfProofs),
		"a proof has no time":         sealed(t, head, run, trial, endOfTrials, `{"proof":{}}`, endOfProofs),
		"not a proof of": sealed(t, head, run, trial, endOfTrials,
			`{"proof":{"target":"mattn@v1","states":1,"held":1000000000,"proved":"2026-11-22T00:00:00Z"}}`, endOfProofs),
		"more than 16777216 bytes": zip(t, bytes.Repeat([]byte(" "), maxLine+1)),
	}
}

func TestImportRefuses(t *testing.T) {
	to := fresh(t)
	for want, file := range hostileFiles(t) {
		_, _, err := to.Import(t.Context(), bytes.NewReader(file), MaxUnpacked)
		if !errors.As(err, new(*ImportError)) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), to.name) {
			t.Errorf("got %v, want an ImportError with %q, without the store's path", err, want)
		}
		if got := content(t, to); got != "" {
			t.Errorf("%s: after the error the store has\n%s\nwant nothing", want, got)
		}
	}
}

// A file is read to its end before the store is locked: others go on writing, and
// only a trial that is there twice is found by writing.
func TestDamagedFileTakesNoLock(t *testing.T) {
	s := fresh(t)
	tx, err := s.db.BeginTx(t.Context(), nil) // which locks it, as any process may
	must(t, err)
	defer tx.Rollback()
	for want, file := range hostileFiles(t) {
		if want == "the run has this trial" {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), busyTimeout/2)
		_, _, err := s.Import(ctx, bytes.NewReader(file), MaxUnpacked)
		cancel()
		if !errors.As(err, new(*ImportError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an ImportError with %q while the store is locked", err, want)
		}
	}
}

// What a file unpacks to is bounded by the caller.
func TestImportUnpacksNoMore(t *testing.T) {
	_, file := exported(t)
	size := int64(len(unzip(t, file)))
	_, _, err := fresh(t).Import(t.Context(), bytes.NewReader(file), size-1)
	if want := fmt.Sprintf("it unpacks to more than %d bytes", size-1); !errors.As(err, new(*ImportError)) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an ImportError with %q", err, want)
	}
	if _, _, err := fresh(t).Import(t.Context(), bytes.NewReader(file), size); err != nil {
		t.Errorf("with as many bytes as it has: got %v, want no error", err)
	}
}

// A file that cannot be read, and a store that cannot be written, are not the file's
// fault.
func TestImportBlamesNoFile(t *testing.T) {
	_, file := exported(t)
	broken := &brokenFile{bytes.NewReader(file), errors.New("input/output error")}
	if _, _, err := fresh(t).Import(t.Context(), broken, MaxUnpacked); !errors.Is(err, broken.err) || errors.As(err, new(*ImportError)) {
		t.Errorf("a disk that fails: got %v, want %v, which is no ImportError", err, broken.err)
	}
	closed := fresh(t)
	must(t, closed.Close())
	if _, _, err := closed.Import(t.Context(), bytes.NewReader(file), MaxUnpacked); err == nil || errors.As(err, new(*ImportError)) {
		t.Errorf("a closed store: got %v, want an error that is no ImportError", err)
	}
}

// brokenFile fails in the middle.
type brokenFile struct {
	*bytes.Reader
	err error
}

func (b *brokenFile) Read(p []byte) (int, error) {
	if b.Len() < int(b.Size())/2 {
		return 0, b.err
	}
	return b.Reader.Read(p[:min(len(p), 16)])
}

// Whatever a run and its trials hold, the file holds it too.
func TestExportRoundTrip(t *testing.T) {
	from, to := fresh(t), fresh(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		run := rapid.MakeCustom[assay.Run](generator()).Draw(rt, "run")
		run.ID, run.Proofs, run.Imported = "run-"+strings.Repeat("x", n%40)+string(rune('a'+n%26)), nil, false
		run.Status = rapid.SampledFrom([]assay.Status{assay.Running, assay.Interrupted, assay.Finished}).Draw(rt, "status")
		run.MinTime, run.Baseline = max(0, run.MinTime), assay.Baseline{}
		if from.Begin(t.Context(), run) != nil {
			return // an ID that was there
		}
		trial := possible(rt, rapid.MakeCustom[assay.Trial](generator()).Draw(rt, "trial"))
		must(t, from.Append(t.Context(), run.ID, trial))
		var file bytes.Buffer
		if _, err := from.Export(t.Context(), run.ID, &file); err != nil {
			rt.Fatal(err)
		}
		if _, added, err := to.Import(t.Context(), bytes.NewReader(file.Bytes()), MaxUnpacked); err != nil || !added {
			rt.Fatalf("added %v, %v", added, err)
		}
		if diff := cmp.Diff(trials(t, from, run.ID), trials(t, to, run.ID), sameTime); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// FuzzImport: whatever a file has in it, reading it ends, and all of it is added or
// nothing. Nothing is written outside of the store.
func FuzzImport(f *testing.F) {
	for _, file := range hostileFiles(f) {
		if len(file) > 1<<20 {
			continue
		}
		f.Add(file, false)
		if r, err := gzip.NewReader(bytes.NewReader(file)); err == nil {
			if text, err := io.ReadAll(r); err == nil && len(text) < 1<<16 {
				f.Add(text, true)
			}
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, plain bool) {
		if plain { // so that changes reach what is behind the compression
			file = zip(t, file)
		}
		folder := t.TempDir()
		s, err := Open(t.Context(), filepath.Join(folder, "a.db"))
		must(t, err)
		defer s.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		run, added, err := s.Import(ctx, bytes.NewReader(file), MaxUnpacked)
		if ctx.Err() != nil {
			t.Fatal("it took a minute")
		}
		if err == nil && (!added || !assay.ValidRunID(run.ID)) {
			t.Errorf("got run %q, added %v; want an ID, true", run.ID, added)
		}
		if text := content(t, s); (err == nil) != (text != "") {
			t.Errorf("error %v, and the store has %q", err, text)
		}
		entries, err := os.ReadDir(folder)
		must(t, err)
		for _, entry := range entries {
			if !strings.HasPrefix(entry.Name(), "a.db") {
				t.Errorf("%s was written", entry.Name())
			}
		}
		readAll(ctx, t, filepath.Join(folder, "a.db"))
	})
}

// FuzzExportedFile reads files without a store, thousands of times as often as
// FuzzImport can: reading ends, without a panic, and hands over no run that could be
// another file.
func FuzzExportedFile(f *testing.F) {
	for _, file := range hostileFiles(f) {
		if r, err := gzip.NewReader(bytes.NewReader(file)); err == nil {
			if text, err := io.ReadAll(r); err == nil && len(text) < 1<<16 {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := &lineReader{from: bufio.NewReader(bytes.NewReader(text)), digest: sha256.New()}
		run, err := r.readRun()
		if err != nil {
			return
		}
		if !assay.ValidRunID(run.ID) {
			t.Errorf("got run %q, want an ID", run.ID)
		}
		if _, err := r.readTrials(run, func(assay.Trial) error { return nil }); err != nil {
			return
		}
		_ = r.readProofs(func(p datedProof) error {
			if p.Held > p.States {
				t.Errorf("got a proof that held in %d of %d states", p.Held, p.States)
			}
			return nil
		})
	})
}
