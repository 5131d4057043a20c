package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"assay"
)

// pushedOwner is the owner of runs that were pushed to a store: they are no less than those
// that were begun there, and nobody resumes them there.
const pushedOwner = ""

// Push adds a run of this store, with the proofs of its plan, to another one, which then
// has it as it is here. It returns false where there was nothing to add: the other store has
// it, or it has no trials. What an unfinished run has become since it was pushed takes its
// place.
func (s *Store) Push(ctx context.Context, to *Store, id string) (added bool, err error) {
	var file bytes.Buffer
	run, err := s.Export(ctx, id, &file)
	if err != nil {
		return false, err
	}
	owner := pushedOwner
	if run.Imported {
		owner = importedOwner
	}
	_, added, err = to.add(ctx, bytes.NewReader(file.Bytes()), MaxUnpacked, owner)
	if errors.Is(err, errNoTrials) {
		return false, nil
	}
	return added, err
}

// Unpushed are the IDs of this store's own runs that have ended and that another store
// does not have, or has in an earlier state, the oldest first.
func (s *Store) Unpushed(ctx context.Context, to *Store) (ids []string, err error) {
	own, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	there, err := to.Runs(ctx)
	if err != nil {
		return nil, err
	}
	finished := map[string]bool{}
	for _, run := range there {
		finished[run.ID] = run.Status == assay.Finished
	}
	for i := len(own) - 1; i >= 0; i-- {
		if run := own[i]; !run.Imported && run.Status != assay.Running && !finished[run.ID] {
			ids = append(ids, run.ID)
		}
	}
	return ids, nil
}

// PushProofs merges all proofs of this store with those of another one, as if they had all
// been made there.
func (s *Store) PushProofs(ctx context.Context, to *Store) error {
	all, err := s.AllProofs(ctx)
	if err != nil {
		return err
	}
	err = to.write(ctx, func(tx *sql.Tx) error {
		for _, p := range all {
			if err := insertProof(ctx, tx, p.PlanDigest, p.datedProof, inOrder); err != nil {
				return err
			}
		}
		return nil
	})
	return to.explain("pushing proofs to", err)
}
