package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"assay/internal/build"
	"assay/kit/postgres/cluster"
	"assay/kit/process"
	"assay/kit/wire"

	"github.com/spf13/cobra"
)

func (a *app) driversCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "drivers",
		Short: "List the drivers: versions, engine, API, licence; with --build of those too that were not built yet",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.listDrivers(cmd.Context(), all) },
	}
	cmd.Flags().BoolVar(&all, "build", false, "build the workers that are not built yet")
	return cmd
}

func (a *app) listDrivers(ctx context.Context, all bool) error {
	b, err := a.builder(false)
	if err != nil {
		return err
	}
	drivers, err := b.Source.Drivers()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DRIVER\tVERSION\tENGINE\tCGO\tAPI\tLICENCE\tRELEASED\tABOUT")
	var unbuilt, problems []string
	for _, d := range drivers {
		target, built, problem := a.describe(ctx, b, d, all)
		if ctx.Err() != nil {
			return &exitError{status: statusInterrupted, err: errors.New("interrupted")}
		}
		if problem != "" {
			problems = append(problems, d.Name+": not available: "+problem)
		} else if !built {
			unbuilt = append(unbuilt, d.Name)
		}
		listDriver(ctx, w, d, target)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(unbuilt) > 0 {
		fmt.Fprintf(a.stdout, "\nNot built yet: %s. Run assay drivers --build to ask them what they are.\n", strings.Join(unbuilt, ", "))
	}
	for _, problem := range problems {
		fmt.Fprintln(a.stdout, "\n"+problem)
	}
	return nil
}

// listDriver prints one line. What is not known is a dash.
func listDriver(ctx context.Context, w io.Writer, d build.Driver, target wire.Target) {
	library, err := d.Library(ctx)
	if err != nil {
		library = build.Module{} // it was not fetched yet: nothing is known
	}
	released := ""
	if !library.Released.IsZero() {
		released = library.Released.Format(time.DateOnly)
	}
	version := target.DriverVersion
	if version == "" && !d.C && !d.Script { // of these, the version of SQLite is shown, which is not the module's
		version = d.Version
	}
	columns := []string{d.Name, version, strings.TrimSpace(target.Engine + " " + strings.TrimSuffix(target.EngineVersion, "server")),
		target.Facts["cgo"], target.Facts["api"], library.Licence, released, d.About}
	for i, text := range columns {
		columns[i] = orDash(text)
	}
	fmt.Fprintln(w, strings.Join(columns, "\t"))
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// describe asks a worker what it is, where it is built or to be built. The last
// result says why nothing is known, with what to do.
func (a *app) describe(ctx context.Context, b *build.Builder, d build.Driver, all bool) (target wire.Target, built bool, problem string) {
	spec := build.Spec{Name: d.Name}
	worker, built, err := b.Cached(ctx, spec)
	if err == nil && !built && all {
		worker, err = b.Build(ctx, spec)
		built = true
	}
	if err == nil && built {
		target, err = a.identify(ctx, worker)
	}
	if err != nil {
		return target, built, err.Error()
	}
	return target, built, ""
}

// identify starts a worker and asks what it is. The version of a server is that
// of the one that is installed.
func (a *app) identify(ctx context.Context, w build.Worker) (wire.Target, error) {
	worker, err := process.Start(ctx, w.Program, processOptions(a, ""))
	if err != nil {
		return wire.Target{}, err
	}
	_, err = worker.Stop(ctx)
	target := worker.Hello().Target
	if err != nil || !slices.Contains(worker.Hello().Capabilities, wire.CapPostgreSQL) {
		return target, err
	}
	server, err := cluster.Find(ctx)
	target.EngineVersion = server.Version
	return target, err
}

// calls tells whether a worker has operations of its own only. One that needs
// no build is asked; where it does not say, its cells will tell.
func calls(ctx context.Context, b *build.Builder, d build.Driver) bool {
	if !d.Prebuilt {
		return d.Script
	}
	ctx, cancel := context.WithTimeout(ctx, helloPatience)
	defer cancel()
	worker, err := process.Start(ctx, filepath.Join(b.Source.Dir, "workers", d.Name, "worker"), process.Options{})
	if err != nil {
		return false
	}
	defer worker.Kill()
	can := worker.Hello().Capabilities
	return slices.Contains(can, wire.CapCall) && !slices.Contains(can, wire.CapSQL)
}

// helloPatience is how long a worker may take to say what it is.
const helloPatience = 10 * time.Second
