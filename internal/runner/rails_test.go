//go:build unix

package runner

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/plan"
	"assay/kit/postgres/cluster"
	"assay/plans"
)

// rails is a configuration of the plan rails for one driver, with the real worker, on the
// system's SQLite.
func rails(t *testing.T, driver string, only map[string][]string) (*Config, *[]assay.Trial) {
	t.Helper()
	if err := exec.Command("ruby", "-e", "require 'active_record'; require 'sqlite3'; require 'pg'").Run(); err != nil {
		t.Skip("no Ruby with ActiveRecord: ", err)
	}
	program, err := filepath.Abs(filepath.Join("..", "..", "workers", driver, "worker"))
	must(t, err)
	return mapped(t, "rails", driver, Program{Path: program, Digest: "here"}, only)
}

// mapped is a configuration of a built-in plan's cells of one driver, made small.
func mapped(t *testing.T, name, driver string, program Program, only map[string][]string) (*Config, *[]assay.Trial) {
	t.Helper()
	text, _ := plans.Read(name)
	small := strings.NewReplacer("n: 4}", "n: 2}", "count: 2", "count: 1").Replace(string(text))
	p, err := plan.Decode(name+".yaml", []byte(small))
	must(t, err)
	cases, err := p.Expand([]string{driver})
	if err == nil {
		cases, err = plan.Select(cases, only)
	}
	must(t, err)
	work, dir := newWorkspace(t)
	trials := new([]assay.Trial)
	return &Config{Cases: cases, Programs: map[string]Program{driver: program}, Baseline: assay.ParseBaseline(driver),
		Machine: Machine{Data: dataset.Cache{Dir: filepath.Join(dir, "data")}, Work: work}, Seed: 1, Launches: 1, Budget: time.Hour,
		Precision: 1e6, Timeout: time.Minute, Emit: func(trial assay.Trial) error { *trials = append(*trials, trial); return nil }}, trials
}

// launchOnce measures each group of a configuration in one launch, without
// twins.
func launchOnce(t *testing.T, config *Config) {
	t.Helper()
	r, err := Prepare(t.Context(), *config)
	must(t, err)
	for _, g := range r.groups {
		g.members = slices.DeleteFunc(g.members, func(m *member) bool { return m.twin })
		must(t, r.launch(t.Context(), g, g.members))
	}
	must(t, r.sumUp(true))
}

// Every operation of ActiveRecord does what the plan says that it does, on
// connections that all have the settings.
func TestRailsOperations(t *testing.T) {
	config, trials := rails(t, "activerecord", map[string][]string{"profile": {"tuned"}})
	launchOnce(t, config)
	allRight(t, *trials, 5, assay.Consistent)
}

func TestRailsOnPostgreSQL(t *testing.T) {
	if _, err := cluster.Find(t.Context()); errors.Is(err, cluster.ErrMissing) {
		t.Skip(err)
	}
	config, trials := rails(t, "activerecord-postgresql", map[string][]string{"profile": {"postgresql-async"}})
	launchOnce(t, config)
	allRight(t, *trials, 1, assay.Consistent)
}

// allRight checks that the 38 operations, their sum and the two in parallel were
// measured, with so many settings asked for and proved.
func allRight(t *testing.T, trials []assay.Trial, settings int, claimed assay.Durability) {
	t.Helper()
	seen := map[string]bool{}
	for _, trial := range trials {
		c := trial.Cell
		seen[c.Operation+" "+assay.TransactionString(c.Transaction)] = true
		// Threads of Rails 6.1 that write at once wait with Ruby's lock held.
		locked := strings.HasSuffix(c.Operation, "_parallel") && strings.Contains(trial.Reason, "database is locked")
		if !locked && (trial.Outcome != assay.OK || trial.Figures[assay.NsPerOp] <= 0) {
			t.Errorf("%s %d: %s: %s", c.Operation, c.Transaction, trial.Outcome, trial.Reason)
		}
		if trial.Durability != claimed && trial.Durability != "" || trial.Durability == "" && c.Operation == "total" {
			t.Errorf("%s: durability %q", c.Operation, trial.Durability)
		}
		applied := 0
		for _, s := range trial.Settings {
			if s.Requested != "" && s.Applied && s.Connection == "writer-1..writer-5 (5)" {
				applied++
			}
		}
		if applied != settings {
			t.Errorf("%s: %d of %d settings are proved on all five connections: %+v", c.Operation, applied, settings, trial.Settings)
		}
	}
	if len(seen) != 38+1+2 {
		t.Errorf("%d operations, want 38, their sum and two in parallel: %v", len(seen), seen)
	}
}

// killer kills the worker whose talk it hears when it is asked for something.
type killer struct {
	sync.Mutex
	at     string
	kind   string
	killed []int
}

func (k *killer) Write(line []byte) (int, error) {
	k.Lock()
	defer k.Unlock()
	var pid int
	if bytes.Contains(line, []byte(k.at)) && bytes.Contains(line, []byte(k.kind)) && len(k.killed) == 0 {
		if _, err := fmt.Sscan(string(line), &pid); err == nil && pid > 1 {
			k.killed = append(k.killed, pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return len(line), nil
}

// A Ruby process that is killed in the middle costs its operation, and leaves
// nothing behind.
func TestRailsKilled(t *testing.T) {
	config, trials := rails(t, "activerecord", map[string][]string{"profile": {"tuned"}, "workload": {"suite"}, "transaction": {"none"},
		"operation": {"model_object_creation", "model_object_destruction", "heavy_threading"}})
	k := &killer{at: "model_object_destruction", kind: `"type":"measure"`}
	config.Wire = k
	launchOnce(t, config)
	if len(k.killed) != 1 {
		t.Fatalf("killed %v", k.killed)
	}
	outcomes := map[string]int{}
	for _, trial := range *trials {
		outcomes[trial.Cell.Operation+" "+string(trial.Outcome)]++
		if trial.Outcome == assay.Failed && !strings.Contains(trial.Reason, "signal: killed") {
			t.Errorf("%s: %s", trial.Cell.Operation, trial.Reason)
		}
	}
	want := map[string]int{"model_object_creation ok": 1, "model_object_destruction failed": 1, "heavy_threading ok": 1}
	if !maps.Equal(outcomes, want) {
		t.Errorf("outcomes %v, want %v", outcomes, want)
	}
	if alive(k.killed[0]) {
		t.Errorf("process %d is there still", k.killed[0])
	}
}
