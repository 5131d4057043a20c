//go:build unix

package runner

import (
	"context"

	"assay"
	"assay/internal/dataset/oracle"
)

// expectReplay finds what the units of a sequence answer.
func (r *Runner) expectReplay(ctx context.Context, j *job) (err error) {
	played := j.played(oracle.Done{Measured: j.Operation.Count})
	key := "replay of " + j.data.Digest + played.Name()
	if j.told = r.prepared.told[key]; j.told != nil {
		return nil
	}
	if j.told, err = played.Told(ctx); err == nil {
		r.prepared.told[key] = j.told
	}
	return err
}

// runReplay has another instance do the sequence first and tell what it answers: to tell takes
// time, and what is measured cannot be done again on the same data.
func (in *instance) runReplay(ctx context.Context, j *job, t *assay.Trial) error {
	if err := in.verifyReplay(ctx, j, t); err != nil {
		return err
	}
	return in.runBlock(ctx, j, t)
}

func (in *instance) verifyReplay(ctx context.Context, j *job, t *assay.Trial) error {
	if j.told == nil {
		return nil
	}
	other, err := in.r.start(ctx, in.member, t.Launch, in.asked)
	if err != nil {
		return err
	}
	defer other.kill()
	if _, err := other.prepareOperation(ctx, j); err != nil {
		return err
	}
	digests, err := other.digestsOf(ctx, j, 0, int64(j.Operation.Count))
	if err != nil || digests == nil {
		return err
	}
	var units []unitAnswer
	for i := range j.told {
		units = append(units, unitAnswer{position: i, operation: j.Cell.Peer(), own: i})
	}
	s := &sample{units: units}
	if err := s.findParts(j); err != nil {
		return err
	}
	if err := other.acceptReordered(ctx, j, s.units, digests, j.told); err != nil {
		return err
	}
	return compareAnswers("in the replay before the measured one", j, 0, digests, j.told)
}
