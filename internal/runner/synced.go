//go:build unix

package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/runner/host"
	"assay/internal/runner/syncs"
	"assay/kit/wire"
)

const (
	// tracedUnits is how many commits a trace of system calls has, and
	// untracedUnits how many come before them, in which files grow and logs are
	// begun.
	tracedUnits   = 20
	untracedUnits = 3
	// maxTraced bounds the operations to a transaction there: how many they are
	// changes nothing but how much else goes on.
	maxTraced = 100
	// traceShare is the part of the budget that tracing may take, 1/traceShare, and
	// typicalTrace what one trace takes, while that is not known.
	traceShare   = 10
	typicalTrace = 300 * time.Millisecond
)

// tracing holds what a trace of system calls said about a cell.
type tracing struct {
	verdict syncs.Verdict
	why     string    // it says nothing; empty: it does
	earlier time.Time // when an earlier run traced it; zero: this run did
}

// traceKey returns all that a cell's syncs depend on: not how much data there is,
// nor how many clients.
func traceKey(j *job) string {
	c := j.Cell
	if j.Operation.Call() { // one of them shows it for all
		return fmt.Sprintf("%s|%s|%s|%s|%s|calls", c.Target(), c.Build, c.Profile, c.Without, c.Workload)
	}
	return fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s|%d", c.Target(), c.Build, c.Profile, c.Without, c.Workload, c.Operation, c.Statement, j.tracedTransaction())
}

// tracedTransaction returns how many operations a transaction has in a trace: the
// job's own, or fewer, so that there are several.
func (j *job) tracedTransaction() int {
	operation, trace := j.committing()
	if trace == nil || j.Operation.Call() {
		return 0
	}
	return min(operation.Transaction, maxTraced, max(1, trace.Length/(untracedUnits+tracedUnits)))
}

// committing is the operation of a job whose commits can be seen one by one,
// with its trace: itself, or the first part of a mix that changes data. The
// trace is nil where there is none.
func (j *job) committing() (assay.Operation, *dataset.Trace) {
	for i, part := range j.Operation.Parts {
		if part.Operation.Changes && j.trace.Parts[i].Length > 0 {
			return part.Operation, &j.trace.Parts[i]
		}
	}
	if j.Operation.Changes && len(j.Operation.Parts) == 0 {
		return j.Operation, j.trace
	}
	return assay.Operation{}, nil
}

func traced(j *job) bool {
	_, trace := j.committing()
	return trace != nil
}

// traceGroup traces the commits of a group's cells, each once: in a launch of
// its own, which is not measured. It takes what earlier runs saw, and traces all
// other cells or none, where that takes too much of the budget.
func (r *Runner) traceGroup(ctx context.Context, g *group) error {
	if r.config.Strace == "" {
		return nil
	}
	var untraced []*member // each with the one job to trace
	seen := map[string]bool{}
	for _, m := range g.members {
		for _, j := range m.jobs {
			key := traceKey(j)
			if _, known := r.observed.tracings[key]; known || seen[key] || !traced(j) {
				continue
			}
			seen[key] = true
			if kept, ok := readTrace(r.tracePath(j)); ok {
				r.observed.tracings[key] = kept
				continue
			}
			part := *m
			part.jobs = []*job{j}
			untraced = append(untraced, &part)
		}
	}
	fits := r.timeToTrace(len(untraced))
	for _, m := range untraced {
		j := m.jobs[0]
		if !fits {
			r.observed.tracings[traceKey(j)] = tracing{why: fmt.Sprintf("tracing takes more than a tenth of the budget of %s", brief(r.config.Budget))}
			continue
		}
		found, err := r.trace(ctx, m, j)
		if err == nil {
			err = writeTrace(r.tracePath(j), found)
		}
		if err != nil {
			return err
		}
		r.observed.tracings[traceKey(j)] = found
	}
	return nil
}

func (r *Runner) tracePath(j *job) string {
	return r.config.Traces.path(j, r.config.Work.Dir, r.config.Strace)
}

// timeToTrace reports whether the budget has time for so many further traces.
func (r *Runner) timeToTrace(further int) bool {
	spent, each := r.observed.traced, typicalTrace
	if spent.trials > 0 {
		each = spent.took / time.Duration(spent.trials)
	}
	return spent.took+time.Duration(further)*each <= r.budget()/traceShare
}

// trace runs some commits under a tracer and judges them.
func (r *Runner) trace(ctx context.Context, m *member, j *job) (tracing, error) {
	began := time.Now()
	defer func() {
		r.observed.traced = spent{r.observed.traced.trials + 1, r.observed.traced.took + time.Since(began)}
	}()
	dir, err := os.MkdirTemp(r.config.Work.Dir, "trace-")
	if err != nil {
		return tracing{}, fmt.Errorf("trace commits: %w", err)
	}
	defer os.RemoveAll(dir)
	verdict, err := r.traceIn(ctx, m, j, dir)
	if ctx.Err() != nil {
		return tracing{}, ctx.Err()
	}
	var failed *failure
	switch {
	case errors.As(err, &failed):
		return tracing{why: failed.reason}, nil // measuring it will say so, if it is not the tracer's fault
	case err != nil:
		return tracing{}, err
	case verdict.Units == 0 && verdict.Idle > 0:
		return tracing{why: "no commit that was traced wrote anything"}, nil
	case verdict.Units == 0:
		return tracing{why: "the worker leaves no marks of its commits"}, nil
	case verdict.Answer() == "":
		return tracing{why: verdict.Hidden}, nil
	}
	return tracing{verdict: verdict}, nil
}

func (r *Runner) traceIn(ctx context.Context, m *member, j *job, dir string) (syncs.Verdict, error) {
	output, marks := filepath.Join(dir, "calls"), filepath.Join(dir, "marks")
	in, err := r.startUnder(ctx, m, 0, j.method.connections(j), syncs.Command(r.config.Strace, output))
	if err != nil {
		return syncs.Verdict{}, err
	}
	defer in.kill()
	folder := filepath.Dir(in.path)
	if in.server != nil {
		folder = filepath.Join(in.path, "pg_wal") // what is written elsewhere is in this log already
	}
	if err := in.commit(ctx, j, marks); err != nil {
		return syncs.Verdict{}, err
	}
	if in.server != nil {
		in.server.Kill() // else the tracer would not end
		_ = in.stop(ctx) // it has lost its connections
	} else if err := in.stop(ctx); err != nil {
		return syncs.Verdict{}, err
	}
	file, err := os.Open(output)
	if err != nil {
		return syncs.Verdict{}, fail("read the trace", err)
	}
	defer file.Close()
	calls, err := syncs.Parse(file)
	if err == nil && in.server != nil && !shows(calls, in.path) {
		return syncs.Verdict{}, &failure{assay.Unsupported, "the server's processes were not traced: that may take another user, or the capability SYS_PTRACE"}
	}
	return syncs.Judge(calls, folder, marks, j.engine.traits().direct), err
}

// shows reports whether a trace has any call that is about a folder: each new
// connection opens files of its server's.
func shows(calls []syncs.Call, folder string) bool {
	return slices.ContainsFunc(calls, func(c syncs.Call) bool { return strings.HasPrefix(c.File, folder+"/") })
}

// commit runs some units of a job with marks behind each.
func (in *instance) commit(ctx context.Context, j *job, marks string) error {
	const name = "commit"
	operation, trace := j.committing()
	operation.Transaction = j.tracedTransaction()
	unit := max(1, operation.Transaction)
	if operation.Call() {
		operation = smallest(operation)
	}
	if _, err := in.prepare(ctx, name, operation, trace, 1); err != nil {
		return err
	}
	units := min(untracedUnits+tracedUnits, trace.Length/unit)
	if operation.Call() {
		units = callUnits
	}
	before := min(untracedUnits, units-1)
	if before > 0 {
		if _, err := in.warm(ctx, wire.Measure{Operation: name, Operations: int64(before * unit)}); err != nil {
			return err
		}
	}
	_, err := in.warm(ctx, wire.Measure{Operation: name, Start: int64(before * unit), Operations: int64((units - before) * unit), Marks: marks})
	return err
}

// synced returns what is known of the syncs of a job's commits.
func (r *Runner) synced(j *job) (tracing, bool) {
	found, known := r.observed.tracings[traceKey(j)]
	return found, known && found.why == ""
}

// proveSync puts what the trace shows in the place of a setting that the store
// cannot read back.
func (in *instance) proveSync(read []wire.Connection) {
	name := in.first.engine.traits().traced
	found, known := in.r.synced(in.first)
	if name == "" || !known {
		return
	}
	value := "0" // also where some commits happen to be synced
	if found.verdict.Answer() == "yes" {
		value = "1"
	}
	for i, c := range read {
		settings := map[string]string{name: value}
		maps.Copy(settings, c.Settings) // what it reads back stays
		read[i].Settings = settings
	}
}

// recordSyncs writes what the trace shows into a trial.
func (in *instance) recordSyncs(t *assay.Trial, j *job) {
	if !traced(j) {
		return
	}
	found, known := in.r.synced(j)
	if !known {
		why := cmp.Or(in.r.observed.tracings[traceKey(j)].why, "strace is not installed")
		t.Warnings = append(t.Warnings, assay.Warning{Code: "not-traced",
			Evidence: "whether commits are synced before they are acknowledged was not seen: " + why,
			Advice:   "durability is what the settings claim; install strace, allow tracing, or give a longer budget, to see it"})
		return
	}
	v, evidence := found.verdict, found.verdict.Evidence()
	if !found.earlier.IsZero() {
		evidence += found.earlier.Format("; traced for a run of the same build on 2006-01-02 15:04 UTC")
	}
	t.Settings = append(t.Settings, assay.Setting{Name: "sync-before-ack", Connection: "trace",
		Issued: evidence, Effective: v.Answer(), Applied: true})
	if len(j.Operation.Parts) == 0 && !j.Operation.Call() { // of a mix, only a part was traced, and of calls another size
		t.Figures[assay.SyncsPerOp] = v.Syncs / float64(max(1, j.Operation.Transaction)) / rowsPer(j.Operation)
	}
	if t.Durability == assay.Power && v.Answer() != "yes" {
		t.Warnings = append(t.Warnings, assay.Warning{Code: "acknowledged-unsynced",
			Evidence: "the settings claim that every commit survives a power cut, and the trace shows it synced before it was acknowledged: " + v.Answer() + " (" + evidence + ")",
			Advice:   "do not rely on the claim"})
	}
}

// TraceCache is a folder that keeps what traces showed, for later runs: the same
// build with the same settings makes the same system calls for the same operation
// on the same data, kernel and file system. What a trace shows is judged by package
// syncs, so that each version of assay wants a folder of its own. Empty keeps nothing.
type TraceCache string

type keptTrace struct {
	Verdict syncs.Verdict
	At      time.Time
}

// tracedCase holds all that the system calls of a job's commits follow from.
type tracedCase struct {
	Target      assay.Target
	Profile     assay.Profile
	Without     string
	Operation   assay.Operation
	Statement   string
	Transaction int
	Data        string // digest
	Arguments   string // likewise
	Host        map[string]string
	Environment []string
	Tracer      string // its file's size and time
}

// traceFacts are the facts of the machine that system calls depend on.
var traceFacts = []string{"os", "kernel", "filesystem", "mount-options"}

// traceVariables begin the names of environment variables that change what a
// program, its runtime or a server's client calls.
var traceVariables = []string{"LD_", "DYLD_", "MALLOC_", "GLIBC_", "GO", "PG", "PYTHON", "NODE_", "UV_", "RUBY", "RAILS_", "BUNDLE_", "GEM_"}

// traceEnvironment returns the variables that are set, in order.
func traceEnvironment() []string {
	kept := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return !slices.ContainsFunc(traceVariables, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
	})
	slices.Sort(kept)
	return kept
}

// path returns where the trace of a job lies; empty where nothing is kept.
func (c TraceCache) path(j *job, folder, strace string) string {
	tracer, err := os.Stat(strace)
	if c == "" || err != nil {
		return ""
	}
	facts, here := map[string]string{}, host.Facts(folder)
	for _, name := range traceFacts {
		facts[name] = here[name]
	}
	operation, trace := j.committing()
	text, err := json.Marshal(tracedCase{j.target, j.Profile, j.Cell.Without, operation, j.Cell.Statement, j.tracedTransaction(), j.data.Digest, trace.Digest, facts,
		traceEnvironment(), fmt.Sprint(tracer.Size(), " ", tracer.ModTime())})
	if err != nil {
		return "" // it is traced each time
	}
	sum := sha256.Sum256(text)
	return filepath.Join(string(c), hex.EncodeToString(sum[:])+".json")
}

// readTrace returns what is kept. What cannot be read is made again.
func readTrace(path string) (tracing, bool) {
	var kept keptTrace
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &kept) != nil || kept.Verdict.Answer() == "" {
		return tracing{}, false
	}
	return tracing{verdict: kept.Verdict, earlier: kept.At}, true
}

// writeTrace keeps what a trace shows; one that says nothing is not kept.
func writeTrace(path string, found tracing) error {
	if path == "" || found.why != "" {
		return nil
	}
	_, err := dataset.KeepJSON(path, func() (keptTrace, error) {
		return keptTrace{found.verdict, time.Now().UTC()}, os.MkdirAll(filepath.Dir(path), 0o755)
	})
	return own("keep a trace", err)
}
