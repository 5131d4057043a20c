package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/analysis/wording"
	"assay/internal/build"
	"assay/internal/build/scaffold"
	"assay/internal/lab"
	"assay/internal/sys/file"
	"assay/kit/process"
	"assay/kit/workertest"
)

func (a *app) newWorkerCommand() *cobra.Command {
	var language, like string
	cmd := &cobra.Command{
		Use:   "new-worker NAME",
		Short: "Write a worker for a new driver, which passes its tests, into the checkout of assay that you are in",
		Long: "Write a worker for a new driver into the checkout of assay that you are in.\n\n" +
			"It is a copy of a worker that passes its tests, under the new name: change the parts that depend on the driver.\n" +
			"CONTRIBUTING.md says how.",
		Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			if spec, err := build.ParseSpec(args[0]); err != nil || spec.String() != spec.Name {
				return usage(fmt.Errorf("%q is not a name for a worker: want letters, digits, - and _", args[0]))
			}
			like = cmp.Or(like, scaffold.Example(language))
			if like == "" {
				return usage(fmt.Errorf("--language %q: want one of %s", language, strings.Join(scaffold.Languages(), ", ")))
			}
			here, err := os.Getwd()
			if err != nil {
				return err
			}
			checkout, err := scaffold.Checkout(here)
			if err != nil {
				return err
			}
			dir, err := scaffold.Write(checkout, args[0], like)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "%s: a copy of workers/%s under its name; change the parts that depend on the driver.\n%sTry it: %s\n",
				dir, like, sourceAdvice(checkout), howToCheck(os.Args[0], filepath.Base(dir)))
			return nil
		},
	}
	cmd.Flags().StringVar(&language, "language", "", "what to write it in: "+strings.Join(scaffold.Languages(), ", "))
	cmd.Flags().StringVar(&like, "like", "", "worker to copy, such as bbolt or redb for a key-value store")
	cmd.MarkFlagsMutuallyExclusive("language", "like")
	return cmd
}

// howToCheck is the command that checks a worker, for a shell, by the program as the user called it: in a
// checkout it is bin/assay, which no PATH has.
func howToCheck(program, worker string) string {
	if strings.ContainsAny(program, " '\"$`\\") {
		program = "assay"
	}
	return fmt.Sprintf(`%[1]s check "$(%[1]s build %[2]s)"`, program, worker)
}

// sourceAdvice tells how this program builds workers of a checkout, where it takes
// another.
func sourceAdvice(checkout string) string {
	cache, err := cacheDir()
	if err == nil {
		if source, err := build.FindSource(cache); err == nil && file.Same(source.Dir, checkout) {
			return ""
		}
	}
	return "This program takes workers from elsewhere: export ASSAY_SOURCE=" + checkout + "\n"
}

func (a *app) buildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build DRIVER[@VERSION][:OPTION[=VALUE]]...",
		Short: "Build worker programs and print their paths",
		Args:  arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.lab(false)
			if err != nil {
				return err
			}
			for _, arg := range args {
				worker, err := l.Build(cmd.Context(), arg)
				if err != nil {
					return err
				}
				fmt.Fprintln(a.stdout, worker.Program)
			}
			return nil
		},
	}
}

func (a *app) checkCommand() *cobra.Command {
	options := workertest.Options{}
	cmd := &cobra.Command{
		Use:   "check WORKER",
		Short: "Run the conformance suite against a worker program, in any language",
		Long: "Run the conformance suite against a worker program, in any language.\n\n" +
			"Each check that applies starts the program anew, in a fresh folder. docs/protocol.md has the rules that they hold.\n" +
			"ASSAY_TRACE=wire copies the messages to and from the worker to stderr.",
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			program, err := process.Find(args[0])
			if err != nil {
				return usage(err, "assay build DRIVER prints the path of a built worker")
			}
			options.Trace = a.wireTrace()
			if len(workertest.Names(options)) == 0 {
				return usage(fmt.Errorf("--only %s matches no check", strings.Join(options.Only, ",")), "docs/protocol.md has parts of their names")
			}
			a.cleansUp.Store(true)
			var passed, failed, skipped int
			for result := range workertest.Run(cmd.Context(), program, options) {
				fmt.Fprintln(a.stdout, result)
				switch {
				case result.Skipped:
					skipped++
				case result.OK:
					passed++
				default:
					failed++
				}
			}
			if cmd.Context().Err() != nil {
				return cmd.Context().Err()
			}
			fmt.Fprintf(a.stdout, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
			if failed > 0 {
				return &exitError{status: statusFailed, err: fmt.Errorf("%s failed", wording.Plural(failed, "check"))}
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&options.Only, "only", nil, "run only the checks whose names contain this; may be repeated")
	return cmd
}

func (a *app) bundleCommand() *cobra.Command {
	var drivers []string
	var output string
	cmd := &cobra.Command{
		Use:   "bundle PLAN -o FILE.tar.gz",
		Short: "Write assay, built workers, a plan and its data to one file, to measure on machines without Go, compiler or network",
		Args:  arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usage(errors.New("no file to write"), "name one: -o FILE.tar.gz")
			}
			if err := checkPlace(output); err != nil {
				return usage(err)
			}
			if info, err := os.Lstat(output); err == nil && !info.Mode().IsRegular() { // it would be replaced
				return usage(fmt.Errorf("%s is not a regular file", output))
			}
			request, err := runFlags{drivers: drivers}.request(args[0])
			if err != nil {
				return err
			}
			return a.bundle(cmd.Context(), request, output)
		},
	}
	cmd.Flags().StringSliceVar(&drivers, "drivers", nil, "drivers instead of the plan's: NAME[@VERSION],..., * for the maintained Go drivers of its engine, or all")
	addFile(cmd, &output, "output", "o", "file to write")
	return cmd
}

// bundle writes a bundle, whole or not at all.
func (a *app) bundle(ctx context.Context, request lab.Request, path string) error {
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(path), ".assay-bundle-")
	if err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	defer os.Remove(out.Name()) // of one that is whole nothing is left there
	folder, _, _ := strings.Cut(filepath.Base(path), ".")
	folder = cmp.Or(folder, request.Plan.Name)
	if err := errors.Join(l.WriteBundle(ctx, request, out, folder), out.Chmod(0o644), out.Close()); err != nil {
		return err
	}
	if err := os.Rename(out.Name(), path); err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	a.progress.close()
	fmt.Fprintf(a.stderr, "%s is for %s/%s; on such a machine: tar -xzf %s && %s/assay run\n", path, runtime.GOOS, runtime.GOARCH, filepath.Base(path), folder)
	return nil
}
