package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay"
)

// invalidID says that a run's ID is none that assay gives.
func invalidID(id string) error {
	return fmt.Errorf("%q is not a run ID, which has only lower-case letters, digits and dashes: another program wrote it", id)
}

// Begin adds a run, whose owner this store is. Its ID must be new.
func (s *Store) Begin(ctx context.Context, run assay.Run) error {
	if !assay.ValidRunID(run.ID) {
		return s.explain("beginning a run in", invalidID(run.ID))
	}
	err := s.write(ctx, func(tx *sql.Tx) error { return s.insertRun(ctx, tx, &run, s.owner) })
	return s.explain(fmt.Sprintf("beginning run %q in", run.ID), err)
}

// insertRun adds a run with its targets, behind all others.
func (s *Store) insertRun(ctx context.Context, tx *sql.Tx, run *assay.Run, owner string) error {
	if err := s.engine.lockRuns(ctx, tx); err != nil {
		return err
	}
	var last int64
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(sequence), 0) FROM run").Scan(&last); err != nil {
		return err
	}
	values := append(runFields(run), last+1, owner)
	result, err := tx.ExecContext(ctx, insertion("run", runColumns+", sequence, owner")+" ON CONFLICT (id) DO NOTHING", values...)
	if err != nil {
		return err
	}
	if added, err := result.RowsAffected(); err != nil || added == 0 {
		return errors.Join(err, errors.New("a run of that ID is there already"))
	}
	return insertTargets(ctx, tx, *run)
}

// Update rewrites what changes while a run goes on: its status, end, options,
// targets, reference, least time and files. An unknown ID gives ErrNotFound, and
// a run of another owner ErrTaken.
func (s *Store) Update(ctx context.Context, run assay.Run) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := s.checkOwner(ctx, tx, run.ID); err != nil {
			return err
		}
		return updateRun(ctx, tx, &run)
	})
	return s.explain(fmt.Sprintf("updating run %q in", run.ID), err)
}

func updateRun(ctx context.Context, tx *sql.Tx, run *assay.Run) error {
	_, err := tx.ExecContext(ctx,
		"UPDATE run SET status = ?, finished = ?, options = ?, reference = ?, least_ns = ?, targets = ?, files = ?, spent = ? WHERE id = ?",
		run.Status, asTime{&run.Finished}, asJSON{&run.Options}, asText{&run.Baseline}, run.MinTime,
		rowCount{&run.Targets}, asJSON{&run.Files}, asJSON{&run.Spent}, run.ID)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM target WHERE run_id = ?", run.ID); err != nil {
		return err
	}
	return insertTargets(ctx, tx, *run)
}

// Run returns the run of that ID, or the only one whose ID begins so. An
// empty ID, or latest, means the newest: of imported ones only where there are no
// others, and of stages of tunings only where there is nothing else, as none of them
// answers a question of the user's. Where there is none, the error is ErrNotFound and
// lists the newest that there are.
func (s *Store) Run(ctx context.Context, id string) (assay.Run, error) {
	ids, err := s.ids(ctx, "")
	if err != nil {
		return assay.Run{}, s.explain("reading runs of", err)
	}
	if len(ids) == 0 {
		return assay.Run{}, fmt.Errorf("%w in %s: it has no runs yet", ErrNotFound, s.name)
	}
	if id == "" || id == "latest" {
		match, err := s.newest(ctx, ids)
		if err != nil {
			return assay.Run{}, s.explain("reading runs of", err)
		}
		return s.load(ctx, match)
	}
	match, err := choose(ids, id)
	if err != nil {
		return assay.Run{}, fmt.Errorf("store %s: %w", s.name, err)
	}
	return s.load(ctx, match)
}

// newest is the first of the runs, which is no stage of a tuning where one is not.
func (s *Store) newest(ctx context.Context, ids []string) (string, error) {
	for _, id := range ids {
		var run assay.Run
		err := s.db.QueryRowContext(ctx, "SELECT plan, plan_text FROM run WHERE id = ?", id).Scan(&run.Plan, &run.PlanText)
		if err != nil || !run.IsStage() {
			return id, err
		}
	}
	return ids[0], nil
}

// Runs returns all runs, newest first, the imported ones behind the others.
func (s *Store) Runs(ctx context.Context) (runs []assay.Run, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		runs, err = s.allRuns(ctx, tx)
		return err
	})
	return runs, s.explain("reading runs of", err)
}

// allRuns reads each table once: a store has thousands of runs.
func (s *Store) allRuns(ctx context.Context, tx *sql.Tx) ([]assay.Run, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+ownedColumns+" FROM run ORDER BY "+newestFirst)
	owned, err := collect(rows, err, (*ownedRun).fields)
	if err != nil {
		return nil, err
	}
	runs := make([]assay.Run, len(owned))
	for i, r := range owned {
		runs[i] = r.judged()
	}
	type targetOf struct {
		run string
		assay.Target
	}
	rows, err = tx.QueryContext(ctx, "SELECT run_id, "+targetColumns+" FROM target ORDER BY run_id, position")
	targets, err := collect(rows, err, func(t *targetOf) []any { return append([]any{&t.run}, targetFields(&t.Target)...) })
	if err != nil {
		return nil, err
	}
	byID, proven := map[string]*assay.Run{}, map[string][]assay.Proof{}
	for i := range runs {
		if byID[runs[i].ID] = &runs[i]; !assay.ValidRunID(runs[i].ID) { // IDs become parts of file names
			return nil, invalidID(runs[i].ID)
		}
		text := runs[i].PlanText
		if _, read := proven[text]; !read {
			if proven[text], err = proofs(ctx, tx, text); err != nil {
				return nil, err
			}
		}
		runs[i].Proofs = proven[text]
	}
	for _, t := range targets {
		if run := byID[t.run]; run != nil {
			run.Targets = append(run.Targets, t.Target)
		}
	}
	return runs, nil
}

// Unfinished returns the newest run of that plan, from that file, whose status
// is not finished, that was made on the machine of these facts, and was not
// imported. Where there is none, the error is ErrNotFound; it names a run of a plan
// of that name that is of another file or machine.
func (s *Store) Unfinished(ctx context.Context, plan, file string, machine map[string]string) (assay.Run, error) {
	ids, err := s.ids(ctx, "WHERE plan = ? AND status <> ? AND owner <> ?", plan, assay.Finished, importedOwner)
	if err != nil {
		return assay.Run{}, s.explain("reading runs of", err)
	}
	other := ""
	for _, id := range ids {
		run, err := s.load(ctx, id)
		switch {
		case err != nil || run.PlanFile == file && run.OnMachine(machine):
			return run, err
		case other != "":
		case run.PlanFile == file:
			other = fmt.Sprintf(" of this machine; run %s was started on another one (%s)", run.ID, run.Machine())
		default:
			other = fmt.Sprintf(" from %s; run %s is of the plan of that name from %s", file, run.ID, run.PlanFile)
		}
	}
	return assay.Run{}, fmt.Errorf("%w in %s: no unfinished run of plan %q%s", ErrNotFound, s.name, plan, other)
}

const newestFirst = "owner = '" + importedOwner + "', sequence DESC"

// ids returns the IDs of the runs that the condition selects, the one that was
// begun last first, whatever the clock said then, and imported ones behind them:
// what is the newest here does not change with what others measured.
func (s *Store) ids(ctx context.Context, condition string, args ...any) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id FROM run "+condition+" ORDER BY "+newestFirst, args...)
	ids, err := collect(rows, err, func(id *string) []any { return []any{id} })
	for _, id := range ids {
		if !assay.ValidRunID(id) { // IDs become parts of file names
			return nil, invalidID(id)
		}
	}
	return ids, err
}

// choose finds the ID that the user means.
func choose(ids []string, id string) (string, error) {
	if slices.Contains(ids, id) {
		return id, nil
	}
	matches := slices.DeleteFunc(slices.Clone(ids), func(s string) bool { return !strings.HasPrefix(s, id) })
	switch len(matches) {
	case 0:
		return "", fmt.Errorf("%w: %q; there are %s", ErrNotFound, id, enumerate(ids))
	case 1:
		return matches[0], nil
	}
	return "", &severalError{fmt.Sprintf("more than one run begins with %q: %s; give more of the ID", id, enumerate(matches))}
}

// severalError says that no one run was named. It is ErrNotFound too: the user has to
// name another.
type severalError struct{ says string }

func (e *severalError) Error() string        { return e.says }
func (e *severalError) Is(target error) bool { return target == ErrNotFound }

// enumerate writes the first few IDs and how many more there are.
func enumerate(ids []string) string {
	const few = 5
	if len(ids) <= few {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:few], ", "), len(ids)-few)
}

func (s *Store) load(ctx context.Context, id string) (run assay.Run, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		run, err = s.oneRun(ctx, tx, id)
		return err
	})
	return run, s.explain(fmt.Sprintf("reading run %q of", id), err)
}

func (s *Store) oneRun(ctx context.Context, tx *sql.Tx, id string) (run assay.Run, err error) {
	var found ownedRun
	err = tx.QueryRowContext(ctx, "SELECT "+ownedColumns+" FROM run WHERE id = ?", id).Scan(found.fields()...)
	if err != nil {
		return run, err
	}
	run = found.judged()
	rows, err := tx.QueryContext(ctx, "SELECT "+targetColumns+" FROM target WHERE run_id = ? ORDER BY position", id)
	targets, err := collect(rows, err, targetFields)
	if err != nil {
		return run, err
	}
	run.Targets = append(run.Targets, targets...)
	run.Proofs, err = proofs(ctx, tx, run.PlanText)
	return run, err
}

type ownedRun struct {
	assay.Run
	owner string
}

const ownedColumns = runColumns + ", owner"

func (r *ownedRun) fields() []any { return append(runFields(&r.Run), &r.owner) }

// judged tells what a run's row does not have: whether it was imported, and whether it
// was interrupted by the death of its process, which could not write that.
func (r ownedRun) judged() assay.Run {
	r.Imported = r.owner == importedOwner
	if r.Status == assay.Running && !r.Imported && !alive(r.owner) {
		r.Status = assay.Interrupted
	}
	return r.Run
}

func insertTargets(ctx context.Context, tx *sql.Tx, run assay.Run) error {
	var rows [][]any
	for i := range run.Targets {
		rows = append(rows, append([]any{run.ID, i}, targetFields(&run.Targets[i])...))
	}
	return insertAll(ctx, tx, "target", "run_id, position, "+targetColumns, rows)
}

// read runs the function in one transaction whose queries all see one state: runs, targets
// and trials belong together.
func (s *Store) read(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, s.engine.snapshot())
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return f(tx)
}

// write runs the function in one transaction.
func (s *Store) write(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after a commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// collect scans all rows of a query; it takes the query's error too.
func collect[T any](rows *sql.Rows, err error, fields func(*T) []any) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var one T
		if err := rows.Scan(fields(&one)...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
