//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"assay"
	"assay/internal/dataset/oracle"
	"assay/internal/runner/host"
	"assay/kit/column"
	"assay/kit/process"
	"assay/kit/wire"
)

const (
	// sampleTime is about how long the clients run a sample of what was measured.
	sampleTime = 10 * time.Millisecond
	// maxBehind bounds the operations of a mix behind its block, unless there are
	// more clients; behindShare is their part of the block's.
	maxBehind, behindShare = 100, 10
)

// sample is a part of what was measured, chosen at random behind it, with the
// right answers.
type sample struct {
	start int64 // in the sequence, which goes on from its beginning behind its end
	units []unitAnswer
	late  bool // it took too long to find out what is right: nothing is compared
	// unknown is a *failure where the SQL fails at some position.
	unknown error
}

// unitAnswer is the right answer at a position, and where one client is asked for
// it.
type unitAnswer struct {
	position  int
	digest    string
	operation string // that is prepared: of a mix, a part
	own       int    // position in its sequence
}

// sampleOf draws units from what was measured, the positions from one to another,
// and asks the oracle for the answers. It returns nil where there is nothing to
// compare with. An operation takes about as long as each says.
func (r *Runner) sampleOf(ctx context.Context, j *job, from, to int64, each time.Duration) (_ *sample, err error) {
	op := j.Operation
	if op.Changes || op.Serve || len(j.expected) == 0 {
		return nil, nil
	}
	unit := int64(max(1, op.Transaction))
	units := int((to - from) / unit)
	count := min(j.sampled(each*time.Duration(unit)), units)
	length := int64(j.trace.Length) / unit
	if count <= 0 || length == 0 {
		return nil, nil
	}
	key := "sample of " + j.data.Path + "|" + j.Cell.Peer()
	if r.prepared.late[key] != nil {
		return &sample{late: true}, nil // it would be late again
	}
	began := time.Now()
	defer func() { r.time.add(assay.StageVerify, time.Since(began)) }()
	s := &sample{start: from + int64(r.random.IntN(units-count+1))*unit}
	positions := make([]int, count)
	for i := range positions {
		positions[i] = int((s.start/unit + int64(i)) % length * unit)
	}
	limited, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	one := fmt.Sprint(key, " ", s.start)
	digests := r.prepared.told[one]
	if digests == nil {
		digests, err = j.data.Digests(limited, op, j.trace, positions)
	}
	if units == 1 { // there is no other sample of such a block
		r.prepared.told[one] = digests
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		if limited.Err() != nil {
			r.prepared.late[key] = err
			return &sample{late: true}, nil
		}
		err = fmt.Errorf("the right answers of %s: %w", describe(j.Cell), err)
		if oracle.SystemError(ctx, err) != nil {
			return nil, err
		}
		return &sample{unknown: &failure{assay.Failed, err.Error()}}, nil
	}
	for i, position := range positions {
		s.units = append(s.units, unitAnswer{position: position, digest: digests[i], operation: j.Cell.Peer(), own: position})
	}
	return s, s.findParts(j)
}

// sampled returns how many units are asked for again, one of which takes so long.
func (j *job) sampled(each time.Duration) int {
	most := 0
	for _, e := range j.expected {
		most = max(most, e.count/max(1, j.Operation.Transaction))
	}
	n := int(sampleTime * time.Duration(j.Cell.AllClients()) / max(1, each))
	return max(min(n, most), j.Cell.AllClients())
}

// findParts finds where the answers of a mix are in its parts.
func (s *sample) findParts(j *job) error {
	if len(j.Operation.Parts) == 0 {
		return nil
	}
	choice, err := column.Open(j.trace.Path)
	if err != nil {
		return err
	}
	for i := range s.units {
		u := &s.units[i]
		u.operation, u.own = partName(j.Operation.Parts[choice.Int(0, u.position)].Operation), int(choice.Int(1, u.position))
	}
	return choice.Close()
}

// verifySample has the clients that were measured run a sample of it once more,
// untimed, and compares each answer. Where the worker cannot tell what they answer,
// one client is asked instead.
func (in *instance) verifySample(ctx context.Context, j *job, s *sample, t *assay.Trial) error {
	if s == nil {
		return nil
	}
	if s.late {
		t.Checked = assay.CheckUnknown // the report claims nothing
		return nil
	}
	if s.unknown != nil {
		return s.unknown
	}
	began := time.Now()
	defer func() { in.r.time.add(assay.StageVerify, time.Since(began)) }()
	digests, err := in.digestsOf(ctx, j, s.start, int64(len(s.units)*max(1, j.Operation.Transaction)))
	if err != nil {
		return err
	}
	if digests == nil {
		digests, err = in.askOneClient(ctx, j, s)
	} else if t.Checked == assay.CheckAnswers {
		t.Checked = assay.CheckSample
	}
	if err != nil {
		return err
	}
	if _, err := in.acceptReordered(ctx, j, s.units, digests); err != nil {
		return err
	}
	return compareAnswers("after measuring", j, s, digests)
}

// digestsOf has the clients run a number of operations, and returns the digests of what
// they answered; nil where the worker cannot tell.
func (in *instance) digestsOf(ctx context.Context, j *job, start, operations int64) ([]string, error) {
	if !slices.Contains(in.worker.Hello().Capabilities, wire.CapAnswers) {
		return nil, nil
	}
	var m wire.Measured
	err := in.measure(ctx, wire.Measure{Operation: j.Cell.Peer(), Start: start, Operations: operations, Answers: true}, &m)
	if f, is := errors.AsType[*failure](err); is && f.outcome == assay.Unsupported {
		return nil, nil
	}
	if err == nil {
		err = wrong(m)
	}
	return m.Digests, err
}

// askOneClient asks for the answers one by one. What was not prepared for it is
// taken for right.
func (in *instance) askOneClient(ctx context.Context, j *job, s *sample) ([]string, error) {
	var digests []string
	for _, u := range s.units {
		digest := u.digest
		if _, prepared := in.prepared[u.operation]; prepared {
			var found wire.Verified // of a reply without a digest, none
			request := wire.Verify{Operation: u.operation, Start: int64(u.own), Count: int64(max(1, j.Operation.Transaction))}
			if err := in.call(ctx, wire.TypeVerify, request, &found); err != nil {
				return nil, err
			}
			digest = found.Digest
		}
		digests = append(digests, digest)
	}
	return digests, nil
}

// compareAnswers compares the answers of units with the right ones; those that are
// empty are not known.
func compareAnswers(when string, j *job, s *sample, got []string) error {
	unit := max(1, j.Operation.Transaction)
	wrong, first := 0, 0
	for i, u := range s.units {
		if u.digest == "" || i < len(got) && got[i] == u.digest {
			continue
		}
		if wrong++; wrong == 1 {
			first = i
		}
	}
	if wrong == 0 {
		return nil
	}
	digest := ""
	if first < len(got) {
		digest = got[first]
	}
	return &failure{assay.WrongAnswer, fmt.Sprintf("%s, the answers at the positions %d to %d of %s are not all right: %d of %d differ, the first at position %d (digest %.12s, right is %.12s)",
		when, s.start, s.start+int64(len(s.units)*unit)-1, j.Operation.Name, wrong, len(s.units), s.start+int64(first*unit), digest, s.units[first].digest)}
}

// operationsBehind returns how many operations the clients of a mix that changes data do
// behind its block, so that what they answer there can be compared: the block cannot
// be run again.
func operationsBehind(j *job) int {
	op := j.Operation
	reads := slices.ContainsFunc(op.Parts, func(p assay.Part) bool { return !p.Operation.Changes })
	if !op.Changes || !reads {
		return 0
	}
	return min(op.Count, max(min(maxBehind, op.Count/behindShare), j.Cell.AllClients()))
}

// expectBehind finds what the clients of a mix answer behind its block, as far as it
// is known.
func (r *Runner) expectBehind(ctx context.Context, j *job) (err error) {
	if j.behind == 0 {
		return nil
	}
	played := j.played(oracle.Done{Warm: j.warm, Measured: j.Operation.Count})
	ordered := j.Cell.AllClients() == 1
	key := fmt.Sprint(j.data.Digest, played.Name(), j.behind, ordered, played.Engine)
	j.told, err = once(ctx, r.prepared.told, key, halfLeft(ctx), func(ctx context.Context) ([]string, error) {
		return played.AnswersAfter(ctx, j.behind)
	})
	return err
}

// runBehind has the clients go on behind the block, and compares what they answer.
func (in *instance) runBehind(ctx context.Context, j *job, t *assay.Trial) error {
	if j.behind == 0 {
		return nil
	}
	start := int64(j.warm + j.Operation.Count)
	var digests []string
	err := in.r.time.during(assay.StageVerify, func() (err error) {
		digests, err = in.digestsOf(ctx, j, start, int64(j.behind))
		return err
	})
	if err == nil && digests == nil {
		_, err = in.warm(ctx, wire.Measure{Operation: j.Cell.Peer(), Start: start, Operations: int64(j.behind)})
	}
	if err != nil {
		return err
	}
	return in.compareTold(ctx, j, t, "after the block", start, digests)
}

// untrue is the outcome of an answer that cannot be true. What is measured again is none.
func untrue(kind string, err error) error {
	if err == nil || err == errPaused {
		return err
	}
	return &failure{assay.Failed, "the worker's answer to " + kind + " cannot be true: " + err.Error() + "; assay check finds out what else is wrong with it"}
}

// checkedMeasure has the worker measure, and refuses an answer that does not fit
// what was asked, the time of the call or the CPU time that the system counted.
func (in *instance) checkedMeasure(ctx context.Context, request wire.Measure, m *wire.Measured) error {
	call, err := in.checkedCall(ctx, request, m)
	if err != nil {
		return err
	}
	return in.checkPace(*m, call)
}

// checkedCall is checkedMeasure for a call that shows the worker's pace only together with
// others.
func (in *instance) checkedCall(ctx context.Context, request wire.Measure, m *wire.Measured) (wire.Call, error) {
	p := in.prepared[request.Operation]
	call := wire.Call{Measure: request, Clients: p.clients, Unit: p.unit, CPU: -1, Prepares: p.call}
	before, known := in.processCPU()
	threads, _ := in.threadTimes()
	pauses, _ := process.Pauses()
	began := time.Now()
	if err := in.call(ctx, wire.TypeMeasure, request, m); err != nil {
		return call, err
	}
	call.Took = time.Since(began)
	if now, _ := process.Pauses(); now != pauses {
		return call, errPaused
	}
	if after, ok := in.processCPU(); ok && known {
		call.CPU = after - before
	}
	if after, ok := in.threadTimes(); ok {
		call.Waited = max(0, after.Waited-threads.Waited)
		call.Ended = call.CPU-(after.Ran-threads.Ran) > call.CPU/2
	}
	return call, untrue(wire.TypeMeasure, in.r.observed.excuse(in.paceKey(call.Operation), call, m.Check(call)))
}

// excuse decides about a call that took much longer than the worker says: by an accident, where
// it is the first one of a key, which is measured again; a doubt, where threads of the worker
// have ended.
func (o *observations) excuse(key string, call wire.Call, err error) error {
	if !errors.Is(err, wire.ErrSlowClock) {
		return err
	}
	o.paces.Lock()
	defer o.paces.Unlock()
	if o.slow == nil {
		o.slow = map[string]slowness{}
	}
	before := o.slow[key]
	switch {
	case before == fast:
		o.slow[key], err = stalled, errPaused
	case call.Ended:
		o.slow[key], err = unconfirmed, nil
	}
	return err
}

// unconfirmed reports whether nobody can tell if the clock is right by which a target measures
// an operation.
func (in *instance) unconfirmed(j *job) bool {
	o := &in.r.observed
	o.paces.Lock()
	defer o.paces.Unlock()
	return o.slow[in.paceKey(j.Cell.Peer())] == unconfirmed
}

// checkPace refuses what was measured where all that the target has measured of the operation
// so far shows that its clock is wrong.
func (in *instance) checkPace(m wire.Measured, call wire.Call) error {
	key := in.paceKey(call.Operation)
	return untrue(wire.TypeMeasure, in.r.observed.excuse(key, call, in.r.observed.paces.add(key, m, call)))
}

func (in *instance) paceKey(operation string) string {
	return strings.Join([]string{in.cell().Driver, in.cell().Build, in.cell().Profile, operation}, "|")
}

const (
	// shortCalls is how many calls that measure next to nothing a launch has for
	// each operation, beside its windows: they show what a call itself takes.
	shortCalls = 5
	// shortLength is how long they are where operations are shorter.
	shortLength = 10 * time.Microsecond
)

// shortCall has the worker measure as little as it can, where it has read already.
func (t *turn) shortCall(ctx context.Context) error {
	unit := t.prepared[t.j.Cell.Peer()].unit
	units := max(1, int64(shortLength/max(1, t.each*time.Duration(unit))))
	var m wire.Measured
	return t.checkedMeasure(ctx, wire.Measure{Operation: t.j.Cell.Peer(), Operations: units * unit}, &m)
}

// paces says how long calls took beside what was measured in them, by the driver, the build,
// the profile and the operation, over all launches.
type paces struct {
	sync.Mutex // instances that are warmed up at the same time share them
	all        map[string]*wire.Pace
}

func (p *paces) add(key string, m wire.Measured, call wire.Call) error {
	p.Lock()
	defer p.Unlock()
	if p.all == nil {
		p.all = map[string]*wire.Pace{}
	}
	if p.all[key] == nil {
		p.all[key] = &wire.Pace{}
	}
	return p.all[key].Add(m, call)
}

// processCPU is the CPU time that the system counted for the worker's process.
// It is not known of a worker that is more than one process, nor under a tracer.
func (in *instance) processCPU() (time.Duration, bool) {
	if !in.isOneProcess() {
		return 0, false
	}
	return host.ProcessCPU(in.worker.PID())
}

// livingThreads is process.LivingThreads, but in tests.
var livingThreads = process.LivingThreads

// threadTimes returns the times of the worker's living threads so far, known where processCPU is.
func (in *instance) threadTimes() (process.ThreadTimes, bool) {
	if !in.isOneProcess() {
		return process.ThreadTimes{}, false
	}
	return livingThreads(in.worker.PID())
}

// isOneProcess reports whether the worker is one process that nobody traces.
func (in *instance) isOneProcess() bool {
	if in.single == nil {
		in.single = new(!in.traced && host.GroupSize(in.worker.PID()) == 1)
	}
	return *in.single
}

// impossible names a figure that is no number or below zero; nil where there is
// none. None can be kept, shown or compared.
func impossible(t *assay.Trial) error {
	for _, name := range slices.Sorted(maps.Keys(t.Figures)) {
		if v := t.Figures[name]; math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return &failure{assay.Failed, fmt.Sprintf("the worker reported an impossible value for %s: %g", name, v)}
		}
	}
	return nil
}
