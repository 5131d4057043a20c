package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay"

	"github.com/lib/pq/pqerror"
)

// ErrNoServer says that a store in a file has no fleet.
var ErrNoServer = errors.New("a fleet shares its work in a store on a server: name one with --store postgres://USER@HOST/DATABASE")

// ErrNoFleet says that the store has no such fleet.
var ErrNoFleet = errors.New("no such fleet")

// ErrWithdrawn says that a fleet measures no more launches.
var ErrWithdrawn = errors.New("the fleet was withdrawn")

// Fleet is a plan that several machines measure, each in a run of its own.
type Fleet struct {
	// Template is what the runs of its machines have in common. Its ID is the fleet's.
	Template assay.Run
	Machines int // that measure it
	Launches int // that each of them makes
}

// FleetMachine is how far a machine is.
type FleetMachine struct {
	Position int
	Machine  string // in words; empty: no machine has begun
	Run      string // empty: it was not begun
	Done     int    // launches that are kept
	Problem  string // why it is given up; empty: it is not
	Holder   string // the agent that measures the next launch; empty: none does
}

// Agent is a process that measures launches of fleets.
type Agent struct {
	Name    string // differs from that of any other
	Machine string // the same for all agents of a machine, and no other
	Words   string // the machine, for people
	Version string // of assay
}

// Lease is the right to measure one launch, until it expires.
type Lease struct {
	Fleet    Fleet
	Position int
	Run      string // of the machine; empty: it is not begun
	Launch   int    // its number
	attempt  int64
}

// clock is the server's, in ms: those of machines differ.
const clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

// onServer runs a transaction that only a store on a server can make.
func (s *Store) onServer(ctx context.Context, doing string, f func(*sql.Tx) error) error {
	if _, is := s.engine.(*server); !is {
		return ErrNoServer
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		// What a machine that died has locked is free again soon.
		if _, err := tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = '20s'"); err != nil {
			return err
		}
		return f(tx)
	})
	return s.explain(doing, err)
}

// IsLost reports whether an error of this store says that its server cannot be reached
// now.
func (s *Store) IsLost(err error) bool { return s.engine.isLost(err) }

// Queue adds a fleet. Agents take its launches from then on.
func (s *Store) Queue(ctx context.Context, f Fleet) error {
	return s.onServer(ctx, "queueing launches in", func(tx *sql.Tx) error {
		t := &f.Template
		_, err := tx.ExecContext(ctx, insertion("fleet", fleetColumns), fleetFields(&f)...)
		var rows [][]any
		for i := range f.Machines {
			rows = append(rows, []any{t.ID, i + 1})
		}
		return errors.Join(err, insertAll(ctx, tx, "fleet_machine", "fleet_id, position", rows))
	})
}

const fleetColumns = "id, plan, plan_text, plan_file, options, seed, version, started, launches"

func fleetFields(f *Fleet) []any {
	t := &f.Template
	return []any{&t.ID, &t.Plan, &t.PlanText, &t.PlanFile, asJSON{(*options)(&t.Options)}, asJSON{&t.Seed}, &t.Version, asTime{&t.Started}, &f.Launches}
}

// FleetMachines are the machines of a fleet, in their order.
func (s *Store) FleetMachines(ctx context.Context, fleet string) (all []FleetMachine, err error) {
	err = s.onServer(ctx, "reading a fleet of", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT position, name, coalesce(run_id, ''), done, problem, CASE WHEN expires > "+clock+
			" THEN holder ELSE '' END FROM fleet_machine WHERE fleet_id = ? ORDER BY position", fleet)
		all, err = collect(rows, err, func(m *FleetMachine) []any {
			return []any{&m.Position, &m.Machine, &m.Run, &m.Done, &m.Problem, &m.Holder}
		})
		return err
	})
	return all, err
}

// Fleets are all fleets, the newest first.
func (s *Store) Fleets(ctx context.Context) (all []Fleet, err error) {
	err = s.onServer(ctx, "reading the fleets of", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT (SELECT count(*) FROM fleet_machine WHERE fleet_id = fleet.id), "+fleetColumns+" FROM fleet ORDER BY started DESC, id DESC")
		all, err = collect(rows, err, func(f *Fleet) []any { return append([]any{&f.Machines}, fleetFields(f)...) })
		return err
	})
	return all, err
}

// Fleet returns the fleet of that ID, or the only one whose ID begins so. Where there
// is none, the error is ErrNoFleet.
func (s *Store) Fleet(ctx context.Context, id string) (Fleet, error) {
	all, err := s.Fleets(ctx)
	if err != nil {
		return Fleet{}, err
	}
	if len(all) == 0 {
		return Fleet{}, fmt.Errorf("%w: store %s has none yet", ErrNoFleet, s.name)
	}
	found := slices.DeleteFunc(slices.Clone(all), func(f Fleet) bool { return !strings.HasPrefix(f.Template.ID, id) })
	switch len(found) {
	case 0:
		return Fleet{}, fmt.Errorf("%w: %q; store %s has %s", ErrNoFleet, id, s.name, enumerate(fleetIDs(all)))
	case 1:
		return found[0], nil
	}
	return Fleet{}, fmt.Errorf("%w: more than one ID begins with %q: %s; give more of it", ErrNoFleet, id, enumerate(fleetIDs(found)))
}

func fleetIDs(all []Fleet) (ids []string) {
	for _, f := range all {
		ids = append(ids, f.Template.ID)
	}
	return ids
}

// Withdraw ends a fleet on the machines that have not made all of their launches, and
// returns how many these are. What is kept stays; a launch that an agent measures is
// refused.
func (s *Store) Withdraw(ctx context.Context, fleet string) (ended int, err error) {
	err = s.onServer(ctx, "withdrawing a fleet in", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT m.position, coalesce(m.run_id, '') FROM fleet_machine m JOIN fleet f ON f.id = m.fleet_id
			WHERE m.fleet_id = ? AND m.done < f.launches AND m.problem = '' ORDER BY m.position FOR UPDATE OF m`, fleet)
		open, err := collect(rows, err, func(m *FleetMachine) []any { return []any{&m.Position, &m.Run} })
		for _, m := range open {
			if err == nil {
				err = giveUp(ctx, tx, fleet, m, withdrawn)
			}
		}
		ended = len(open)
		return err
	})
	return ended, err
}

// withdrawn is the problem of machines whose fleet was withdrawn.
const withdrawn = "withdrawn"

// giveUp ends a machine's part, and says why.
func giveUp(ctx context.Context, tx *sql.Tx, fleet string, m FleetMachine, problem string) error {
	_, err := tx.ExecContext(ctx, "UPDATE fleet_machine SET expires = 0, problem = ? WHERE fleet_id = ? AND position = ?", problem, fleet, m.Position)
	if err == nil && m.Run != "" {
		_, err = tx.ExecContext(ctx, "UPDATE run SET status = ? WHERE id = ?", assay.Interrupted, m.Run)
	}
	return err
}

// Agents are those that were heard of within a time, by machine.
func (s *Store) Agents(ctx context.Context, within time.Duration) (all []Agent, err error) {
	err = s.onServer(ctx, "reading the agents of", func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT agent, machine, name, version FROM fleet_agent WHERE seen > "+clock+" - ? ORDER BY machine, agent",
			within.Milliseconds())
		all, err = collect(rows, err, func(a *Agent) []any { return []any{&a.Name, &a.Machine, &a.Words, &a.Version} })
		return err
	})
	return all, err
}

// Present tells the store that an agent lives, and what it is.
func (s *Store) Present(ctx context.Context, a Agent) error {
	return s.onServer(ctx, "telling of an agent to", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO fleet_agent (agent, machine, name, version, seen) VALUES (?, ?, ?, ?, "+clock+`)
			ON CONFLICT (agent) DO UPDATE SET seen = excluded.seen`, a.Name, a.Machine, a.Words, a.Version)
		return err
	})
}

// Leave tells the store that an agent ends.
func (s *Store) Leave(ctx context.Context, a Agent) error {
	return s.onServer(ctx, "telling of an agent to", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM fleet_agent WHERE agent = ?", a.Name)
		return err
	})
}

// takeable selects the machine whose next launch an agent may take: its own, or one
// that is none yet. What another agent takes at the same time is passed over.
const takeable = `SELECT m.position, coalesce(m.run_id, ''), m.done, m.attempt, ` + fleetColumns + `
	FROM fleet_machine m JOIN fleet f ON f.id = m.fleet_id
	WHERE f.version = ? AND m.done < f.launches AND m.problem = '' AND m.expires <= ` + clock + `
	AND (m.machine = ? OR m.machine IS NULL AND NOT EXISTS (SELECT 1 FROM fleet_machine o WHERE o.fleet_id = m.fleet_id AND o.machine = ?))
	ORDER BY m.machine IS NULL, f.started, f.id, m.position LIMIT 1 FOR UPDATE OF m SKIP LOCKED`

// Take gives an agent the next launch of its machine, for as long as a lease lasts;
// nil where there is none. All launches of a machine in a fleet are of one run, which
// belongs to the agent from then on.
func (s *Store) Take(ctx context.Context, agent Agent, lasts time.Duration) (lease *Lease, err error) {
	err = s.onServer(ctx, "taking a launch from", func(tx *sql.Tx) error {
		l := Lease{}
		var done int
		err := tx.QueryRowContext(ctx, takeable, agent.Version, agent.Machine, agent.Machine).
			Scan(append([]any{&l.Position, &l.Run, &done, &l.attempt}, fleetFields(&l.Fleet)...)...)
		if err != nil {
			return err
		}
		l.Launch, l.attempt = done+1, l.attempt+1
		_, err = tx.ExecContext(ctx, "UPDATE fleet_machine SET machine = ?, name = ?, holder = ?, attempt = ?, expires = "+clock+" + ? WHERE fleet_id = ? AND position = ?",
			agent.Machine, agent.Words, agent.Name, l.attempt, lasts.Milliseconds(), l.Fleet.Template.ID, l.Position)
		if err == nil && l.Run != "" {
			err = s.own(ctx, tx, l.Run)
		}
		lease = &l
		return err
	})
	// Another agent of the machine has just begun there.
	if errors.Is(err, sql.ErrNoRows) || errorCode(err) == pqerror.UniqueViolation {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// own makes this store the owner of a run.
func (s *Store) own(ctx context.Context, tx *sql.Tx, run string) error {
	if err := s.engine.announce(ctx, s.owner); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE run SET owner = ? WHERE id = ?", s.owner, run)
	return err
}

// held refuses who does not have the launch any more: ErrTaken, or ErrWithdrawn. It locks the
// machine's row. done is how many launches are kept.
func (l *Lease) held(ctx context.Context, tx *sql.Tx) (done int, err error) {
	var attempt int64
	var lasts bool
	var problem string
	err = tx.QueryRowContext(ctx, "SELECT attempt, done, expires > "+clock+", problem FROM fleet_machine WHERE fleet_id = ? AND position = ? FOR UPDATE",
		l.Fleet.Template.ID, l.Position).Scan(&attempt, &done, &lasts, &problem)
	switch {
	case err != nil:
		return 0, err
	case done < l.Launch && problem == withdrawn:
		return done, ErrWithdrawn
	case attempt != l.attempt:
		return done, fmt.Errorf("%w: another agent has since taken launch %d", ErrTaken, l.Launch)
	case done < l.Launch && !lasts:
		return done, fmt.Errorf("%w: the lease of launch %d has expired", ErrTaken, l.Launch)
	}
	return done, nil
}

// Renew makes a lease last from now on. It fails with ErrTaken where it has expired, and with
// ErrWithdrawn where the fleet was withdrawn.
func (s *Store) Renew(ctx context.Context, l *Lease, lasts time.Duration) error {
	return s.onServer(ctx, "renewing a lease in", func(tx *sql.Tx) error {
		if _, err := l.held(ctx, tx); err != nil {
			return err
		}
		return l.extend(ctx, tx, lasts)
	})
}

func (l *Lease) extend(ctx context.Context, tx *sql.Tx, lasts time.Duration) error {
	_, err := tx.ExecContext(ctx, "UPDATE fleet_machine SET expires = "+clock+" + ? WHERE fleet_id = ? AND position = ?",
		lasts.Milliseconds(), l.Fleet.Template.ID, l.Position)
	return err
}

// BeginPart adds the run of a lease's machine, which has none yet.
func (s *Store) BeginPart(ctx context.Context, l *Lease, run assay.Run) error {
	err := s.onServer(ctx, "beginning a run in", func(tx *sql.Tx) error {
		if _, err := l.held(ctx, tx); err != nil {
			return err
		}
		var begun bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM fleet_machine WHERE fleet_id = ? AND position = ? AND run_id = ?)",
			l.Fleet.Template.ID, l.Position, run.ID).Scan(&begun); err != nil || begun { // the answer of the server was lost
			return err
		}
		if err := s.insertRun(ctx, tx, &run, s.owner); err != nil {
			return err
		}
		if err := s.engine.announce(ctx, s.owner); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE fleet_machine SET run_id = ? WHERE fleet_id = ? AND position = ?", run.ID, l.Fleet.Template.ID, l.Position)
		return err
	})
	if err == nil {
		l.Run = run.ID
	}
	return err
}

// Complete keeps the trials of a lease's launch and ends the launch, in one
// transaction, and gives the agent the next one: the lease is then of that. Where the
// run is given, it is kept as it is, finished. A launch that was kept already,
// because the answer of the server was lost, is left as it is; that of an agent whose
// lease has expired, or that another agent has, is refused with ErrTaken.
func (s *Store) Complete(ctx context.Context, l *Lease, trials []assay.Trial, run *assay.Run, lasts time.Duration) error {
	err := s.onServer(ctx, fmt.Sprintf("keeping launch %d of run %q in", l.Launch, l.Run), func(tx *sql.Tx) error {
		done, err := l.held(ctx, tx)
		if err != nil || done >= l.Launch {
			return err
		}
		for _, t := range trials {
			if err := insertTrial(ctx, tx, l.Run, placeOf(t), t); err != nil {
				return err
			}
		}
		if run != nil {
			if err := updateRun(ctx, tx, run); err != nil {
				return err
			}
		}
		if _, err = tx.ExecContext(ctx, "UPDATE fleet_machine SET done = ? WHERE fleet_id = ? AND position = ?", l.Launch, l.Fleet.Template.ID, l.Position); err != nil {
			return err
		}
		return l.extend(ctx, tx, lasts)
	})
	if err == nil {
		l.Launch++
	}
	return err
}

// GiveBack ends a lease whose launch was not made: any agent of the machine may take
// it at once. A problem ends the machine's part instead.
func (s *Store) GiveBack(ctx context.Context, l *Lease, problem string) error {
	return s.onServer(ctx, "giving back a launch to", func(tx *sql.Tx) error {
		if _, err := l.held(ctx, tx); err != nil {
			return err
		}
		if problem != "" {
			return giveUp(ctx, tx, l.Fleet.Template.ID, FleetMachine{Position: l.Position, Run: l.Run}, problem)
		}
		_, err := tx.ExecContext(ctx, "UPDATE fleet_machine SET expires = 0 WHERE fleet_id = ? AND position = ?", l.Fleet.Template.ID, l.Position)
		return err
	})
}
