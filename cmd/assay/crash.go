package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/internal/advisories"
	"assay/internal/analysis/wording"
	"assay/internal/crash"
	"assay/internal/lab"
	"assay/internal/plan"
	"assay/internal/store"
)

// crashFlags holds what the crash subcommand was asked for.
type crashFlags struct {
	crash.Request
	drivers []string
	only    []string
	faults  []string
	replay  string
	keep    string
	outputs[*crash.Report]
}

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
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("states") && !cmd.Flags().Changed("budget") {
				flags.Budget = 0
			}
			if err := errors.Join(checkPlace(flags.file), checkPlace(flags.keep)); err != nil {
				return usage(err)
			}
			if flags.replay != "" {
				for _, name := range []string{"drivers", "only", "faults", "states", "budget", "seed", "format", "output"} {
					if len(args) > 0 || cmd.Flags().Changed(name) {
						return usage(errors.New("--replay ID makes one state again, and takes --keep only: leave the plan and other flags out"))
					}
				}
				return a.replay(cmd.Context(), flags)
			}
			return a.crash(cmd.Context(), planArgument(args), flags)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&flags.drivers, "drivers", nil, "drivers instead of the plan's: NAME[@VERSION],..., * for the maintained Go drivers of its engine, or all")
	f.StringArrayVar(&flags.only, "only", nil, "try only cells with KEY=VALUE[,VALUE]; may be repeated")
	f.StringSliceVar(&flags.faults, "faults", wording.Texts(crash.Usual()), "what to do to the databases: "+strings.Join(wording.Texts(crash.Faults()), ", "))
	f.IntVar(&flags.States, "states", 0, "check this many states of each target and profile (default: as many as the budget allows)")
	f.DurationVar(&flags.Budget, "budget", crash.DefaultBudget, "time for all states, builds excluded; without limit where --states is given alone")
	f.Uint64Var(&flags.Seed, "seed", 1, "seed of the workload and of the choice of states")
	f.StringVar(&flags.replay, "replay", "", "make the state of the finding with this ID again, and show what is wrong with it")
	flags.addOutput(cmd, crash.Formats, "file to write instead of standard output")
	addFile(cmd, &flags.keep, "keep", "", "with --replay: write the image of the disk to this file")
	return cmd
}

func (f crashFlags) request(p *plan.Plan, findings string) (crash.Request, error) {
	r := f.Request
	r.Plan, r.Findings = p.Name, findings
	for _, name := range f.faults {
		r.Faults = append(r.Faults, assay.Fault(name))
	}
	return r, usage(r.Check())
}

// crash tries all targets and profiles of a plan.
func (a *app) crash(ctx context.Context, name string, flags crashFlags) error {
	if flags.keep != "" {
		return usage(errors.New("--keep needs --replay"))
	}
	p, err := readPlan(name)
	if err != nil {
		return err
	}
	findings, err := a.findingsDir()
	if err != nil {
		return err
	}
	request, err := flags.request(p, findings)
	if err != nil {
		return err
	}
	only, err := parseOnly(flags.only)
	if err != nil {
		return err
	}
	s, err := a.localStore(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.CheckProofs(ctx); err != nil {
		return err
	}
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	results, err := a.proveAll(ctx, l, s, lab.Request{Plan: p, PlanFile: planFile(name), Drivers: flags.drivers, Only: only}, request)
	a.pushProofs(ctx, s)
	if err != nil {
		return a.stoppedCrash(ctx, results, err)
	}
	r := &crash.Report{Title: p.Name, Command: a.commandLine(commandOf(name, flags)...), Results: results,
		Replay: func(id string) string { return a.commandLine("crash", "--replay", id) }, Width: a.columns()}
	if err := flags.write(a.stdout, r); err != nil {
		return err
	}
	return r.Err()
}

// stoppedCrash says what was kept when a crash was interrupted.
func (a *app) stoppedCrash(ctx context.Context, results []crash.Result, err error) error {
	hint := "no state was checked yet"
	if slices.ContainsFunc(results, func(r crash.Result) bool { return r.States > 0 }) {
		hint = "what was checked is kept, and stands beside the durability in later reports"
	}
	return interrupted(ctx, err, hint)
}

// proveAll tries all candidates of a plan; those that cannot be built come first.
func (a *app) proveAll(ctx context.Context, l *lab.Lab, s *store.Store, of lab.Request, request crash.Request) ([]crash.Result, error) {
	candidates, unbuilt, err := l.Candidates(ctx, of)
	if err != nil {
		return nil, err
	}
	a.progress.close()
	results, err := a.proofs(ctx, l, s, of.Plan.Text, request.Config(subjects(candidates)))
	return append(crash.NotBuilt(unbuilt, func(driver string) string { return a.commandLine("build", driver) }), results...), err
}

// subjects are candidates as package crash has them.
func subjects(candidates []lab.Candidate) []crash.Subject {
	var all []crash.Subject
	for _, c := range candidates {
		all = append(all, crash.Subject{Name: c.Name, Driver: c.Driver, Options: c.Program.Options, Build: c.Program.Digest, Program: c.Program.Path,
			Profile: c.Profile, KV: c.KV, Initial: c.Empty})
	}
	return all
}

// proofs does tasks, and keeps each proof at once: what ends the rest does not undo it.
func (a *app) proofs(ctx context.Context, l *lab.Lab, s *store.Store, planText string, config crash.Config) (results []crash.Result, err error) {
	config.Dir, config.Self = filepath.Join(l.Cache, "crash"), []string{lab.Self(), crashDisk}
	config.Done = func(r crash.Result) error {
		r.Notes = append(r.Notes, knownRace(r)...)
		results = append(results, r)
		fmt.Fprintf(a.stderr, "%s %s, %s: %s (%s)\n", r.Task.Driver, r.Task.Profile, r.Task.Fault, r.Line(), wording.Brief(r.Took))
		if proof := r.Proof(); proof.States > 0 {
			return l.KeepProof(context.WithoutCancel(ctx), s, planText, proof)
		}
		return nil
	}
	err = crash.Run(ctx, config)
	return results, err
}

// knownRace says of a version of SQLite that is known for it what became of two processes here.
func knownRace(r crash.Result) (notes []string) {
	if r.States == 0 || r.Task.Fault != assay.KillShared && r.Task.Fault != assay.PowerShared {
		return nil
	}
	for _, known := range advisories.OfTarget(assay.Target{Engine: r.Engine, EngineVersion: r.Version}) {
		if known.ID == "sqlite-wal-reset" {
			notes = append(notes, fmt.Sprintf("%s, %s: %s %s is known for this: %s (%s). Tried here for %s: %s",
				r.Task.Driver, r.Task.Profile, r.Engine, r.Version, known.Sentence(), known.URL, wording.Brief(r.Took), r.Line()))
		}
	}
	return notes
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
	if !slices.Equal(flags.faults, wording.Texts(crash.Usual())) {
		words = append(words, "--faults", strings.Join(flags.faults, ","))
	}
	if flags.States > 0 {
		words = append(words, "--states", fmt.Sprint(flags.States))
	}
	if flags.Budget > 0 && (flags.States > 0 || flags.Budget != crash.DefaultBudget) { // --states alone has no limit
		words = append(words, "--budget", flags.Budget.String())
	}
	return append(words, "--seed", fmt.Sprint(flags.Seed))
}

// findingsDir returns where counterexamples lie: beside the results.
func (a *app) findingsDir() (string, error) {
	location, err := a.localLocation()
	return filepath.Join(filepath.Dir(location), "crash"), err
}

// crashDisk is the hidden command that serves one disk, in a process of its own.
const crashDisk = "crash-disk"

// crashDiskCommand does tasks from its input.
func (a *app) crashDiskCommand() *cobra.Command {
	return &cobra.Command{Use: crashDisk + " FOLDER", Hidden: true, Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.cleansUp.Store(true) // a disk that is mounted
			return crash.Serve(cmd.Context(), args[0], os.Stdin, a.stdout)
		}}
}

// crashHostCommand runs a server where the disk is mounted, in a process of its own.
func (a *app) crashHostCommand() *cobra.Command {
	return &cobra.Command{Use: crash.HostCommand + " DATA SOCKET SETTINGS", Hidden: true, Args: arguments(3, 3),
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
	r := crash.Replay{Findings: findings, ID: flags.replay}
	finding, err := r.Finding()
	if err != nil {
		return usage(err)
	}
	if reason := crash.Missing(finding.Task.Fault, finding.Task.FileSystem); reason != "" {
		return errors.New(reason)
	}
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	worker, err := l.Build(ctx, finding.Task.Driver)
	if err != nil {
		return err
	}
	a.progress.close()
	r.Program = worker.Program
	if flags.keep != "" {
		if r.Keep, err = filepath.Abs(flags.keep); err != nil {
			return err
		}
	}
	again, err := r.Do(ctx, filepath.Join(l.Cache, "crash"), lab.Self(), crashDisk)
	if err != nil {
		return err
	}
	fmt.Fprint(a.stdout, again.Text())
	if r.Keep != "" {
		what := "an image of the disk to mount -o loop"
		if info, err := os.Stat(r.Keep); err == nil && info.IsDir() {
			what = "a folder with the files"
		}
		fmt.Fprintf(a.stdout, "the state is in %s, %s\n", r.Keep, what)
	}
	return again.Err()
}
