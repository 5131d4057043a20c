package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/history"
	"assay/internal/lab"
	"assay/internal/runner/host"
	"assay/internal/store"
	"assay/internal/store/fleet"
	"assay/internal/sys/hostlock"
)

// runFleet has the machines of a fleet measure a plan, and shows what holds on them.
func (a *app) runFleet(ctx context.Context, name string, flags runFlags) error {
	request, err := flags.request(name)
	if err != nil {
		return err
	}
	s, err := a.sharedStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	progress := newProgress(a, flags.quiet)
	defer progress.close()
	f, err := a.queue(ctx, s, request, flags.machines)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "fleet %s: %s on %s, %s each; agents measure it: %s\n", f.Template.ID, f.Template.Plan,
		wording.Plural(f.Machines, "machine"), wording.Plural(f.Launches, "launch"), a.commandLine("agent"))
	return a.awaitFleet(ctx, s, f, progress)
}

// awaitFleet waits until every machine of a fleet has ended, and shows what holds on
// them.
func (a *app) awaitFleet(ctx context.Context, s *store.Store, f store.Fleet, progress *progress) error {
	machines, err := fleet.Wait(ctx, s, f, fleet.Poll, progress.Note)
	if ctx.Err() != nil {
		id := f.Template.ID
		return &exitError{statusInterrupted, errors.New("interrupted"), []string{
			"agents go on with what is queued; wait for them again with: " + a.commandLine("fleet", id),
			"withdraw what is not measured yet with: " + a.commandLine("fleet", id, "--withdraw")}}
	}
	if err != nil {
		return err
	}
	return a.showFleet(ctx, s, f, machines)
}

func (a *app) fleetCommand() *cobra.Command {
	var withdraw bool
	cmd := &cobra.Command{
		Use:   "fleet [FLEET]",
		Short: "List what run --fleet queued; wait for one fleet and show its result, or withdraw it",
		Args:  arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if withdraw && len(args) == 0 {
				return usage(errors.New("--withdraw is for one fleet: name it"), a.commandLine("fleet")+" lists the fleets")
			}
			s, err := a.sharedStore(cmd.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			if len(args) == 0 {
				return a.listFleets(cmd.Context(), s)
			}
			f, err := s.Fleet(cmd.Context(), args[0])
			if errors.Is(err, store.ErrNoFleet) {
				return usage(err)
			}
			if err != nil {
				return err
			}
			if withdraw {
				return a.withdraw(cmd.Context(), s, f)
			}
			progress := newProgress(a, false)
			defer progress.close()
			return a.awaitFleet(cmd.Context(), s, f, progress)
		},
	}
	cmd.Flags().BoolVar(&withdraw, "withdraw", false, "end it on the machines that have not finished, such as one that is gone for good")
	return cmd
}

func (a *app) listFleets(ctx context.Context, s *store.Store) error {
	all, err := s.Fleets(ctx)
	if err != nil {
		return err
	}
	for _, f := range all {
		machines, err := s.FleetMachines(ctx, f.Template.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s  %s, queued %s\n", f.Template.ID, wording.Clean(f.Template.Plan), f.Template.Started.Local().Format(time.DateTime))
		for _, m := range machines {
			fmt.Fprintf(a.stdout, "  %s\n", fleet.State(m, f.Launches))
		}
	}
	return nil
}

// withdraw ends a fleet on the machines that are not at their end.
func (a *app) withdraw(ctx context.Context, s *store.Store, f store.Fleet) error {
	ended, err := s.Withdraw(ctx, f.Template.ID)
	switch {
	case err != nil:
		return err
	case ended == 0:
		fmt.Fprintf(a.stderr, "fleet %s has ended on all of its machines: nothing was changed\n", f.Template.ID)
	default:
		fmt.Fprintf(a.stderr, "withdrawn: fleet %s on %d of %s; what is kept stays: %s\n", f.Template.ID, ended,
			wording.Plural(f.Machines, "machine"), a.commandLine("fleet", f.Template.ID))
	}
	return nil
}

// queue adds a fleet to the store: of as many machines as asked for, or as have an agent.
func (a *app) queue(ctx context.Context, s *store.Store, request lab.Request, machines int) (store.Fleet, error) {
	l, err := a.lab(true)
	if err != nil {
		return store.Fleet{}, err
	}
	template, err := l.Template(ctx, request)
	if err != nil {
		return store.Fleet{}, err
	}
	there, others, err := fleet.Machines(ctx, s, version)
	if err != nil {
		return store.Fleet{}, err
	}
	for _, other := range others {
		fmt.Fprintf(a.stderr, "assay: note: %s does not take part: its agent is of assay %s, and this is %s\n", other.Words, other.Version, version)
	}
	if machines == 0 {
		machines = there
	}
	if machines == 0 {
		return store.Fleet{}, &exitError{statusFailed, fmt.Errorf("no machine has an agent of assay %s in store %s", version, s.Name()),
			[]string{"start one on each machine that is to measure: " + a.commandLine("agent"), "or queue the plan for agents that come later with --machines N"}}
	}
	f := store.Fleet{Template: template, Machines: machines, Launches: request.Plan.Launches}
	if err := s.Queue(ctx, f); err != nil {
		return f, err
	}
	if there < machines {
		fmt.Fprintf(a.stderr, "assay: note: machines with an agent now: %d of %d\n", there, machines)
	}
	return f, nil
}

// showFleet shows each machine with what its figures suffer from, and what holds on all.
func (a *app) showFleet(ctx context.Context, s *store.Store, f store.Fleet, machines []store.FleetMachine) error {
	var results []*analysis.Result
	var failed []string
	for _, m := range machines {
		if m.Problem != "" {
			failed = append(failed, fmt.Sprintf("%s after %d of %d launches: %s", fleet.Name(m), m.Done, f.Launches, fleet.Problem(m)))
			continue
		}
		r, err := lab.Analyze(ctx, s, m.Run)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	fmt.Fprintf(a.stdout, "%s on %s, %s each\n", f.Template.Plan, wording.Plural(len(results), "machine"), wording.Plural(f.Launches, "launch"))
	marks := history.Marks(results)
	for i, r := range results {
		fmt.Fprintf(a.stdout, "  %s: %s\n", r.Run.NamedMachine(), a.commandLine("report", r.Run.ID))
		for _, mark := range marks[i] {
			fmt.Fprintf(a.stdout, "    ! %s\n", mark)
		}
	}
	for _, text := range failed {
		fmt.Fprintf(a.stdout, "  ! given up: %s\n", text)
	}
	a.showAcross(f, results)
	if len(failed) > 0 {
		return &exitError{status: statusFailed, err: fmt.Errorf("%d of %s gave up", len(failed), wording.Plural(len(machines), "machine"))}
	}
	for _, r := range results {
		if err := a.checkCells(r); err != nil {
			return err
		}
	}
	return nil
}

// maxAcross is how many verdicts over machines fit on a screen beside the machines.
const maxAcross = 30

// showAcross shows what holds over the machines, in a line for each cell.
func (a *app) showAcross(f store.Fleet, results []*analysis.Result) {
	if len(results) < 2 {
		return
	}
	all := history.OverMachines(nil, results)
	fmt.Fprintln(a.stdout)
	for i, cell := range all {
		if i == maxAcross {
			fmt.Fprintf(a.stdout, "and %d more\n", len(all)-maxAcross)
			break
		}
		fmt.Fprintf(a.stdout, "%s: %s\n", cell.Name(), cell.Verdict())
	}
	fmt.Fprintf(a.stderr, "each machine's ratios: %s\n", a.commandLine("history", "plan="+f.Template.Plan, "--machines"))
}

func (a *app) agentCommand() *cobra.Command {
	var idle time.Duration
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Measure on this machine what assay run --fleet queues in a store on a server",
		Args:  arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if idle < 0 {
				return usage(fmt.Errorf("--idle %s: want a time above zero", idle))
			}
			return a.agent(cmd.Context(), idle)
		},
	}
	cmd.Flags().DurationVar(&idle, "idle", 0, "end after this long without work (default: go on until Ctrl-C)")
	return cmd
}

func (a *app) agent(ctx context.Context, idle time.Duration) error {
	s, err := a.sharedStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := a.lab(true)
	if err != nil {
		return err
	}
	l.HostLock = "" // the agent takes the turn for its launches
	who, err := thisAgent(l)
	if err != nil {
		return err
	}
	a.progress.Note(fmt.Sprintf("agent of %s, assay %s: waiting for launches in %s", who.Words, version, s.Name()))
	err = (&fleet.Agent{Store: s, Who: who, Lock: hostlock.Path, Lease: fleet.Lease, Poll: fleet.Poll, Idle: idle, Note: a.progress.Note,
		Open: func(ctx context.Context, run assay.Run, trials []assay.Trial) (fleet.Bench, error) {
			return l.Bench(ctx, run, trials)
		}}).Run(ctx)
	if ctx.Err() != nil {
		return &exitError{status: statusInterrupted} // which is how one ends it
	}
	return err
}

// thisAgent says what this process is. Figures of a machine that has no ID could not be
// told from those of another one.
func thisAgent(l *lab.Lab) (store.Agent, error) {
	run := assay.Run{Host: host.Facts(l.Cache)}
	machine := assay.Identity(run.Host)
	if machine == "" {
		return store.Agent{}, errors.New("this machine has no ID that tells its results from those of others: create /etc/machine-id, for example with systemd-machine-id-setup")
	}
	return store.Agent{Name: rand.Text(), Machine: machine, Words: run.NamedMachine(), Version: version}, nil
}

// sharedStore opens a store on a server.
func (a *app) sharedStore(ctx context.Context) (*store.Store, error) {
	location, err := a.storeLocation()
	if err != nil {
		return nil, err
	}
	if !store.IsURL(location) {
		return nil, usage(store.ErrNoServer)
	}
	return a.openStore(ctx)
}
