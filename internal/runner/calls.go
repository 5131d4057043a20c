//go:build unix

package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"assay"
	"assay/internal/runner/host"
	"assay/kit/wire"
)

// callUnits is how many units a trace of a call's system calls has, each of
// them with many commits; they come after untracedUnits more.
const callUnits = untracedUnits + 3

// expectCall asks the oracle for what a call answers.
func expectCall(ctx context.Context, j *job) error {
	found, err := j.data.Expect(ctx, j.Operation, j.trace, 0, 1)
	if err != nil {
		return err
	}
	j.Operation.Steps = slices.Clone(j.Operation.Steps)
	j.Operation.Steps[0].Rows = int(found.Rows)
	j.expected = []expectation{{operation: j.Operation, trace: j.trace, count: 1, digest: found.Digest}}
	return nil
}

// smallest is a call of size 1, whatever it answers then.
func smallest(op assay.Operation) assay.Operation {
	op.Steps = slices.Clone(op.Steps)
	op.Steps[0].N, op.Steps[0].Rows = 1, -1
	return op
}

// sequence is a launch of one member whose operations are calls.
type sequence struct {
	r      *Runner
	m      *member
	launch int
	in     *instance // nil: none is running
	since  int       // the first trial that the running instance has measured
	trials []assay.Trial
	used   time.Duration // CPU time of ended processes
}

// sequence measures the calls of a member in the plan's order, in one process
// on one copy of the data. A call that ends it costs its own outcome only: the
// next one starts another. All share what disturbed them.
func (r *Runner) sequence(ctx context.Context, g *group, m *member, launch int) error {
	s := &sequence{r: r, m: m, launch: launch}
	began, meter, before := time.Now(), host.Start(), host.SelfCPU()
	err := s.run(ctx)
	if err == nil {
		err = s.complete(ctx)
	}
	s.end()
	if err != nil {
		return err
	}
	took, noise := time.Since(began), meter.Stop(host.SelfCPU()-before+s.used)
	for i := range s.trials {
		if err := r.finish(g, &s.trials[i], noise, took); err != nil {
			return err
		}
	}
	return nil
}

// run measures each call. Where no process can be started, all that are left
// end alike.
func (s *sequence) run(ctx context.Context) error {
	var refused error
	for _, j := range s.m.jobs {
		began := time.Now()
		t := newTrial(s.m, j, s.launch)
		err := refused
		if err == nil && s.in == nil {
			s.in, refused = s.r.start(ctx, s.m, s.launch, j.method.connections(j))
			err, s.since = refused, len(s.trials)
		}
		if err == nil {
			t = s.in.trial(j, s.launch)
			err = s.in.measureCall(ctx, j, &t)
		}
		if err := end(&t, err); err != nil {
			return err
		}
		t.Took = time.Since(began)
		s.trials = append(s.trials, t)
		if err != nil && refused == nil {
			s.end() // it may not answer any more
		}
	}
	return nil
}

// measureCall measures a block of one call, and verifies what its last unit did. Its
// error is that of the process; what the call did wrong is in the trial.
func (in *instance) measureCall(ctx context.Context, j *job, t *assay.Trial) error {
	if _, err := in.prepareOperation(ctx, j); err != nil {
		return err
	}
	var tally tally
	var m wire.Measured
	request := wire.Measure{Operation: j.Cell.Peer(), Operations: int64(j.Operation.Count), Latency: true}
	if err := in.measure(ctx, request, &m); err != nil {
		return err
	}
	tally.add(m)
	in.r.time.add(assay.StageMeasured, tally.took())
	if err := tally.failure(); err != nil {
		return end(t, err)
	}
	var err error
	t.Digest, _, err = in.verify(ctx, j)
	if wrong, is := errors.AsType[*failure](err); is && wrong.outcome == assay.WrongAnswer {
		return end(t, err)
	}
	if err != nil {
		return err
	}
	tally.record(t, j.Operation)
	in.recordSyncs(t, j)
	return nil
}

// complete reads the settings back after the last call and closes. What is not
// effective then was not for any call of the process.
func (s *sequence) complete(ctx context.Context) error {
	if s.in == nil {
		return nil
	}
	err := s.in.readSettings(ctx)
	if err == nil {
		err = s.in.stop(ctx)
	}
	for i := s.since; i < len(s.trials); i++ {
		t, j := &s.trials[i], s.m.job(s.trials[i].Cell.Peer())
		traced := slices.DeleteFunc(slices.Clone(t.Settings), func(set assay.Setting) bool { return set.Connection != "trace" })
		s.in.recordSettings(t, j.Operation)
		t.Settings = append(slices.Clone(t.Settings), traced...)
		for _, err := range []error{err, s.in.applied} {
			if err := end(t, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// end ends the running process, however it is.
func (s *sequence) end() {
	if s.in != nil {
		s.in.kill()
		s.used += s.in.used
		s.in = nil
	}
}
