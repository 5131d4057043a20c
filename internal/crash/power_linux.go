package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"assay"
	"assay/internal/crash/powercut"
	"assay/internal/sys/guard"
	"assay/kit/duckdb"
	"assay/kit/postgres"
)

// powerCut cuts the power of a disk.
func powerCut() fault {
	return fault{Fault: assay.PowerCut, level: diskLevel, subject: "A power cut", weight: 5, inject: (*trial).power} // it has the most different states, and the most controls
}

// fileCut cuts the power of files and folders, in a file system that is only a model.
func fileCut() fault {
	return fault{Fault: assay.FileCut, level: fileLevel, subject: "A power cut (weaker model, of files)", weight: 4, inject: (*trial).power}
}

// The workload: enough for SQLite to checkpoint its log and begin it anew.
const (
	transactions = 400
	// batch is how many of them are asked for at once, and recordingShare the part
	// of a task's time after which no more are.
	batch          = 50
	recordingShare = 4
	// recoveryShare is how many states there are to one with a second cut.
	recoveryShare = 8
	// writebackPause is how long after the workload's begin the page cache is written
	// to the disk, and then again and again at growing distances.
	writebackPause = 10 * time.Millisecond
	// controlStates is how many states a control has to be caught in.
	controlStates = 60
	// earlyControl is the control that all faults have.
	earlyControl = "a worker that acknowledges before it commits"
)

// trial is a task under way.
type trial struct {
	*lane
	workload
	task     Task
	result   *Result
	deadline time.Time
	random   *rand.Rand
	worst    *evidence   // the smallest counterexample so far
	server   bool        // the worker is a client of one
	made     []callCount // by the workload; nil before that is known
	ahead    int         // acknowledgements that a control adds to those of the worker
	turn     int         // which of the forms of a fault comes next
	raced    time.Duration
	lasts    time.Duration // the workload, or the longest life; 0 before that is known
}

// power records the workload once and cuts the power of the recording in as
// many states as there is time for.
func (t *trial) power(ctx context.Context) error {
	recording, err := t.record(ctx, t.task, true)
	if err != nil {
		return err
	}
	t.result.Operations, t.result.Acked = len(recording.Ops), recording.Acked(len(recording.Ops))
	if t.result.Acked < t.history.transactions() {
		t.result.remark(fmt.Sprintf("power of %s, %s: %d of the workload's %d transactions, since they took long", t.task.Driver, t.task.Profile, t.result.Acked, t.history.transactions()))
	}
	if t.task.Controls {
		if err := t.controls(ctx, recording); err != nil {
			return err
		}
	}
	chooser := powercut.NewChooser(recording, true, t.task.Seed)
	seen := map[state]bool{}
	for misses := 0; !t.enough() && misses < 1000; {
		cut, moment := chooser.Next()
		s := state{recording.Sum(cut), recording.Acked(cut.At)}
		if seen[s] {
			misses++
			t.result.Equal++
			continue
		}
		seen[s] = true
		misses = 0
		if err := t.tryState(ctx, recording, cut, moment); err != nil {
			return err
		}
	}
	return nil
}

// state tells states apart: the same disk promises more after more
// acknowledgements.
type state struct {
	image [16]byte
	acked int
}

func (t *trial) enough() bool {
	select {
	case <-t.soon:
		t.last = true
	default:
	}
	return t.last || t.task.States > 0 && t.result.States >= t.task.States || !t.deadline.IsZero() && time.Now().After(t.deadline)
}

// record runs the workload on an empty disk that records everything.
func (t *trial) record(ctx context.Context, task Task, note bool) (*powercut.Recording, error) {
	written := 0
	recording, err := t.recordWhile(ctx, func() error {
		path := dataPath(t.home())
		if err := t.install(ctx, task, path); err != nil {
			return err
		}
		db, err := t.open(ctx, task, path, t.traced()...)
		if err != nil {
			return err
		}
		defer db.kill()
		if note {
			if err := t.identify(ctx, db); err != nil {
				return err
			}
		}
		if err := db.prepare(ctx, t.arguments); err != nil {
			return err
		}
		var other *checkpointer
		if note && about(task.Fault).shared {
			if other, err = t.startCheckpointer(ctx, path); err != nil {
				return err
			}
		}
		err = t.whileWrittenBack(ctx, func() error {
			var err error
			written, err = t.writeForAWhile(ctx, db, t.marks())
			return err
		})
		if other != nil {
			err = errors.Join(err, other.kill())
			if err == nil && other.right == 0 {
				err = errors.New("the second process made no checkpoint while the first one wrote")
			}
		}
		if err != nil {
			return err
		}
		return db.close(ctx)
	})
	if err != nil {
		return nil, err
	}
	if acked := recording.Acked(len(recording.Ops)); acked != written {
		return nil, fmt.Errorf("the worker marked %d of %d transactions", acked, written)
	}
	return recording, nil
}

// traced is the program with arguments that runs a worker whose system calls on
// files are recorded among what the disk sees; nothing where there is none that
// works, or where files are recorded themselves.
func (t *trial) traced() []string {
	if t.onFiles {
		return nil
	}
	if missing := strace().missing; missing != "" {
		t.result.remark("memtable flushes, compactions, journals that are deleted and files that grow are cut at by chance only: " + missing)
		return nil
	}
	return strace().recording(filepath.Join(t.fuse, powercut.CallsName))
}

// recordWhile runs do on an empty disk, or in an empty folder, that records.
func (t *trial) recordWhile(ctx context.Context, do func() error) (*powercut.Recording, error) {
	if t.onFiles {
		return t.recordFiles(do)
	}
	err := t.mounted(ctx, t.base, true, do)
	return t.disk.Recorded(), err
}

// home is the folder that databases lie in while they are recorded.
func (l *lane) home() string {
	if l.onFiles {
		return l.files
	}
	return l.mount
}

// marks is the file that workers mark their acknowledgements in.
func (l *lane) marks() string {
	if l.onFiles {
		return filepath.Join(l.files, powercut.MarksName)
	}
	return filepath.Join(l.fuse, powercut.MarksName)
}

// whileWrittenBack runs do while what lies in the system's page cache is written to
// the disk now and then, as the system does every few seconds: what an engine does
// not sync reaches the disk in parts. A file system of files has no such cache.
func (t *trial) whileWrittenBack(ctx context.Context, do func() error) error {
	if t.onFiles {
		return do()
	}
	ctx, cancel := context.WithCancel(ctx)
	written := make(chan error, 1)
	go func() {
		written <- guard.Error(func() error {
			for pause := writebackPause; ; pause = pause * 3 / 2 { // a few, however long it takes
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(pause):
				}
				if err := t.run(context.WithoutCancel(ctx), "sync", "-f", t.mount); err != nil {
					return err
				}
			}
		})
	}()
	err := do()
	cancel()
	return errors.Join(err, <-written)
}

// writeForAWhile commits the workload, or as much of it as a part of the task's
// time allows: a state of a shorter workload shows more than none.
func (t *trial) writeForAWhile(ctx context.Context, db *database, marks string) (int, error) {
	began := time.Now()
	for n := 0; n < t.history.transactions(); n += batch {
		if n > 0 && (t.enough() || t.task.Time > 0 && time.Since(began) > t.task.Time/recordingShare) {
			return n, nil
		}
		if err := db.write(ctx, n, min(batch, t.history.transactions()-n), marks); err != nil {
			return n, err
		}
	}
	return t.history.transactions(), nil
}

// tryState checks a state, now and then after a second cut.
func (t *trial) tryState(ctx context.Context, r *powercut.Recording, cut powercut.Cut, moment powercut.Moment) error {
	e := evidence{Finding: Finding{Task: t.task, Moment: moment, Cut: cut, Acked: r.Acked(cut.At)}, Recording: r}
	switch {
	case r.OfFiles():
		e.Recording, e.Files = nil, r.Folder(cut, true)
	case t.random.IntN(recoveryShare) == 0:
		second, err := t.recover(ctx, r.Image(cut, true))
		if err != nil {
			return t.unknown(err)
		}
		again, ok := second.Choose(t.random.IntN(len(second.Ops)+1), powercut.Choices[t.random.IntN(len(powercut.Choices))], true, t.random)
		if ok {
			e.Second, e.Finding.Second, e.Finding.Moment = second, &again, powercut.Recovery
		}
	}
	found, err := t.again(ctx, e)
	if found, err = t.confirmed(ctx, e, found, err); err != nil {
		return t.unknown(err)
	}
	t.note(e, found)
	return nil
}

// unknown counts states of which nothing is known of the database.
func (t *trial) unknown(err error) error {
	if !errors.Is(err, errMount) && !errors.Is(err, errStart) {
		return err
	}
	t.result.Unknown++
	if t.result.Unknown > 20 && t.result.Unknown > t.result.States/10 {
		return err // that is no accident of a torn block or a busy machine
	}
	return nil
}

// recover records what opening the database does to a state.
func (t *trial) recover(ctx context.Context, image *powercut.Image) (*powercut.Recording, error) {
	var recording *powercut.Recording
	err := t.mounted(ctx, image, true, func() error {
		db, err := t.open(ctx, t.task, dataPath(t.mount))
		if err == nil {
			db.kill()
		}
		recording = t.disk.Recorded() // before unmounting makes it all durable
		return nil                    // that it does not open is seen without the second cut
	})
	return recording, err
}

func (t *trial) note(e evidence, found observation) {
	r := t.result
	r.States++
	r.Counts[found.damage]++
	r.ByMoment[e.Finding.Moment]++
	r.SlowestNs = max(r.SlowestNs, found.opening.Nanoseconds())
	if found.damage == Unharmed {
		return
	}
	if found.damage == LostLast || found.damage == Lost {
		r.MaxLost = max(r.MaxLost, e.Finding.Acked-found.transactions)
	}
	e.Finding.Damage, e.Finding.Found, e.Finding.Words = found.damage, found.transactions, found.words
	if t.worst == nil || worse(e.Finding, t.worst.Finding) {
		t.worst = &e
	}
}

// worse reports whether a finding shows more than another one, or the same in a
// smaller state.
func worse(a, b Finding) bool {
	if a.Damage != b.Damage {
		return a.Damage.severity() > b.Damage.severity()
	}
	if (a.Second == nil) != (b.Second == nil) {
		return a.Second == nil
	}
	return a.Cut.At < b.Cut.At
}

// controls tries what must fail.
func (t *trial) controls(ctx context.Context, r *powercut.Recording) error {
	off := t.task
	off.DSN, off.Each, off.Initial, off.Once = "", nil, "", nil
	off.Settings = map[string]string{"journal_mode": "off", "synchronous": "0"}
	switch t.result.Engine {
	case "sqlite", "turso":
	case postgres.Engine:
		off.Settings = map[string]string{"fsync": "off"}
	default:
		off.Settings = map[string]string{"sync": "0"}
	}
	type control struct {
		name      string
		recording *powercut.Recording
		flushes   bool
		ahead     int
	}
	controls := []control{{"a disk that ignores flushes", r, false, 0}, {earlyControl, r, true, 1}}
	if t.result.Engine != duckdb.Engine { // it always syncs
		unsynced, err := t.record(ctx, off, false)
		if err != nil {
			return fmt.Errorf("the control without syncs: %w", err)
		}
		controls = append(controls, control{"a database that does not sync", unsynced, true, 0})
	}
	for _, c := range controls {
		chooser := powercut.NewChooser(c.recording, c.flushes, t.task.Seed)
		err := t.tryControl(c.name, func(int) (Damage, error) {
			cut, _ := chooser.Next()
			acked := min(c.recording.Acked(cut.At)+c.ahead, t.history.transactions())
			found, err := t.inspectCut(ctx, c.recording, cut, c.flushes, acked)
			if errors.Is(err, errMount) {
				return Unopened, nil // a disk that lies can break the file system, too
			}
			return found.damage, t.unknown(err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tryControl tries states of what must fail until one is caught. once returns the damage
// of a state by its number.
func (t *trial) tryControl(name string, once func(state int) (Damage, error)) error {
	control := Control{Name: name}
	for control.States < controlStates && !control.Caught {
		damage, err := once(control.States)
		if err != nil {
			return err
		}
		control.States++
		control.Caught = promised(assay.Power, true, damage)
	}
	t.result.Controls = append(t.result.Controls, control)
	return nil
}

// keep writes the smallest counterexample to its file.
func (t *trial) keep() error {
	if t.worst == nil {
		return nil
	}
	f := &t.worst.Finding
	t.result.Worst = f
	if t.worst.Recording == nil && t.worst.Files == nil {
		return nil // it was seen while the disk failed, and is in no state of it
	}
	f.ID = t.worst.id()
	err := t.worst.save(t.task.Findings)
	if err != nil {
		f.ID = "" // it cannot be replayed
	}
	return err
}

// install puts a prepared database in its place, or where the disk does not begin with
// one, a server's empty cluster.
func (t *trial) install(ctx context.Context, task Task, path string) error {
	if t.server && !task.onDisk() {
		return t.copyCluster(ctx, path)
	}
	if task.Initial == "" {
		return nil
	}
	return t.run(ctx, "cp", task.Initial, path)
}

// identify notes what the worker is, and what its settings claim.
func (t *trial) identify(ctx context.Context, db *database) error {
	claimed, settings, err := db.claimed(ctx)
	if err != nil {
		return err
	}
	target := db.worker.Hello().Target
	t.result.Identity = Identity{Target: assay.Target{Driver: target.Driver, DriverVersion: target.DriverVersion, Options: t.task.Options}.Name(),
		Engine: target.Engine, Version: cmp.Or(db.opened.EngineVersion, target.EngineVersion), Settings: settings, Claimed: claimed}
	return nil
}
