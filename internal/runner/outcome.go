//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/kit/kv"
	"assay/kit/process"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// failure says how measuring a cell ended badly: data, not an error of the run.
type failure struct {
	outcome assay.Outcome
	reason  string
}

func (f *failure) Error() string { return string(f.outcome) + ": " + f.reason }

// fail makes a failure of an error from the worker or the system. What ends the run or the
// launch is no failure of a cell and passes through.
func fail(doing string, err error) error {
	for _, end := range []error{nil, context.Canceled, errBudgetEnded, errPaused, errDelays} {
		if errors.Is(err, end) {
			return err
		}
	}
	if errors.As(err, new(*failure)) {
		return err
	}
	reason := doing + ": " + err.Error()
	switch {
	case process.IsUnsupported(err):
		return &failure{assay.Unsupported, reason}
	case errors.Is(err, process.ErrTimeout):
		return &failure{assay.TimedOut, reason}
	}
	return &failure{assay.Failed, reason}
}

// trial starts the record of a job in a launch, with all that is known before
// measuring.
func (in *instance) trial(j *job, launch int) assay.Trial {
	t := newTrial(in.member, j, launch)
	t.Layout = in.layout
	t.Checked = j.checked()
	in.recordSettings(&t, j.Operation)
	t.DSN = in.withoutPath(in.opened.DSN)
	for _, text := range in.opened.Each {
		t.Each = append(t.Each, in.withoutPath(text))
	}
	t.Warnings = slices.Concat(j.programWarnings(), j.cacheWarning(), j.sequenceWarning(), j.uncompared(), BeginWarning(j.Case), in.storageWarning(j.Operation))
	t.Warnings = append(t.Warnings, knownBugs(j.target, t.Settings, j.Operation)...)
	return t
}

func newTrial(m *member, j *job, launch int) assay.Trial {
	return assay.Trial{Cell: j.Cell, Group: m.group, Launch: launch, Twin: m.twin, Mode: j.method.mode(), Outcome: assay.OK,
		Figures: map[string]float64{}, Started: time.Now().UTC()}
}

// end gives a trial the outcome of errors. It returns the first that is no outcome of a
// cell.
func end(t *assay.Trial, errs ...error) error {
	for _, err := range errs {
		f, is := errors.AsType[*failure](err)
		switch {
		case err == nil:
		case !is:
			return err
		case assay.Worse(t.Outcome, f.outcome) == f.outcome && t.Outcome != f.outcome:
			t.Reason, t.Outcome = f.reason+makeRoom(f.reason), f.outcome
		}
	}
	return nil
}

func tooManyFiles(reason string) bool { return strings.Contains(reason, syscall.EMFILE.Error()) }

// makeRoom returns what to do about a full disk or too many files, whichever process met them:
// the system's words are from here, SQLite's from a worker.
func makeRoom(reason string) string {
	if tooManyFiles(reason) {
		return "; raise the limit of open files (ulimit -n), or use fewer clients and connections"
	}
	if isFull(reason) || strings.Contains(reason, "disk is full") {
		return "; free some space, or put the databases elsewhere by XDG_CACHE_HOME"
	}
	return ""
}

// MistakeError is a mistake of the plan that its data show: SQL that they refuse, other
// rows or types than the plan declares.
type MistakeError struct{ err error }

func (e *MistakeError) Error() string { return e.err.Error() }
func (e *MistakeError) Unwrap() error { return e.err }

// asMistake makes an error a mistake of the plan where the data refuse what it asks for.
func asMistake(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.As(err, new(*failure)) || errors.Is(err, context.DeadlineExceeded) || !dataset.IsRefusal(err) {
		return err
	}
	return &MistakeError{err}
}

// compareOptions returns a *failure that names each compile option which was
// asked for and is not in the build, as the engine itself says; nil where all
// are. A compiler takes whatever it is given, and a driver's own flags come
// after a user's.
func compareOptions(target assay.Target) error {
	has := map[string]string{}
	for _, option := range target.CompileOptions {
		name, value, _ := strings.Cut(strings.TrimPrefix(option, "SQLITE_"), "=")
		has[name] = value
	}
	var wrong []string
	for _, asked := range sqlite.CompileOptions(target.Options) {
		name, want, _ := strings.Cut(asked, "=")
		value, is := has[name]
		switch {
		case !is:
			wrong = append(wrong, fmt.Sprintf("compile option %s was asked for and is not in this build: it is misspelt, or %s %s does not know it or does not list it",
				asked, target.Engine, target.EngineVersion))
		case value != want && !(value == "" && want == "1") && !(value == "1" && want == ""):
			wrong = append(wrong, fmt.Sprintf("compile option %s was asked for and is %s in this build: the driver's own flags overrode it",
				asked, strings.TrimSuffix(name+"="+value, "=")))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return &failure{assay.NotApplied, strings.Join(wrong, "; ")}
}

// joinFailures joins what two checks of the same kind found; nil where neither
// found anything.
func joinFailures(a, b error) error {
	var first, second *failure
	if !errors.As(a, &first) {
		return b
	}
	if !errors.As(b, &second) {
		return a
	}
	reasons := slices.Compact([]string{first.reason, second.reason})
	return &failure{assay.Worse(first.outcome, second.outcome), strings.Join(reasons, "; ")}
}

// EnvironmentError says that nothing can be measured any more, whatever the
// driver: the disk is full or broken, or the cache is gone. It ends the run,
// which can be resumed, and is no outcome of the cell that met it.
type EnvironmentError struct{ Err error }

func (e *EnvironmentError) Error() string {
	return fmt.Sprintf("the run cannot go on: %v%s; resume it with --resume when that is fixed", e.Err, makeRoom(e.Err.Error()))
}

func (e *EnvironmentError) Unwrap() error { return e.Err }

// environmental are the errors of the system that no driver causes.
var environmental = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, fs.ErrNotExist}

// own is fail, for work of this process on its own files: what the system
// refuses there is no fault of a driver.
func own(doing string, err error) error {
	for _, cause := range environmental {
		if errors.Is(err, cause) {
			return &EnvironmentError{fmt.Errorf("%s: %w", doing, err)}
		}
	}
	return fail(doing, err)
}

// exhausted are the errors of a system that has no more of something.
var exhausted = []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM}

// notStarted is fail, for a worker that did not start: what the system refuses to
// this process before there is a worker is no fault of a driver.
func notStarted(err error) error {
	for _, cause := range exhausted {
		if errors.Is(err, cause) {
			return &EnvironmentError{fmt.Errorf("start a worker: %w", err)}
		}
	}
	return fail("start", err)
}

// checkEnvironment reports whether a trial failed because nothing can be measured
// any more: then it has no outcome.
func (r *Runner) checkEnvironment(t *assay.Trial) error {
	if t.Outcome != assay.Failed && t.Outcome != assay.TimedOut && !isFull(t.Reason) {
		return nil
	}
	if err := r.config.Work.check(); err != nil {
		return &EnvironmentError{fmt.Errorf("%s: %w", describe(t.Cell), err)}
	}
	if isFull(t.Reason) { // there may be room again, now that its files are gone
		return &EnvironmentError{fmt.Errorf("%s: %s", describe(t.Cell), t.Reason)}
	}
	return nil
}

// isFull reports whether words are about a full disk: the system's, from here or
// from a server that begins a sentence with them.
func isFull(words string) bool {
	return strings.Contains(strings.ToLower(words), syscall.ENOSPC.Error())
}

// Prepared prepares operations with a worker program, on a private copy of the data at
// a path, and returns by operation why the worker refuses it. Nothing is executed, so
// that one worker after the other may have the same copy. Each request has the time
// limit. Its error says that the worker could not be asked.
func Prepared(ctx context.Context, program, path string, data *dataset.Data, operations []assay.Operation, limit time.Duration) (plans map[string]string, refused map[string]error, err error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), "refused-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	worker, err := startWorker(ctx, Config{Timeout: limit}, program, process.Options{Dir: dir})
	if err != nil {
		return nil, nil, err
	}
	defer worker.Kill()
	ask := func(kind string, request, reply any) error {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return worker.Call(limited, kind, request, reply)
	}
	if err := ask(wire.TypeOpen, wire.Open{Path: path, Readers: 1, Idle: 1, Writers: 1}, nil); err != nil {
		return nil, nil, fmt.Errorf("open the data: %w", err)
	}
	plans, refused = map[string]string{}, map[string]error{}
	for _, op := range operations {
		resolved, err := data.Resolve(ctx, op)
		if err != nil {
			return nil, nil, err
		}
		trace, err := data.Trace(ctx, resolved, 1)
		if err != nil {
			return nil, nil, err
		}
		var prepared wire.Prepared
		err = ask(wire.TypePrepare, wire.Prepare{Operation: wireOperation(op.Name, resolved, trace), Clients: 1}, &prepared)
		if said, is := errors.AsType[*wire.Error](err); is {
			refused[op.Name] = errors.New(said.Message)
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("prepare %s: %w", op.Name, err)
		}
		plans[op.Name] = prepared.QueryPlan
	}
	return plans, refused, nil
}

// compareSettings sets requested beside effective, for every connection. The
// second result is a *failure that names each setting which is not effective,
// and the connections of those asked for that were not read back. A worker's
// word is not enough where the database file itself can tell.
func compareSettings(profile assay.Profile, opened wire.Opened, asked connections, read []wire.Connection, path string) ([]assay.Setting, error) {
	requested := profile.Requested()
	var all []assay.Setting
	for _, connection := range read {
		for _, name := range settingNames(requested, connection.Settings) {
			s := assay.Setting{Name: name, Connection: connection.Name, Requested: requested[name],
				Issued: opened.Issued[name], Effective: connection.Settings[name]}
			s.Applied = s.Requested == "" || equalSetting(name, s.Requested, s.Effective) || onlyTraced(s)
			all = append(all, s)
		}
	}
	var wrong []string
	for _, s := range condense(all) {
		if !s.Applied {
			wrong = append(wrong, notApplied(s))
		}
	}
	if len(requested) > 0 && len(read) == 0 {
		wrong = append(wrong, "the worker read no setting back")
	}
	if len(read) > 0 { // else nothing is read back by this worker, as by one that has no settings
		wrong = append(wrong, unread(asked, read)...)
	}
	wrong = append(wrong, contradictions(condense(all), path)...)
	if len(wrong) == 0 {
		return all, nil
	}
	return all, &failure{assay.NotApplied, strings.Join(slices.Compact(wrong), "; ")}
}

// unread says which connections were asked for and not read back.
func unread(asked connections, read []wire.Connection) []string {
	seen := map[string]bool{}
	for _, c := range read {
		seen[c.Name] = true
	}
	var all []string
	for _, kind := range []struct {
		name  func(int) string
		count int
	}{{wire.ReaderName, asked.readers}, {wire.WriterName, asked.writers}} {
		var missing []string
		for i := range kind.count {
			if name := kind.name(i); !seen[name] {
				missing = append(missing, name)
			}
		}
		if len(missing) > 0 {
			all = append(all, join(missing)+" was not read back")
		}
	}
	return all
}

// join names connections of one kind: FIRST..LAST (how many).
func join(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s..%s (%d)", names[0], names[len(names)-1], len(names))
}

// condense joins connections of one kind that read alike: a pool of a thousand
// says the same a thousand times.
func condense(all []assay.Setting) []assay.Setting {
	var kept []assay.Setting
	index := map[assay.Setting]int{}
	members := map[int][]string{}
	for _, s := range all {
		kind, _, _ := strings.Cut(s.Connection, "-")
		same := s
		same.Connection = kind
		i, seen := index[same]
		if !seen {
			i = len(kept)
			index[same] = i
			kept = append(kept, s)
		}
		members[i] = append(members[i], s.Connection)
	}
	for i, names := range members {
		kept[i].Connection = join(names)
	}
	return kept
}

func settingNames(requested, effective map[string]string) []string {
	names := slices.Sorted(maps.Keys(requested))
	for _, name := range slices.Sorted(maps.Keys(effective)) {
		if _, asked := requested[name]; !asked {
			names = append(names, name)
		}
	}
	return names
}

func equalSetting(name, requested, effective string) bool {
	setting, known := kv.AllSettings.Lookup(name)
	if !known {
		return requested == effective
	}
	want, err := setting.Normal(requested)
	if err != nil {
		return requested == effective
	}
	got, err := setting.Normal(effective)
	return err == nil && got == want
}

// onlyTraced reports whether a setting is one that a store need not be able to
// read back, of which no trace is there either: it is claimed, and the warning
// not-traced says so. A trace would stand in its effective value.
func onlyTraced(s assay.Setting) bool { return s.Name == kv.Sync && s.Effective == "" }

func notApplied(s assay.Setting) string {
	if s.Effective == "" {
		return fmt.Sprintf("%s=%s was requested and cannot be read back on %s", s.Name, s.Requested, s.Connection)
	}
	if s.Name == "memory" && s.Effective == "private" {
		return fmt.Sprintf("memory was requested, and the database in memory of %s has none of the data: it is private to that connection", s.Connection)
	}
	return fmt.Sprintf("%s=%s was requested, effective is %s on %s", s.Name, kv.Word(s.Name, s.Requested), kv.Word(s.Name, s.Effective), s.Connection)
}

// contradictions compares what the worker read back with the database file.
func contradictions(settings []assay.Setting, path string) []string {
	file, err := dataset.Header(path)
	if err != nil {
		return nil // not a file that shows its settings: a database in memory, or none
	}
	var wrong []string
	for _, s := range settings {
		switch s.Name {
		case "journal_mode":
			if (s.Effective == "wal") != (file["journal_mode"] == "wal") && s.Effective != "memory" && s.Effective != "off" {
				wrong = append(wrong, fmt.Sprintf("%s reads journal_mode=%s, but the file is in %s mode", s.Connection, s.Effective, file["journal_mode"]))
			}
		case "page_size":
			if s.Effective != file["page_size"] {
				wrong = append(wrong, fmt.Sprintf("%s reads page_size=%s, but the file's is %s", s.Connection, s.Effective, file["page_size"]))
			}
		}
	}
	return wrong
}
