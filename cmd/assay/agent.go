package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"assay"
	"assay/internal/lab"
	"assay/internal/runner/host"
	"assay/internal/store"
	"assay/internal/store/fleet"
	"assay/internal/sys/hostlock"

	"github.com/spf13/cobra"
)

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
