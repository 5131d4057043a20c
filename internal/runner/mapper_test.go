//go:build unix

package runner

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay"
	"assay/internal/build"
	"assay/internal/dataset"
	"assay/internal/plan"
)

// Object-relational mappers and plain SQL in Python do what the plan orm says, with
// the same answers; what a mapper has no way to do is unsupported.
func TestMappersAnswerAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("installs packages, and compiles SQLite")
	}
	cache, err := os.UserCacheDir()
	must(t, err)
	checkout, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	b := &build.Builder{Source: build.Source{Dir: checkout}, Cache: filepath.Join(cache, "assay")}
	for driver, unsupported := range map[string]string{"python": "", "sqlalchemy": "", "django": "eager-join"} {
		t.Run(driver, func(t *testing.T) {
			worker, err := b.Build(t.Context(), build.Spec{Name: driver})
			var lacks *build.NotInstalledError
			if errors.As(err, &lacks) || errors.Is(err, build.ErrUnreachable) {
				t.Skip(err)
			}
			must(t, err)
			config, trials := mapped(t, driver, worker)
			launchOnce(t, config)
			for _, trial := range *trials {
				want := assay.OK
				if trial.Cell.Operation == unsupported {
					want = assay.Unsupported
				}
				if trial.Outcome != want {
					t.Errorf("%s of %s: got %s (%s), want %s", trial.Cell.Operation, driver, trial.Outcome, trial.Reason, want)
				}
			}
			if len(*trials) != 12 {
				t.Errorf("%s: %d operations were measured, want 12", driver, len(*trials))
			}
		})
	}
}

// mapped is a configuration of the plan orm for one driver.
func mapped(t *testing.T, driver string, worker build.Worker) (*Config, *[]assay.Trial) {
	t.Helper()
	text, err := os.ReadFile("../../plans/orm.yaml")
	must(t, err)
	p, err := plan.Decode("orm.yaml", text)
	must(t, err)
	cases, err := p.Expand([]string{driver})
	must(t, err)
	work, dir := newWorkspace(t)
	trials := new([]assay.Trial)
	return &Config{Cases: cases, Programs: map[string]Program{driver: {Path: worker.Program, Digest: worker.Digest}}, Baseline: assay.ParseBaseline(driver),
		Machine: Machine{Data: dataset.Cache{Dir: filepath.Join(dir, "data")}, Work: work}, Seed: 1, Launches: 1, Budget: time.Hour,
		Precision: 1e6, Timeout: time.Minute, Emit: func(trial assay.Trial) error { *trials = append(*trials, trial); return nil }}, trials
}
