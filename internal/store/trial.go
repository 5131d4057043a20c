package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"assay"
	sqlite3 "modernc.org/sqlite/lib"
)

// errTrialTwice says that a run can have one such trial only.
var errTrialTwice = errors.New("the run has this trial already")

// Append adds a trial to the run of that ID, in one transaction. When it
// returns nil, the trial is on the disk. A run that was not begun gives
// ErrNotFound, and one of another owner ErrTaken. A figure that is not a number
// is an error, and so is a trial that the run has already.
func (s *Store) Append(ctx context.Context, runID string, trial assay.Trial) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := s.checkOwner(ctx, tx, runID); err != nil {
			return err
		}
		return insertTrial(ctx, tx, runID, trial)
	})
	if err != nil {
		return explain(s.path, fmt.Sprintf("appending a trial of %s to run %q in", trial.Cell.Operation, runID), err)
	}
	return nil
}

func insertTrial(ctx context.Context, tx *sql.Tx, runID string, trial assay.Trial) error {
	values := append([]any{runID, place(trial)}, trialFields(&trial)...)
	result, err := insert(ctx, tx, "trial", "run_id, place, "+trialColumns, values...)
	if resultCode(err) == sqlite3.SQLITE_CONSTRAINT_UNIQUE {
		return fmt.Errorf("%w: launch %d of group %s", errTrialTwice, trial.Launch, trial.Group)
	}
	if err != nil {
		return err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return err
	}
	for _, metric := range slices.Sorted(maps.Keys(trial.Figures)) {
		value := trial.Figures[metric]
		if math.IsNaN(value) {
			return fmt.Errorf("the figure %s is not a number", metric)
		}
		if _, err := insert(ctx, tx, "figure", "trial_id, metric, value", id, metric, value); err != nil {
			return err
		}
	}
	for i := range trial.Settings {
		values := append([]any{id, i}, settingFields(&trial.Settings[i])...)
		if _, err := insert(ctx, tx, "setting", "trial_id, position, "+settingColumns, values...); err != nil {
			return err
		}
	}
	return nil
}

// place is what a run can have one trial of only: a cell, or its twin, in a
// launch of a group. It is nil for a trial that belongs to no launch.
func place(t assay.Trial) any {
	if t.Launch == 0 {
		return nil
	}
	return fmt.Sprintf("%s|%d|%t|%s", groupName{&t}, t.Launch, t.Twin, t.Cell.Key())
}

// Trials yields the trials of the run of exactly that ID, in the order in
// which they were appended; what is appended while it goes on is left out. It
// ends after the first error, which is ErrNotFound for an unknown run.
func (s *Store) Trials(ctx context.Context, runID string) iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		if err := s.eachTrial(ctx, runID, yield); err != nil {
			yield(assay.Trial{}, explain(s.path, fmt.Sprintf("reading trials of run %q of", runID), err))
		}
	}
}

// eachTrial returns an error only where yield may be called again.
func (s *Store) eachTrial(ctx context.Context, runID string, yield func(assay.Trial, error) bool) error {
	tx, err := s.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var known bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM run WHERE id = ?)", runID).Scan(&known); err != nil {
		return err
	}
	if !known {
		return ErrNotFound
	}
	details, err := prepareDetails(ctx, tx)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, "SELECT id, "+trialColumns+" FROM trial WHERE run_id = ? ORDER BY id", runID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var trial assay.Trial
		if err := rows.Scan(append([]any{&id}, trialFields(&trial)...)...); err != nil {
			return err
		}
		if err := details.fill(ctx, id, &trial); err != nil {
			return err
		}
		if !yield(trial, nil) {
			return nil
		}
	}
	return rows.Err()
}

// details reads what a trial has in other tables.
type details struct{ figures, settings *sql.Stmt }

// prepareDetails prepares statements that the end of the transaction closes.
func prepareDetails(ctx context.Context, tx *sql.Tx) (details, error) {
	figures, err := tx.PrepareContext(ctx, "SELECT metric, value FROM figure WHERE trial_id = ?")
	if err != nil {
		return details{}, err
	}
	settings, err := tx.PrepareContext(ctx, "SELECT "+settingColumns+" FROM setting WHERE trial_id = ? ORDER BY position")
	return details{figures, settings}, err
}

func (d details) fill(ctx context.Context, id int64, trial *assay.Trial) error {
	rows, err := d.settings.QueryContext(ctx, id)
	settings, err := collect(rows, err, settingFields)
	if err != nil {
		return err
	}
	trial.Settings = append(trial.Settings, settings...)

	type figure struct {
		metric string
		value  float64
	}
	rows, err = d.figures.QueryContext(ctx, id)
	figures, err := collect(rows, err, func(f *figure) []any { return []any{&f.metric, &f.value} })
	if trial.Figures == nil && len(figures) > 0 { // a hand has changed the file
		trial.Figures = map[string]float64{}
	}
	for _, f := range figures {
		trial.Figures[f.metric] = f.value
	}
	return err
}
