//go:build unix

package runner

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"assay"
	"assay/internal/build"
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
			config, trials := mapped(t, "orm", driver, Program{Path: worker.Program, Digest: worker.Digest}, nil)
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
