package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay"
)

// One run resumed twice at once: the second is refused while the first lives.
func TestClaim(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	first, second := open(t, path), open(t, path)
	must(t, first.Begin(t.Context(), start("run", "quick", 0)))
	expect(t, second.Claim(t.Context(), "run"), ErrTaken, "process")
	expect(t, second.Append(t.Context(), "run", assay.Trial{Launch: 1}), ErrTaken, "another assay")
	expect(t, second.Update(t.Context(), start("run", "quick", 0)), ErrTaken, "another assay")
	expect(t, second.Claim(t.Context(), "none"), ErrNotFound, "none")
	must(t, first.Claim(t.Context(), "run")) // it has it already
	wantStatus(t, second, assay.Running)

	// The owner has ended: here, its process is said to be of another boot.
	execute(t, path, "UPDATE run SET owner = 'another-boot' || substr(owner, instr(owner, ' '))")
	wantStatus(t, second, assay.Interrupted)
	must(t, second.Claim(t.Context(), "run"))
	must(t, second.Append(t.Context(), "run", assay.Trial{Launch: 1}))
	expect(t, first.Append(t.Context(), "run", assay.Trial{Launch: 2}), ErrTaken, "another assay")
}

// wantStatus checks what a store tells of the run that was begun as running.
func wantStatus(t *testing.T, s *Store, want assay.Status) {
	t.Helper()
	one, err := s.Run(t.Context(), "run")
	must(t, err)
	all, err := s.Runs(t.Context())
	must(t, err)
	if one.Status != want || all[0].Status != want {
		t.Errorf("got the run as %s, in the list as %s, want %s", one.Status, all[0].Status, want)
	}
}

func TestAlive(t *testing.T) {
	now := newOwner()
	if !alive(now.String()) {
		t.Errorf("alive(%q): got false, want true: it is this process", now)
	}
	ended, another := now, now
	ended.started += "0"
	another.boot = "another"
	for _, text := range []string{"", "x", "a b c d", ended.String(), another.String()} {
		if alive(text) {
			t.Errorf("alive(%q): got true, want false", text)
		}
	}
}

func TestTrialOnce(t *testing.T) {
	s := fresh(t)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	trial := assay.Trial{Cell: assay.Cell{Operation: "read"}, Group: "g", Launch: 3}
	must(t, s.Append(t.Context(), "run", trial))
	expect(t, s.Append(t.Context(), "run", trial), nil, "has this trial already: launch 3 of group g")
	trial.Twin = true
	must(t, s.Append(t.Context(), "run", trial))
	never := assay.Trial{Outcome: assay.NotRun} // belongs to no launch
	must(t, s.Append(t.Context(), "run", never))
	must(t, s.Append(t.Context(), "run", never))
}

// An ID from elsewhere that is not a run ID: it would become a part of file names.
func TestInvalidID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := open(t, path)
	expect(t, s.Begin(t.Context(), start("../x", "quick", 0)), nil, `"../x" is not a run ID`)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	execute(t, path, "UPDATE run SET id = '../../victim'")
	_, err := s.Run(t.Context(), "latest")
	expect(t, err, nil, "is not a run ID")
	_, err = s.Runs(t.Context())
	expect(t, err, nil, "is not a run ID")
	_, err = s.Unfinished(t.Context(), "quick", "", nil)
	expect(t, err, nil, "is not a run ID")
}

// The clock went back between two runs: the newest is the one begun last.
func TestNewestIsBegunLast(t *testing.T) {
	s := fresh(t)
	must(t, s.Begin(t.Context(), start("b", "quick", 30)))
	must(t, s.Begin(t.Context(), start("a", "quick", 10)))
	if run, err := s.Run(t.Context(), ""); err != nil || run.ID != "a" {
		t.Errorf("newest run: got %q, %v, want a", run.ID, err)
	}
}

func TestOpenToRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "a.db")
	if _, err := OpenToRead(t.Context(), path); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "there is no store") {
		t.Errorf("no file: got %v, want ErrNotFound", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Errorf("reading made the folder %s", filepath.Dir(path))
	}
	empty := filepath.Join(t.TempDir(), "empty.db")
	must(t, os.WriteFile(empty, nil, 0o600))
	if _, err := OpenToRead(t.Context(), empty); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "the file is empty") {
		t.Errorf("empty file: got %v, want ErrNotFound", err)
	}
	if info, err := os.Stat(empty); err != nil || info.Size() != 0 {
		t.Errorf("reading wrote to the empty file: got %v, %v", info, err)
	}
	s := open(t, path)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	reader, err := OpenToRead(t.Context(), path)
	must(t, err)
	defer reader.Close()
	if run, err := reader.Run(t.Context(), ""); err != nil || run.ID != "run" {
		t.Errorf("got run %q, %v, want run", run.ID, err)
	}
	if err := reader.Begin(t.Context(), start("other", "quick", 0)); err == nil {
		t.Error("a store that was opened to read could be written")
	}
}

// A store of an earlier version is brought up to date, its runs in order.
func TestOpenToReadEarlier(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := open(t, path)
	must(t, s.Begin(t.Context(), start("b", "quick", 1)))
	must(t, s.Begin(t.Context(), start("a", "quick", 2)))
	must(t, s.Close())
	execute(t, path, `DROP INDEX trial_by_place; ALTER TABLE trial DROP COLUMN place; ALTER TABLE trial DROP COLUMN checked; ALTER TABLE trial DROP COLUMN begin_mode; ALTER TABLE trial DROP COLUMN processes; DROP INDEX run_by_sequence;
		ALTER TABLE run DROP COLUMN sequence; ALTER TABLE run DROP COLUMN owner; ALTER TABLE run DROP COLUMN spent; CREATE INDEX run_by_start ON run (started);
		DROP TABLE proof; DELETE FROM goose_db_version WHERE version_id >= 3`)
	reader, err := OpenToRead(t.Context(), path)
	must(t, err)
	defer reader.Close()
	runs, err := reader.Runs(t.Context())
	if err != nil || len(runs) != 2 || runs[0].ID != "a" || runs[1].ID != "b" {
		t.Errorf("got %v, %v, want the runs a and b", runs, err)
	}
}
