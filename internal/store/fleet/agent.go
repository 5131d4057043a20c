// Package fleet measures one plan on several machines. A store on a server has the
// work: each machine makes a run of its own, launch by launch, and a launch is a job.
// An agent has the next launch of its machine by a lease that it renews; it keeps the
// trials of the launch and ends the job in one transaction, which is refused if the
// lease has expired. So each launch is in the store once, whatever becomes of agents,
// networks and the server.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"assay"
	"assay/internal/store"
	"assay/internal/sys/guard"
	"assay/internal/sys/hostlock"
)

// Bench measures launches of one run on this machine.
type Bench interface {
	Run() assay.Run
	Launch(ctx context.Context, number int) ([]assay.Trial, error)
	Finished() assay.Run // the run with its end
	Close()
}

// Opener prepares a run: a new one where it has no targets yet, or else one that was
// begun on this machine and has these trials.
type Opener func(ctx context.Context, run assay.Run, trials []assay.Trial) (Bench, error)

// Agent measures what the store has for its machine.
type Agent struct {
	Store *store.Store
	Who   store.Agent
	Open  Opener
	Lock  string            // file by which the agents of the machine take turns
	Lease time.Duration     // after which a launch whose agent is not heard of is another's
	Poll  time.Duration     // how often the store is asked for work
	Idle  time.Duration     // after which an agent without work ends; 0: never
	Note  func(text string) // tells the user what the agent does

	unreachable bool // and the user was told
}

// The times of agents.
const (
	Lease = time.Minute
	Poll  = time.Second
	// answer is how long the server may take for a few statements. As many as a launch
	// has trials have no limit: the store gives up on a server that is silent.
	answer = 10 * time.Second
	// goodbye is how long an agent that ends tries to give its launch back.
	goodbye = 5 * time.Second
)

// Run measures until the context ends, or there was no work for a while. Its error is
// the context's, or says why the store cannot be used.
func (a *Agent) Run(ctx context.Context) error {
	defer a.leave(context.WithoutCancel(ctx))
	idle := time.Now()
	for {
		worked, err := a.step(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case a.lost(err):
			idle = time.Now() // nobody knows whether there is work
		case err != nil:
			return err
		}
		if worked {
			idle = time.Now()
			continue
		}
		if a.Idle > 0 && time.Since(idle) >= a.Idle {
			return nil
		}
		pause(ctx, a.Poll)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// lost reports whether the server cannot be reached now, and the user, once.
func (a *Agent) lost(err error) bool {
	lost := a.Store.IsLost(err)
	if lost && !a.unreachable {
		a.Note(fmt.Sprintf("%v; waiting for it", err))
	}
	if a.unreachable && err == nil {
		a.Note("the store can be reached again")
	}
	a.unreachable = lost
	return lost
}

// step does what there is to do for this machine.
func (a *Agent) step(ctx context.Context) (worked bool, err error) {
	lease, err := a.take(ctx)
	if err != nil || lease == nil {
		return false, err
	}
	a.lost(nil)
	return true, a.work(ctx, lease)
}

func (a *Agent) take(ctx context.Context) (*store.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	if err := a.Store.Present(ctx, a.Who); err != nil {
		return nil, err
	}
	return a.Store.Take(ctx, a.Who, a.Lease)
}

func (a *Agent) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	_ = a.Store.Leave(ctx, a.Who) // where that fails, the store soon counts it as gone
}

// part is a machine's part of a fleet, while an agent has its lease.
type part struct {
	*Agent
	mutex sync.Mutex // of the lease
	lease *store.Lease
}

// work makes the launches that are left of a machine's part.
func (a *Agent) work(ctx context.Context, lease *store.Lease) error {
	p := &part{Agent: a, lease: lease}
	held, end := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		if err := guard.Error(func() error { return p.renew(held) }); err != nil {
			end(err)
		}
	})
	err := p.launches(held)
	if cause := context.Cause(held); cause != nil && ctx.Err() == nil {
		err = cause // and not that the context ended
	}
	end(nil)
	renewing.Wait()
	return p.end(ctx, err)
}

// renew keeps the lease until the context ends. Its error says that it is lost.
func (p *part) renew(ctx context.Context) error {
	for {
		pause(ctx, p.Lease/4)
		if ctx.Err() != nil {
			return nil
		}
		err := p.locked(func() error {
			ctx, cancel := context.WithTimeout(ctx, answer)
			defer cancel()
			return errors.Join(p.Store.Present(ctx, p.Who), p.Store.Renew(ctx, p.lease, p.Lease))
		})
		if refused(err) && ctx.Err() == nil { // what else is wrong, keeping the launch says
			return err
		}
	}
}

// refused reports whether the store says that a launch is not this agent's any more.
func refused(err error) bool {
	return errors.Is(err, store.ErrTaken) || errors.Is(err, store.ErrWithdrawn)
}

// locked does what changes the lease, or needs it unchanged.
func (p *part) locked(f func() error) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return f()
}

// launches prepares the run and makes the launches that are left.
func (p *part) launches(ctx context.Context) error {
	bench, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer bench.Close()
	if p.lease.Run == "" {
		run := bench.Run()
		err := p.insist(ctx, func(ctx context.Context) error {
			return p.locked(func() error { return p.Store.BeginPart(ctx, p.lease, run) })
		})
		if err != nil {
			return err
		}
	}
	for p.lease.Launch <= p.lease.Fleet.Launches {
		if err := p.launch(ctx, bench); err != nil {
			return err
		}
	}
	return nil
}

// open prepares the run, which takes the machine as measuring does.
func (p *part) open(ctx context.Context) (Bench, error) {
	turn, err := p.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.Close()
	run, trials := p.lease.Fleet.Template, []assay.Trial(nil)
	run.ID = ""
	if p.lease.Run != "" {
		err := p.insist(ctx, func(ctx context.Context) (err error) {
			run, trials, err = p.begun(ctx)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return p.Open(ctx, run, trials)
}

// begun is the run that the machine began before.
func (p *part) begun(ctx context.Context) (assay.Run, []assay.Trial, error) {
	run, err := p.Store.Run(ctx, p.lease.Run)
	if err != nil {
		return run, nil, err
	}
	var trials []assay.Trial
	for t, err := range p.Store.Trials(ctx, run.ID) {
		if err != nil {
			return run, nil, err
		}
		trials = append(trials, t)
	}
	run.Status = assay.Running
	return run, trials, nil
}

// launch measures the next launch and keeps it.
func (p *part) launch(ctx context.Context, bench Bench) error {
	trials, err := p.measure(ctx, bench)
	if err != nil {
		return err
	}
	number, of := p.lease.Launch, p.lease.Fleet
	var finished *assay.Run
	if number == of.Launches {
		run := bench.Finished()
		finished = &run
	}
	err = p.insist(ctx, func(ctx context.Context) error {
		return p.locked(func() error { return p.Store.Complete(ctx, p.lease, trials, finished, p.Lease) })
	})
	if err == nil {
		p.Note(fmt.Sprintf("plan %s, run %s: launch %d of %d is kept", of.Template.Plan, p.lease.Run, number, of.Launches))
	}
	return err
}

func (p *part) measure(ctx context.Context, bench Bench) ([]assay.Trial, error) {
	turn, err := p.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer turn.Close()
	return bench.Launch(ctx, p.lease.Launch)
}

func (p *part) turn(ctx context.Context) (io.Closer, error) {
	return hostlock.Take(ctx, p.Lock, func() { p.Note("another agent measures on this machine: waiting for it") })
}

// insist asks the store for something until the server can be reached, or the context
// ends. What was begun before that is brought to its end.
func (p *part) insist(ctx context.Context, f func(context.Context) error) error {
	for {
		err := f(context.WithoutCancel(ctx))
		if !p.lost(err) || ctx.Err() != nil {
			return err
		}
		pause(ctx, p.Poll)
	}
}

// end tells what became of a part, and gives back a launch that was not made.
func (p *part) end(ctx context.Context, err error) error {
	what := fmt.Sprintf("plan %s: launch %d", p.lease.Fleet.Template.Plan, p.lease.Launch)
	problem := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrWithdrawn):
		p.Note(what + " is not kept: the fleet was withdrawn")
		return nil
	case errors.Is(err, store.ErrTaken):
		p.Note(fmt.Sprintf("%s was not kept, and is made again: %v", what, err))
		return nil
	case ctx.Err() == nil:
		problem = err.Error()
		p.Note(fmt.Sprintf("%s cannot be made on this machine, which gives up the plan: %v", what, err))
	}
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	given := p.Store.GiveBack(back, p.lease, problem)
	switch {
	case ctx.Err() != nil && given == nil:
		p.Note(what + " is given back: another agent of this machine goes on with it")
	case refused(given) || p.Store.IsLost(given):
		return nil // the lease ends by itself
	}
	return given
}
