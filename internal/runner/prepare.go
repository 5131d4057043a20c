//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/dataset/oracle"
	"assay/kit/process"
	"assay/kit/wire"
)

const (
	// The sequence of arguments that windows use up is as long as what it draws
	// from, within these bounds.
	minSequence = 1 << 16
	maxSequence = 1 << 21
	// verifiedRows bounds the rows whose digest is compared in every launch.
	verifiedRows = 1000
	// verifiedOperations bounds the operations, likewise.
	verifiedOperations = 100
	// warmShare is the part of a block's operations that is done before it.
	warmShare = 10
)

// job is a case with everything made that its measuring needs.
type job struct {
	assay.Case
	target    assay.Target
	program   Program
	data      *dataset.Data
	engine    engine
	source    dataset.Source // the data as the engine has them
	trace     *dataset.Trace
	put       float64 // bytes that an operation puts into a store; 0: unknown
	method    method
	warm      int   // operations before the block
	oneClient int   // operations behind it, of one client
	options   error // a *failure where a compile option that was asked for is not in the build
	expected  []expectation
	behind    int          // operations of all clients behind the block, of a mix that changes data
	told      []string     // the digests of what they answer then; empty where it is not known
	answers   string       // path of what a served operation has to answer
	state     string       // digest of the check's answer after the block; empty: unchecked
	keys      *oracle.Keys // what keys may hold after several clients changed the same; nil where nobody does
	rows      *oracle.Rows // what rows of tables may hold where the plan has no check; nil where it is not known
	// unreached is how many of the rows that the operation draws from its
	// sequence is too short for.
	unreached int64
}

// expectation is the digest that a reading operation's answers must have.
type expectation struct {
	operation assay.Operation
	trace     *dataset.Trace
	count     int
	digest    string
	rows      int64
}

// named is the name by which a worker has prepared what is verified: the
// operation itself, or a part of a mix.
func (j *job) named(e expectation) string {
	if len(j.Operation.Parts) == 0 {
		return j.Cell.Peer()
	}
	return partName(e.operation)
}

func partName(part assay.Operation) string { return "part " + part.Name }

// readyCase holds what preparing made of a case, one of these.
type readyCase struct {
	job        *job
	sum        *assay.Case  // nothing runs for it
	unmeasured *assay.Trial // says why it cannot be measured
}

// prepare makes data, traces and expected answers, each once.
func (r *Runner) prepare(ctx context.Context) error {
	for _, c := range r.config.Cases {
		made, err := r.prepareCase(ctx, c)
		if err != nil {
			return err
		}
		r.ready[c.Cell.Key()] = made
	}
	return nil
}

func (r *Runner) prepareCase(ctx context.Context, c assay.Case) (readyCase, error) {
	key := c.Cell.Target()
	program, worker := r.config.Programs[key], r.workers[key]
	switch {
	case worker.refused != nil:
		c.Cell.Build = program.Digest
		return r.leaveOut(c, worker.refused) // the others are measured all the same
	case !worker.known():
		return readyCase{}, fmt.Errorf("no worker program for driver %s", key)
	}
	target := worker.target
	c.Cell.Driver, c.Cell.DriverVersion = target.Driver, target.DriverVersion
	c.Cell.Engine, c.Cell.Build = target.Engine, target.Build
	if len(c.Operation.Terms) > 0 {
		return readyCase{sum: &c}, nil
	}
	err := fits(c, worker.capabilities)
	if why := TooLong(c, r.config.Budget, Costs{Processors: runtime.GOMAXPROCS(0)}); err == nil && why != "" {
		err = &failure{assay.NotRun, why}
	}
	if err == nil {
		c, err = worker.engine.adapt(c)
	}
	if err != nil {
		return r.leaveOut(c, err)
	}
	j := &job{Case: c, target: target, program: program, engine: worker.engine, method: methodOf(c), options: compareOptions(target)}
	err = r.prepareJob(ctx, j)
	switch {
	case errors.As(err, new(*failure)):
		return r.leaveOut(c, err)
	case err != nil:
		return readyCase{}, fmt.Errorf("%s: %w%s", describe(c.Cell), err, makeRoom(err.Error()))
	}
	return readyCase{job: j}, nil
}

// leaveOut gives a case that cannot be measured its outcome. Its error says that
// nothing can be.
func (r *Runner) leaveOut(c assay.Case, why error) (readyCase, error) {
	t := newTrial(&member{}, &job{Case: c, method: methodOf(c)}, 0)
	_ = end(&t, why) // always a failure
	return readyCase{unmeasured: &t}, r.checkEnvironment(&t)
}

func describe(cell assay.Cell) string { return sized(cell.Workload+"/"+cell.Operation, cell) }

func sized(text string, cell assay.Cell) string {
	if words := cell.ParamWords(); len(words) > 0 {
		text += " (" + strings.Join(words, ", ") + ")"
	}
	return text
}

func (r *Runner) prepareJob(ctx context.Context, j *job) error {
	err := r.limited(ctx, r.loadLimit(), "the data of "+describe(j.Cell), fmt.Sprintf("%+v", j.Dataset), func(ctx context.Context) (err error) {
		j.data, err = r.data(ctx, j.Dataset)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.prepareAnswersInTime(ctx, j); err != nil {
		return asMistake(ctx, err)
	}
	j.source, err = j.engine.fill(ctx, r, j)
	return err
}

// prepareAnswersInTime leaves an operation out whose answers take longer to find than the whole run
// measures, and mixes that it is a part of.
func (r *Runner) prepareAnswersInTime(ctx context.Context, j *job) error {
	// The same operation of another driver or profile has the same answers.
	key, named := j.data.Path+"|"+j.Cell.Peer(), j.data.Path+"|operation "
	for _, part := range j.Operation.Parts {
		if r.prepared.late[named+part.Operation.Name] != nil {
			return &failure{assay.NotRun, "its part " + part.Operation.Name + " is left out"}
		}
	}
	limit, known := r.answersLimit(), r.prepared.late[key] != nil
	err := r.limited(ctx, limit, "the expected answers of "+describe(j.Cell), key, func(ctx context.Context) error { return r.prepareAnswers(ctx, j) })
	if known || r.prepared.late[key] == nil {
		return err
	}
	why := fmt.Sprintf("its expected answers took longer than %s to find", brief(limit))
	if rows, err := j.data.RowsRead(ctx, j.Operation); err == nil && rows > 0 {
		why += fmt.Sprintf(": its SQL reads %d rows for each execution", rows)
	}
	late := &failure{assay.NotRun, why}
	r.prepared.late[key], r.prepared.late[named+j.Operation.Name] = late, late
	r.progress(LeftOut, "left out: "+describe(j.Cell)+": "+why, 0)
	return late
}

// answersLimit returns how long the expected answers of an operation may take: as long as the
// budget.
func (r *Runner) answersLimit() time.Duration {
	return min(r.config.Timeout, max(r.budget(), minGrace))
}

// halfLeft returns half of the time that expected answers may still take: what is found after them has the rest.
func halfLeft(ctx context.Context) time.Duration {
	deadline, _ := ctx.Deadline()
	return time.Until(deadline) / 2
}

// withinTime does something within a time limit, and reports whether that was reached. Where
// this process was paused meanwhile, it is done again: the time went by for nothing.
func withinTime(ctx context.Context, limit time.Duration, do func(context.Context) error) (late bool, err error) {
	for {
		pauses, _ := ownPauses()
		limited, cancel := context.WithTimeout(ctx, limit)
		err = do(limited)
		late = limited.Err() != nil
		cancel()
		inTime := !late && !errors.Is(err, dataset.ErrTimeout)
		if now, _ := ownPauses(); err == nil || inTime || now == pauses || ctx.Err() != nil {
			return late, err
		}
	}
}

// ownPauses is process.Pauses, but in tests.
var ownPauses = process.Pauses

// limited does a part of preparing within a time limit, and says which part that
// is. What took too long once is not begun again.
func (r *Runner) limited(ctx context.Context, limit time.Duration, what, key string, do func(context.Context) error) error {
	if err := r.prepared.late[key]; err != nil {
		return err
	}
	r.progress(Preparing, what, 0)
	late, err := withinTime(ctx, limit, do)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, dataset.ErrTimeout):
		r.prepared.late[key] = &failure{assay.TimedOut, fmt.Sprintf("to prepare %s: %v", what, err)}
	case !late:
		return err
	default:
		r.prepared.late[key] = &failure{assay.TimedOut, fmt.Sprintf("to prepare %s took longer than %s; the plan's timeout is %s", what, limit, r.config.Timeout)}
	}
	return r.prepared.late[key]
}

// prepareAnswers makes the arguments and the expected answers.
func (r *Runner) prepareAnswers(ctx context.Context, j *job) error {
	var err error
	if j.Operation, err = j.data.Resolve(ctx, j.Operation); err != nil {
		return err
	}
	length, err := j.method.arguments(ctx, j)
	if err != nil {
		return err
	}
	if j.trace, err = j.data.Trace(ctx, j.Operation, length); err != nil {
		return err
	}
	if j.Operation.Serve {
		if j.answers, err = j.data.Answers(ctx, j.Operation, j.trace); err != nil {
			return err
		}
	}
	if j.put, err = bytesPut(j); err != nil {
		return err
	}
	if j.Operation.Call() {
		return expectCall(ctx, j)
	}
	return r.expect(ctx, j)
}

const (
	// loneShare and maxLone bound what one client does alone behind a block.
	loneShare = 10
	maxLone   = 200
)

// oneClientOperations returns how many operations one client does behind the block of
// several whose order nobody knows, so that it is known what is the newest of the
// keys that it writes.
func oneClientOperations(j *job) int {
	op := j.Operation
	if !op.Changes || op.Check != nil || op.Sorted || op.Cold || j.Cell.AllClients() == 1 || !op.KV() && j.engine.traits().plays == oracle.PostgreSQL && !oracle.Portable(op) {
		return 0
	}
	unit := max(1, op.Transaction)
	return (min(maxLone, op.Count/loneShare) + unit - 1) / unit * unit
}

// done are the operations that leave what is checked.
func (j *job) done() oracle.Done {
	return oracle.Done{Warm: j.warm, Measured: j.Operation.Count + j.behind, OneClient: j.oneClient}
}

// played is so much of the job, for the oracle.
func (j *job) played(done oracle.Done) oracle.Played {
	return oracle.Played{Data: j.data, Operation: j.Operation, Trace: j.trace, Done: done, Clients: j.Cell.AllClients(), Engine: j.engine.traits().plays}
}

// expect asks the oracle for the right answers.
func (r *Runner) expect(ctx context.Context, j *job) error {
	for _, e := range verifiable(j.Operation, j.trace) {
		scans, err := j.data.Scans(ctx, e.operation)
		if err != nil {
			return err
		}
		if scans {
			e.count = 1
		}
		found, err := j.data.Expect(ctx, e.operation, e.trace, 0, e.count)
		if err != nil {
			return err
		}
		e.digest, e.rows = found.Digest, found.Rows
		j.expected = append(j.expected, e)
	}
	if j.Operation.Sequence != "" {
		if err := r.expectReplay(ctx, j); err != nil {
			return err
		}
	}
	if !j.Operation.Changes {
		return nil
	}
	if err := r.expectBehind(ctx, j); err != nil {
		return err
	}
	if j.Operation.Check == nil {
		return r.expectLeft(ctx, j)
	}
	return r.expectState(ctx, j)
}

// expectState finds what the plan's check has to answer. Of several clients nobody knows
// who commits first: where the answer depends on that, rows are compared instead, and nothing
// where there was no time to find out: rows take longer.
func (r *Runner) expectState(ctx context.Context, j *job) error {
	found, err := j.data.Expect(ctx, j.Operation, j.trace, j.warm, j.Operation.Count+j.behind)
	if err != nil {
		return err
	}
	if j.Cell.AllClients() > 1 {
		played := j.played(j.done())
		anyOrder, err := once(ctx, r.prepared.anyOrder, j.data.Digest+played.Name(), halfLeft(ctx), func(ctx context.Context) (*bool, error) {
			same, err := played.AnyOrder(ctx, found.State)
			if err != nil {
				return nil, err
			}
			return &same, nil
		})
		if err != nil || anyOrder == nil {
			return err
		}
		if !*anyOrder {
			return r.expectLeft(ctx, j)
		}
	}
	j.state = found.State
	return nil
}

// expectLeft finds what keys or rows may hold where no check of the plan says what to read.
func (r *Runner) expectLeft(ctx context.Context, j *job) (err error) {
	played := j.played(j.done())
	switch key := j.data.Digest + played.Name(); {
	case j.singleConnection(): // none can read them
	case j.Operation.KV():
		j.keys, err = once(ctx, r.prepared.keys, key, r.answersLimit(), played.Keys)
	default:
		j.rows, err = once(ctx, r.prepared.rows, fmt.Sprint(key, played.Clients, played.Engine), halfLeft(ctx), played.Rows)
	}
	return err
}

// checksLeft reports whether something of what the changes leave is compared with what is right.
func (j *job) checksLeft() bool {
	return j.state != "" || j.keys != nil || j.rows != nil && len(j.rows.Values)+len(j.rows.Counts) > 0
}

// exclusiveLock is how SQL and DSNs ask for the lock that keeps other connections out.
var exclusiveLock = regexp.MustCompile(`(?i)locking(_mode)?(\W|%[0-9a-f]{2})+exclusive`)

// singleConnection reports whether the profile lets nobody read beside the connection that writes.
func (j *job) singleConnection() bool {
	said := strings.Join(slices.Concat(j.Profile.Once, j.Profile.Each, []string{j.Profile.Raw[j.Cell.Driver]}), "\n")
	requested := j.Profile.Requested()
	return len(j.Operation.Parts) == 0 && j.Cell.Pool <= 1 && requested["shared_cache"] != "1" &&
		(requested["locking_mode"] == "exclusive" || exclusiveLock.MatchString(said))
}

// checked returns how much of the job is compared with what is right.
func (j *job) checked() assay.Check {
	switch {
	case j.state != "":
		return assay.CheckState
	case j.checksLeft():
		return assay.CheckKeys
	case len(j.expected) > 0 || j.answers != "":
		return assay.CheckAnswers
	}
	return assay.CheckRows
}

// verifiable lists the reading operations of an operation that have one answer:
// itself, or the reading parts of a mix.
func verifiable(op assay.Operation, trace *dataset.Trace) []expectation {
	if len(op.Parts) > 0 {
		var all []expectation
		for i, part := range op.Parts {
			if latest(part.Operation) {
				continue // some of its keys are only there when the mix has put them
			}
			all = append(all, verifiable(part.Operation, &trace.Parts[i])...)
		}
		return all
	}
	if op.Changes || dataset.Varies(op) || trace.Length == 0 { // a rare part of a mix may not be drawn
		return nil
	}
	rows := 0
	for _, step := range op.Steps {
		rows += max(1, step.Rows)
	}
	count := min(max(1, verifiedRows/max(1, rows)), verifiedOperations, trace.Length)
	return []expectation{{operation: op, trace: trace, count: count}}
}

// latest reports whether an operation draws from what a mix has added.
func latest(op assay.Operation) bool {
	return len(op.Steps) > 0 && len(op.Steps[0].Args) > 0 && op.Steps[0].Args[0].Draw == assay.Latest
}

func wireOperation(name string, op assay.Operation, trace *dataset.Trace) wire.Operation {
	out := wire.Operation{Name: name, Trace: trace.Path, Changes: op.Changes, Statement: wire.Policy(op.Statement),
		Transaction: op.Transaction, RetryBusy: op.RetryBusy}
	if len(op.Parts) > 0 {
		for i, part := range op.Parts {
			out.Parts = append(out.Parts, wireOperation(part.Operation.Name, part.Operation, &trace.Parts[i]))
		}
		return out
	}
	arguments := 0
	for _, step := range op.Steps {
		out.Steps = append(out.Steps, wire.Step{SQL: step.SQL, Script: step.Script, Call: step.Call, N: step.N, KV: step.KV, Fields: step.Fields, Field: step.Field, Query: step.Query, Args: len(step.Args),
			Rows: step.Rows, Returns: assay.TypeNames(step.Returns)})
		arguments += len(step.Args)
	}
	if arguments == 0 {
		out.Trace = "" // one position, again and again
	}
	return out
}
