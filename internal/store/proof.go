package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"assay"
)

// PlanDigest names a plan by its text: SHA-256, hexadecimal.
func PlanDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// datedProof is a proof and when it was made.
type datedProof struct {
	assay.Proof
	proved string // as time.RFC3339, in UTC
}

const proofColumns = "target, build, profile, fault, claimed, states, held, refuted, kind, replay, filesystem, proved"

func (p *datedProof) fields() []any {
	return []any{&p.Target, &p.Build, &p.Profile, &p.Fault, &p.Claimed, &p.States, &p.Held, &p.Refuted, &p.Kind, &p.Replay, &p.FileSystem, &p.proved}
}

// replaceProof is what a proof that is kept for the same promise takes from a new
// one.
const replaceProof = ` ON CONFLICT (plan_digest, target, build, profile, fault, filesystem) DO UPDATE SET claimed = excluded.claimed,
	states = excluded.states, held = excluded.held, refuted = excluded.refuted, kind = excluded.kind, replay = excluded.replay, proved = excluded.proved
	WHERE `

// newer is the condition under which a later proof replaces the one before it: a
// refutation stands until as many states were tried again.
const newer = "(excluded.refuted > 0 OR excluded.states >= proof.states)"

// inOrder keeps what would be kept if both proofs had come in the order in which
// they were made.
const inOrder = "(excluded.proved > proof.proved AND " + newer + ") OR (excluded.proved < proof.proved AND proof.refuted = 0 AND proof.states < excluded.states)"

// KeepProof keeps a proof of a profile of a plan with this text. A refutation
// stands until the same states were tried again: a later proof that found
// nothing in fewer states does not replace it. When it returns nil, the proof is on
// the disk, as a trial that Append keeps.
func (s *Store) KeepProof(ctx context.Context, planText string, p assay.Proof) error {
	err := s.write(ctx, func(tx *sql.Tx) error { return insertProof(ctx, tx, PlanDigest(planText), *dated(p), newer) })
	return s.explain("keeping a proof in", err)
}

func dated(p assay.Proof) *datedProof {
	return &datedProof{p, time.Now().UTC().Format(time.RFC3339)}
}

// CheckProofs fails where the store would not keep a proof: making one takes minutes. A
// store that is locked will be free by then.
func (s *Store) CheckProofs(ctx context.Context) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := insertProof(ctx, tx, PlanDigest(""), *dated(assay.Proof{}), newer); err != nil {
			return err
		}
		return errUnwanted
	})
	if errors.Is(err, errUnwanted) || IsLocked(err) {
		return nil
	}
	return s.explain("keeping proofs in", err)
}

// errUnwanted ends a transaction that was to show only that it is possible.
var errUnwanted = errors.New("it is not to be kept")

func insertProof(ctx context.Context, tx *sql.Tx, plan string, p datedProof, condition string) error {
	values := append([]any{plan}, p.fields()...)
	_, err := tx.ExecContext(ctx, insertion("proof", "plan_digest, "+proofColumns)+replaceProof+condition, values...)
	return err
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// datedProofs returns the proofs of the profiles of a plan.
func datedProofs(ctx context.Context, from querier, planText string) ([]datedProof, error) {
	rows, err := from.QueryContext(ctx, "SELECT "+proofColumns+" FROM proof WHERE plan_digest = ? ORDER BY target, build, profile, fault, filesystem", PlanDigest(planText))
	all, err := collect(rows, err, (*datedProof).fields)
	if err != nil {
		return nil, fmt.Errorf("proofs: %w", err)
	}
	return all, nil
}

// Proofs returns what was proved of the profiles of a plan with this text.
func (s *Store) Proofs(ctx context.Context, planText string) ([]assay.Proof, error) {
	all, err := proofs(ctx, s.db, planText)
	return all, s.explain("reading proofs of", err)
}

// PlanProof is a proof of a profile of a plan, which the store knows by its digest: it
// has the plan's text only where it has a run of it.
type PlanProof struct {
	PlanDigest string
	datedProof
}

// AllProofs returns what was proved of all plans.
func (s *Store) AllProofs(ctx context.Context) ([]PlanProof, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT plan_digest, "+proofColumns+" FROM proof ORDER BY plan_digest, target, build, profile, fault, filesystem")
	all, err := collect(rows, err, func(p *PlanProof) []any { return append([]any{&p.PlanDigest}, p.fields()...) })
	return all, s.explain("reading proofs of", err)
}

// proofs returns what was proved of the profiles of a run's plan.
func proofs(ctx context.Context, from querier, planText string) ([]assay.Proof, error) {
	all, err := datedProofs(ctx, from, planText)
	return convert(all, func(p datedProof) assay.Proof { return p.Proof }), err
}
