package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay"
	"assay/internal/crash"
	"assay/internal/lab"
	"assay/internal/plan"
	"assay/internal/store"
	"assay/internal/wording"
)

// crashFlags are what the crash subcommand was asked for.
type crashFlags struct {
	drivers []string
	only    []string
	faults  []string
	fs      assay.FileSystem
	states  int
	budget  time.Duration
	seed    uint64
	replay  string
	keep    string
	outputs[*crash.Report]
}

// defaultCrashBudget is for all targets and profiles together.
const defaultCrashBudget = 2 * time.Minute

func (a *app) crashCommand() *cobra.Command {
	var flags crashFlags
	cmd := &cobra.Command{
		Use:   "crash [PLAN]",
		Short: "Cut the power under each target and profile of a plan, and check what their durability is worth",
		Long: `Runs a workload of transactions on a disk with a volatile write cache, cuts the power in many
states, and verifies in fresh processes what is recovered: every acknowledged commit, whole
transactions, the engine's own check, and that it can be written to. The result stands in
later reports beside the durability that the settings claim. Power cuts of a disk need root,
/dev/fuse and loop devices; without root a weaker model is tried. Exit status 1: a promise was
refuted, a control that is known to lose data was not caught, or a supported fault was not tried.`,
		Args: arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "quick"
			if len(args) > 0 {
				name = args[0]
			}
			if cmd.Flags().Changed("states") && !cmd.Flags().Changed("budget") {
				flags.budget = 0
			}
			if flags.replay != "" {
				return a.replay(cmd.Context(), flags)
			}
			return a.crash(cmd.Context(), name, flags)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&flags.drivers, "drivers", nil, "drivers instead of the plan's: NAME[@VERSION],... or * for all")
	f.StringArrayVar(&flags.only, "only", nil, "try only cells with KEY=VALUE[,VALUE]; may be repeated")
	f.StringSliceVar(&flags.faults, "faults", names(crash.Usual()), "what to do to the databases: "+strings.Join(names(crash.Faults()), ", "))
	f.StringVar((*string)(&flags.fs), "filesystem", string(assay.Ext4), "file system of the disk: "+strings.Join(names(crash.FileSystems()), "|"))
	f.IntVar(&flags.states, "states", 0, "check this many states of each target and profile (default: as many as the budget allows)")
	f.DurationVar(&flags.budget, "budget", defaultCrashBudget, "time for all states, builds excluded; without limit where --states is given alone")
	f.Uint64Var(&flags.seed, "seed", 1, "seed of the workload and of the choice of states")
	f.StringVar(&flags.replay, "replay", "", "make the state of the finding with this ID again, and show what is wrong with it")
	flags.fileFlags(cmd, crash.Formats, "file to write instead of standard output")
	f.StringVar(&flags.keep, "keep", "", "with --replay: leave the image of the disk in this file")
	return cmd
}

func names[T ~string](all []T) []string {
	var names []string
	for _, one := range all {
		names = append(names, string(one))
	}
	return names
}

// check finds what is wrong with the flags.
func (f crashFlags) check() error {
	switch {
	case f.states < 0:
		return usage(fmt.Errorf("--states %d is negative", f.states))
	case f.budget < 0:
		return usage(fmt.Errorf("--budget %s is negative", f.budget))
	case f.keep != "":
		return usage(errors.New("--keep needs --replay"))
	case !slices.Contains(crash.FileSystems(), f.fs):
		return usage(fmt.Errorf("unknown file system %q: want %s", f.fs, strings.Join(names(crash.FileSystems()), ", ")))
	}
	for _, name := range f.faults {
		if !slices.Contains(names(crash.Faults()), name) {
			return usage(fmt.Errorf("unknown fault %q: want %s", name, strings.Join(names(crash.Faults()), ", ")))
		}
	}
	return nil
}

// crash tries all targets and profiles of a plan.
func (a *app) crash(ctx context.Context, name string, flags crashFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	p, err := readPlan(name)
	if err != nil {
		return err
	}
	only, err := parseOnly(flags.only)
	if err != nil {
		return err
	}
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CheckProofs(ctx); err != nil {
		return err
	}
	findings, err := a.findingsDir()
	if err != nil {
		return err
	}
	progress := newProgress(a, false)
	defer progress.close()
	l, err := a.lab(progress)
	if err != nil {
		return err
	}
	candidates, unbuilt, err := l.Candidates(ctx, lab.Request{Plan: p, PlanFile: planFile(name), Drivers: flags.drivers, Only: only})
	if err != nil {
		return err
	}
	progress.close()
	tasks := crashTasks(p, candidates, findings, flags)
	results, err := a.proofs(ctx, l, s, p.Text, tasks, flags.budget)
	if err != nil {
		return err
	}
	results = append(a.couldNotBuild(unbuilt), results...)
	r := &crash.Report{Title: p.Name, Command: a.commandLine(commandOf(name, flags)...), Results: results,
		Replay: func(id string) string { return a.commandLine("crash", "--replay", id) }}
	undelivered := l.Deliver(ctx, s)
	if err := flags.write(a.stdout, r); err != nil {
		return err
	}
	if err := verdict(results); err != nil {
		if undelivered != nil {
			fmt.Fprintln(a.stderr, "assay: note:", undelivered)
		}
		return err
	}
	return undelivered
}

// proofs does tasks, and keeps each proof at once: what ends the rest does not undo it.
func (a *app) proofs(ctx context.Context, l *lab.Lab, s *store.Store, planText string, tasks []crash.Task, budget time.Duration) ([]crash.Result, error) {
	config := crash.Config{Tasks: tasks, Dir: filepath.Join(l.Cache, "crash"), Self: []string{lab.Self(), crashDisk}}
	config.Lanes = min(runtime.NumCPU(), len(tasks))
	crash.Share(tasks, config.Lanes, budget)
	var results []crash.Result
	config.Done = func(r crash.Result) error {
		results = append(results, r)
		fmt.Fprintf(a.stderr, "%s %s, %s: %s (%s)\n", r.Task.Driver, r.Task.Profile, r.Task.Fault, r.Line(), wording.Brief(r.Took))
		if proof := r.Proof(); proof.States > 0 {
			return l.KeepProof(ctx, s, planText, proof)
		}
		return nil
	}
	err := crash.Run(ctx, config)
	return results, err
}

// commandOf is the command that does the same again.
func commandOf(plan string, flags crashFlags) []string {
	words := []string{"crash", plan}
	if len(flags.drivers) > 0 {
		words = append(words, "--drivers", strings.Join(flags.drivers, ","))
	}
	for _, only := range flags.only {
		words = append(words, "--only", only)
	}
	if !slices.Equal(flags.faults, names(crash.Usual())) {
		words = append(words, "--faults", strings.Join(flags.faults, ","))
	}
	if flags.fs != assay.Ext4 {
		words = append(words, "--filesystem", string(flags.fs))
	}
	if flags.states > 0 {
		words = append(words, "--states", fmt.Sprint(flags.states))
	}
	if flags.budget > 0 && flags.budget != defaultCrashBudget {
		words = append(words, "--budget", flags.budget.String())
	}
	return append(words, "--seed", fmt.Sprint(flags.seed))
}

// findingsDir is where counterexamples lie: beside the results.
func (a *app) findingsDir() (string, error) {
	dir, err := a.filesDir()
	return filepath.Join(dir, "crash"), err
}

// couldNotBuild are the results of drivers without a worker, each with what to do.
func (a *app) couldNotBuild(unbuilt []assay.Trial) []crash.Result {
	var all []crash.Result
	seen := map[string]bool{}
	for _, t := range unbuilt {
		task := crash.Task{Driver: t.Cell.Target(), Profile: t.Cell.Profile}
		if id := task.Driver + " " + task.Profile; !seen[id] {
			seen[id] = true
			result := crash.Result{Task: task, Outcome: t.Outcome, Reason: t.Reason}
			if result.Outcome == assay.Failed {
				result.Reason += "; all that the compiler says: " + a.commandLine("build", task.Driver)
			}
			all = append(all, result)
		}
	}
	return all
}

// crashTasks are the candidates, by fault, each with its controls.
func crashTasks(p *plan.Plan, candidates []lab.Candidate, findings string, flags crashFlags) []crash.Task {
	var tasks []crash.Task
	for _, name := range flags.faults {
		fault := assay.Fault(name)
		for _, c := range candidates {
			t := crash.Task{Driver: c.Driver, Options: c.Program.Options, Build: c.Program.Digest, Program: c.Program.Path, Plan: p.Name, Profile: c.Profile.Name,
				Settings: c.Profile.Settings, Once: c.Profile.Once, Each: c.Profile.Each, Initial: c.Empty, Fault: fault, FileSystem: crash.Available(fault, flags.fs), Seed: flags.seed,
				States: flags.states, Controls: true, Findings: findings}
			if c.KV {
				t.Bytes = crash.StoreBytes
			}
			if len(c.Profile.Raw) > 0 {
				if t.DSN = c.Profile.Raw[c.Name]; t.DSN == "" {
					continue // the profile is not for this driver
				}
			}
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// verdict says by its error what the results come to. What is unsupported counts
// only where nothing else was tried.
func verdict(results []crash.Result) error {
	refuted, void, failed, untried, tried := 0, 0, 0, 0, 0
	for _, r := range results {
		switch {
		case r.Outcome == assay.Unsupported:
		case r.Outcome != assay.OK:
			failed++
		case r.Void():
			void++
		case r.States == 0:
			untried++
		case r.Refuted() != crash.Unharmed:
			refuted++
		default:
			tried++
		}
	}
	switch {
	case void > 0:
		return fmt.Errorf("%s void: a control that must fail did not", wording.Plural(void, "result"))
	case failed > 0:
		return fmt.Errorf("%s could not be tried", wording.Plural(failed, "target"))
	case refuted > 0:
		return fmt.Errorf("%s refuted", wording.Plural(refuted, "promise"))
	case untried > 0:
		return fmt.Errorf("no state was checked for %s: give a larger --budget", wording.Plural(untried, "result"))
	case tried == 0:
		return errors.New("nothing was tried: these targets support none of the faults here; the report says why")
	}
	return nil
}

// crashDisk is the hidden command that serves one disk, in a process of its own.
const crashDisk = "crash-disk"

// crashDiskCommand does tasks from its input, or replays one finding.
func (a *app) crashDiskCommand() *cobra.Command {
	var replay, program, keep, findings string
	cmd := &cobra.Command{Use: crashDisk + " FOLDER", Hidden: true, Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.cleansUp.Store(true) // a disk that is mounted
			if replay == "" {
				return crash.Serve(cmd.Context(), args[0], os.Stdin, a.stdout)
			}
			again, err := crash.Replay(cmd.Context(), findings, replay, program, keep, args[0])
			if err != nil {
				return err
			}
			return json.NewEncoder(a.stdout).Encode(again)
		}}
	f := cmd.Flags()
	f.StringVar(&replay, "replay", "", "finding to show again, instead of tasks")
	f.StringVar(&findings, "findings", "", "folder of findings")
	f.StringVar(&program, "program", "", "worker")
	f.StringVar(&keep, "keep", "", "file for the image")
	return cmd
}

// crashHostCommand runs a server where the disk is mounted, in a process of its own.
func (a *app) crashHostCommand() *cobra.Command {
	return &cobra.Command{Use: crash.HostCommand + " DATA SOCKET SETTINGS", Hidden: true, Args: arguments(cobra.ExactArgs(3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.cleansUp.Store(true) // a server that runs
			return crash.Host(cmd.Context(), args[0], args[1], args[2], os.Stdin, a.stdout)
		}}
}

// replay makes the state of a finding again and shows what is wrong with it.
func (a *app) replay(ctx context.Context, flags crashFlags) error {
	findings, err := a.findingsDir()
	if err != nil {
		return err
	}
	finding, err := crash.Find(findings, flags.replay)
	if err != nil {
		return usage(err)
	}
	if reason := crash.Missing(finding.Task.Fault, finding.Task.FileSystem); reason != "" {
		return errors.New(reason)
	}
	progress := newProgress(a, false)
	defer progress.close()
	l, err := a.lab(progress)
	if err != nil {
		return err
	}
	worker, err := l.Build(ctx, finding.Task.Driver)
	if err != nil {
		return err
	}
	progress.close()
	keep := flags.keep
	if keep != "" {
		if keep, err = filepath.Abs(keep); err != nil {
			return err
		}
	}
	command := exec.Command(lab.Self(), crashDisk, "--replay", flags.replay, "--findings", findings, "--program", worker.Program, "--keep", keep)
	out, err := crash.Apart(ctx, filepath.Join(l.Cache, "crash"), command)
	if err != nil {
		return err
	}
	var again crash.Replayed
	if err := json.Unmarshal(out, &again); err != nil {
		return fmt.Errorf("the disk's answer: %w", err)
	}
	f := again.Finding
	fmt.Fprintf(a.stdout, "%s with profile %s of %s, %s: %s\nseed %d; %d transactions were acknowledged\nthen: %s: %s\nnow:  %s: %s\n", f.Task.Driver, f.Task.Profile, f.Task.Plan,
		f.Task.Fault, f.Circumstances(), f.Task.Seed, f.Acked, f.Damage, f.Words, again.Damage, again.Words)
	if keep != "" {
		fmt.Fprintf(a.stdout, "the state is in %s: a folder with the files, or an image of the disk to mount -o loop\n", keep)
	}
	if again.Damage != f.Damage {
		return fmt.Errorf("the state shows %q now, and %q when it was found", again.Damage, f.Damage)
	}
	return nil
}
