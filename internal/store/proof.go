package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"time"

	"assay"
)

// planDigest names a plan by its text.
func planDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// KeepProof keeps a proof of a profile of a plan with this text. A refutation
// stands until the same states were tried again: a later proof that found
// nothing in fewer states does not replace it.
func (s *Store) KeepProof(ctx context.Context, planText string, p assay.Proof) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO proof
			(plan_digest, target, build, profile, fault, claimed, states, held, refuted, kind, replay, proved)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET claimed = excluded.claimed, states = excluded.states, held = excluded.held,
				refuted = excluded.refuted, kind = excluded.kind, replay = excluded.replay, proved = excluded.proved
			WHERE excluded.refuted > 0 OR excluded.states >= proof.states`,
			planDigest(planText), p.Target, p.Build, p.Profile, string(p.Fault), string(p.Claimed), p.States, p.Held, p.Refuted,
			string(p.Kind), p.Replay, time.Now().UTC().Format(time.RFC3339))
		return err
	})
	if err != nil {
		return explain(s.path, "keeping a proof in", err)
	}
	return nil
}

// proofs returns what was proved of the profiles of a run's plan.
func proofs(ctx context.Context, tx *sql.Tx, planText string) ([]assay.Proof, error) {
	rows, err := tx.QueryContext(ctx, `SELECT target, build, profile, fault, claimed, states, held, refuted, kind, replay
		FROM proof WHERE plan_digest = ? ORDER BY target, build, profile, fault`, planDigest(planText))
	if err != nil {
		return nil, fmt.Errorf("proofs: %w", err)
	}
	defer rows.Close()
	var all []assay.Proof
	for rows.Next() {
		var p assay.Proof
		if err := rows.Scan(&p.Target, &p.Build, &p.Profile, &p.Fault, &p.Claimed, &p.States, &p.Held, &p.Refuted, &p.Kind, &p.Replay); err != nil {
			return nil, fmt.Errorf("proofs: %w", err)
		}
		all = append(all, p)
	}
	return all, rows.Err()
}
