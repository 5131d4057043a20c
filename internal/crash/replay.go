package crash

import (
	"context"
	"errors"
	"fmt"
)

// Replay is a finding whose state is made again.
type Replay struct {
	Findings string // folder that it lies in
	ID       string
	Program  string // worker that looks at the state
	// Keep is where the image of the disk, or a folder with the files, is left; empty:
	// nowhere.
	Keep string
}

// Replayed holds what a finding's state showed when it was made again.
type Replayed struct {
	Finding Finding
	Damage  Damage
	Found   int
	Words   string
}

// Finding is the finding without the states of its disk.
func (r Replay) Finding() (Finding, error) {
	e, err := load(r.Findings, r.ID)
	return e.Finding, err
}

// Do makes the state again in a lane below dir, whose process a command starts as Config.Self does.
func (r Replay) Do(ctx context.Context, dir string, command ...string) (again Replayed, err error) {
	finding, err := r.Finding()
	if err != nil {
		return again, err
	}
	task := finding.Task
	task.Program, task.Replay = r.Program, &r
	err = Run(ctx, Config{Tasks: []Task{task}, Lanes: 1, Dir: dir, Self: command, Done: func(result Result) error {
		if result.Replayed == nil {
			return errors.New(result.Reason)
		}
		again = *result.Replayed
		return nil
	}})
	return again, err
}

// Text says what the state showed then and now.
func (r Replayed) Text() string {
	f := r.Finding
	return fmt.Sprintf("%s with profile %s of %s, %s: %s\nseed %d; %d transactions were acknowledged\nthen: %s: %s\nnow:  %s: %s\n", f.Task.Driver, f.Task.Profile, f.Task.Plan,
		f.Task.Fault, f.Circumstances(), f.Task.Seed, f.Acked, f.Damage, f.Words, r.Damage, r.Words)
}

// Err says that the state shows something else now; nil where it does not.
func (r Replayed) Err() error {
	if r.Damage != r.Finding.Damage {
		return fmt.Errorf("the state shows %q now, and %q when it was found", r.Damage, r.Finding.Damage)
	}
	return nil
}
