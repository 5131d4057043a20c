package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
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

// Replayed is what a finding's state showed when it was made again.
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

// Do makes the state again in a process of its own, whose command is followed by the
// replay and a folder below dir: it calls ServeReplay.
func (r Replay) Do(ctx context.Context, dir string, command ...string) (again Replayed, err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return again, err
	}
	out, err := inNamespace(ctx, dir, exec.Command(command[0], append(command[1:], string(text))...))
	if err != nil {
		return again, err
	}
	if err := json.Unmarshal(out, &again); err != nil {
		return again, fmt.Errorf("the disk's answer: %w", err)
	}
	return again, nil
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
