package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"assay"
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
	return s.explain(fmt.Sprintf("appending a trial of %s to run %q in", trial.Cell.Operation, runID), err)
}

func insertTrial(ctx context.Context, tx *sql.Tx, runID string, trial assay.Trial) error {
	values := append([]any{runID, placeOf(trial)}, trialFields(&trial)...)
	var id int64
	err := tx.QueryRowContext(ctx, insertion("trial", "run_id, place, "+trialColumns)+" ON CONFLICT (run_id, place) DO NOTHING RETURNING id", values...).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: launch %d of group %s", errTrialTwice, trial.Launch, trial.Group)
	}
	if err != nil {
		return err
	}
	var figures, settings [][]any
	for _, metric := range slices.Sorted(maps.Keys(trial.Figures)) {
		value := trial.Figures[metric]
		if math.IsNaN(value) {
			return fmt.Errorf("the figure %s is not a number", metric)
		}
		figures = append(figures, []any{id, metric, value})
	}
	for i := range trial.Settings {
		settings = append(settings, append([]any{id, i}, settingFields(&trial.Settings[i])...))
	}
	if err := insertAll(ctx, tx, "figure", "trial_id, metric, value", figures); err != nil {
		return err
	}
	return insertAll(ctx, tx, "setting", "trial_id, position, "+settingColumns, settings)
}

// maxPlace is how long a place may be as it is: PostgreSQL indexes no text of more
// than 2704 bytes.
const maxPlace = 1000

// placeOf returns what a run can have one trial of only: a cell, or its twin, in a
// launch of a group; nil for a trial that belongs to no launch.
func placeOf(t assay.Trial) *string {
	if t.Launch == 0 {
		return nil
	}
	text := fmt.Sprintf("%s|%d|%t|%s", groupName{&t}, t.Launch, t.Twin, t.Cell.Key())
	if len(text) > maxPlace {
		sum := sha256.Sum256([]byte(text))
		text = hex.EncodeToString(sum[:])
	}
	return &text
}

// Trials yields the trials of the run of exactly that ID, in the order in
// which they were appended; what is appended while it goes on is left out. It
// ends after the first error, which is ErrNotFound for an unknown run.
func (s *Store) Trials(ctx context.Context, runID string) iter.Seq2[assay.Trial, error] {
	return func(yield func(assay.Trial, error) bool) {
		if err := s.eachTrial(ctx, runID, yield); err != nil {
			yield(assay.Trial{}, s.explain(fmt.Sprintf("reading trials of run %q of", runID), err))
		}
	}
}

// eachTrial returns an error only where yield may be called again.
func (s *Store) eachTrial(ctx context.Context, runID string, yield func(assay.Trial, error) bool) error {
	return s.read(ctx, func(tx *sql.Tx) error {
		var known bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM run WHERE id = ?)", runID).Scan(&known); err != nil {
			return err
		}
		if !known {
			return ErrNotFound
		}
		for after := int64(math.MinInt64); ; {
			ids, page, err := readPage(ctx, tx, runID, after)
			if err != nil {
				return err
			}
			for _, trial := range page {
				if !yield(trial, nil) {
					return nil
				}
			}
			if len(ids) < trialsInPage {
				return nil
			}
			after = ids[len(ids)-1]
		}
	})
}

// trialsInPage is how many trials are read at a time: a connection to a server
// cannot answer a second query while it answers the first.
const trialsInPage = 100

// readPage reads the next trials of a run, those with an ID above one.
func readPage(ctx context.Context, tx *sql.Tx, runID string, after int64) ([]int64, []assay.Trial, error) {
	type stored struct {
		id int64
		assay.Trial
	}
	rows, err := tx.QueryContext(ctx, "SELECT id, "+trialColumns+" FROM trial WHERE run_id = ? AND id > ? ORDER BY id LIMIT ?", runID, after, trialsInPage)
	found, err := collect(rows, err, func(t *stored) []any { return append([]any{&t.id}, trialFields(&t.Trial)...) })
	if err != nil || len(found) == 0 {
		return nil, nil, err
	}
	ids, page, byID := make([]int64, len(found)), make([]assay.Trial, len(found)), map[int64]*assay.Trial{}
	for i := range found {
		ids[i], page[i] = found[i].id, found[i].Trial
		byID[ids[i]] = &page[i]
	}
	return ids, page, readDetails(ctx, tx, byID, runID, after, ids[len(ids)-1])
}

func readDetails(ctx context.Context, tx *sql.Tx, byID map[int64]*assay.Trial, runID string, after, last int64) error {
	const ofPage = " FROM trial t JOIN %s d ON d.trial_id = t.id WHERE t.run_id = ? AND t.id > ? AND t.id <= ?"
	type figure struct {
		trial  int64
		metric string
		value  float64
	}
	rows, err := tx.QueryContext(ctx, "SELECT d.trial_id, d.metric, d.value"+fmt.Sprintf(ofPage, "figure"), runID, after, last)
	figures, err := collect(rows, err, func(f *figure) []any { return []any{&f.trial, &f.metric, &f.value} })
	if err != nil {
		return err
	}
	for _, f := range figures {
		trial := byID[f.trial]
		if trial.Figures == nil { // the file was edited manually
			trial.Figures = map[string]float64{}
		}
		trial.Figures[f.metric] = f.value
	}
	type setting struct {
		trial int64
		assay.Setting
	}
	rows, err = tx.QueryContext(ctx, "SELECT d.trial_id, "+settingColumns+fmt.Sprintf(ofPage, "setting")+" ORDER BY t.id, d.position", runID, after, last)
	settings, err := collect(rows, err, func(s *setting) []any { return append([]any{&s.trial}, settingFields(&s.Setting)...) })
	for _, s := range settings {
		byID[s.trial].Settings = append(byID[s.trial].Settings, s.Setting)
	}
	return err
}
