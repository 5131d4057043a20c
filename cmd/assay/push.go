package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/analysis/wording"
	"assay/internal/store"
)

// pushes holds what became of bringing results from this machine's file to a store on a
// server.
type pushes struct {
	server  string   // URL; empty: results stay here
	done    []string // the server's name, where something was pushed
	file    string   // that has what was not pushed
	runs    []string // that were not pushed
	failure error    // of the last attempt; nil: all that was to be pushed was
}

// localStore opens the store for what is measured here, and makes it where there is none.
// It is a file: what is kept there is pushed to the server that the flags name, once it is
// whole. What is wrong with the server, and not that it is away, is told before anything is
// measured.
func (a *app) localStore(ctx context.Context) (*store.Store, error) {
	named, err := a.storeLocation()
	if err != nil {
		return nil, err
	}
	location, err := a.localLocation()
	if err != nil {
		return nil, err
	}
	if named != location {
		switch server, err := store.Open(ctx, named); {
		case err == nil:
			_ = server.Close() // nothing was written
		case store.IsUnreachable(err):
			fmt.Fprintf(a.stderr, "assay: note: %v; results are kept in %s, and pushed at the end if the server can be reached then\n", err, location)
		default:
			return nil, wrongLocation(err)
		}
		a.pushes.server = named
	}
	s, err := store.Open(ctx, location)
	return s, wrongLocation(err)
}

// push brings a run that has ended to the server. That it cannot be done changes nothing of
// the run: the command says so at its end.
func (a *app) push(ctx context.Context, s *store.Store, run string) {
	a.toServer(ctx, s, []string{run}, func(ctx context.Context, server *store.Store) error {
		_, err := s.Push(ctx, server, run)
		return err
	})
}

// pushProofs brings the proofs of the store to the server, also when the command is being
// interrupted.
func (a *app) pushProofs(ctx context.Context, s *store.Store) {
	a.toServer(context.WithoutCancel(ctx), s, nil, s.PushProofs)
}

func (a *app) toServer(ctx context.Context, s *store.Store, runs []string, push func(context.Context, *store.Store) error) {
	if a.pushes.server == "" {
		return
	}
	server, err := store.Open(ctx, a.pushes.server)
	if err == nil {
		err = errors.Join(push(ctx, server), server.Close())
	}
	if err != nil {
		a.pushes.file, a.pushes.runs, a.pushes.failure = s.Name(), append(a.pushes.runs, runs...), err
		return
	}
	a.pushes.done = []string{server.Name()}
}

// unpushed says what a server does not have, and the command that brings it there; nil
// where it has all.
func (a *app) unpushed() error {
	p := a.pushes
	if p.failure == nil {
		return nil
	}
	what := "what was proved"
	if len(p.runs) > 0 {
		what = wording.Plural(len(p.runs), "run")
	}
	return &exitError{statusFailed, fmt.Errorf("%s could not be pushed, and is kept in %s: %w", what, p.file, p.failure),
		[]string{"push it when the server can be reached: " + wording.Command(a.namedStore(), append([]string{"runs", "push"}, p.runs...)...)}}
}

func (a *app) pushCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "push [RUN]...",
		Short: "Bring runs and proofs of this machine to the store on a server that --store names, by default all that it lacks",
		Args:  arguments(0, anyNumber),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.pushAll(cmd.Context(), args) },
	}
}

func (a *app) pushAll(ctx context.Context, ids []string) error {
	named, err := a.storeLocation()
	if err != nil {
		return err
	}
	if !store.IsURL(named) {
		return usage(errors.New("results are pushed to a store on a server"), "name it: --store postgres://USER@HOST/DATABASE")
	}
	location, err := store.Default()
	if err != nil {
		return err
	}
	s, err := store.OpenToRead(ctx, location)
	if errors.Is(err, store.ErrNotFound) {
		return usage(err)
	}
	if err != nil {
		return wrongLocation(err)
	}
	defer s.Close()
	server, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	pushed, err := pushRuns(ctx, s, server, ids)
	if err == nil {
		err = s.PushProofs(ctx, server)
	}
	fmt.Fprintf(a.stderr, "pushed to %s: %s\n", server.Name(), orNothing(pushed))
	return err
}

// pushRuns pushes runs, or all that the server lacks where none is named, and returns those
// that it did not have.
func pushRuns(ctx context.Context, s, server *store.Store, ids []string) (pushed []string, err error) {
	if len(ids) == 0 {
		if ids, err = s.Unpushed(ctx, server); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		run, err := s.Run(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			return pushed, usage(err)
		}
		if err != nil {
			return pushed, err
		}
		added, err := s.Push(ctx, server, run.ID)
		if err != nil {
			return pushed, err
		}
		if added {
			pushed = append(pushed, run.ID)
		}
	}
	return pushed, nil
}

func orNothing(runs []string) string {
	if len(runs) == 0 {
		return "no run; it has them already"
	}
	return strings.Join(runs, ", ")
}
