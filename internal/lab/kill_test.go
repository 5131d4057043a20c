package lab

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"assay"
	"assay/internal/store"
)

// A run that is killed at random moments, and resumed each time, loses no trial and
// has none twice.
func TestKilledAtRandom(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	l, s, _ := bench(t, &watcher{})
	dir := filepath.Dir(l.Cache)
	var before []assay.Trial
	for range 8 {
		if !start(t, dir, time.Duration(random.Int64N(int64(time.Second)))) {
			break
		}
		now := trialsOf(t, s)
		if len(now) < len(before) || len(before) > 0 && !reflect.DeepEqual(now[:len(before)], before) {
			t.Fatalf("after a kill: got %d trials, want the %d there were, and more", len(now), len(before))
		}
		before = now
	}
	if start(t, dir, 10*time.Minute) {
		t.Fatal("the run does not end")
	}
	type place struct {
		driver string
		launch int
		twin   bool
	}
	seen := map[place]bool{}
	for _, trial := range trialsOf(t, s) {
		p := place{trial.Cell.Driver, trial.Launch, trial.Twin}
		if seen[p] || trial.Outcome != assay.OK {
			t.Errorf("got %+v, %s (%s); want each place once, and right", p, trial.Outcome, trial.Reason)
		}
		seen[p] = true
	}
	if len(seen) < 3 {
		t.Errorf("got trials of %v, want both drivers and the twin", seen)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "cache", "*", "run-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "cache", "data", ".making-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// start starts or resumes the run in a process, and kills it after a time. It tells
// whether it was killed.
func start(t *testing.T, dir string, after time.Duration) bool {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	command := exec.Command(program)
	command.Env = append(os.Environ(), runVariable+"="+dir)
	output, err := os.Create(filepath.Join(dir, "output"))
	must(t, err)
	defer output.Close()
	command.Stdout, command.Stderr = output, output
	must(t, command.Start())
	timer := time.AfterFunc(after, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	err = command.Wait()
	if err != nil && command.ProcessState.Exited() {
		said, _ := os.ReadFile(output.Name())
		t.Fatalf("got %v, want that it is killed or ends well\n%s", err, said)
	}
	return err != nil
}

// trialsOf are the trials of the one run that there is.
func trialsOf(t *testing.T, s *store.Store) (all []assay.Trial) {
	t.Helper()
	runs, err := s.Runs(t.Context())
	if err != nil || len(runs) > 1 {
		t.Fatalf("got %d runs, %v; want one at most", len(runs), err)
	}
	for _, run := range runs {
		for trial, err := range s.Trials(t.Context(), run.ID) {
			must(t, err)
			all = append(all, trial)
		}
	}
	return all
}
