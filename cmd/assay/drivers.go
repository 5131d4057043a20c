package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"assay/internal/build"
	"assay/kit/wire"

	"github.com/spf13/cobra"
)

func (a *app) driversCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "drivers",
		Short: "List the drivers: versions, engine, API, licence; --build also builds and lists those not built yet",
		Args:  arguments(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.listDrivers(cmd.Context(), all) },
	}
	cmd.Flags().BoolVar(&all, "build", false, "build the workers that are not built yet")
	return cmd
}

func (a *app) listDrivers(ctx context.Context, all bool) error {
	l, err := a.lab(false)
	if err != nil {
		return err
	}
	drivers, err := l.Source.Drivers()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DRIVER\tVERSION\tENGINE\tCGO\tAPI\tLICENCE\tRELEASED\tABOUT")
	var unbuilt, problems []string
	for _, d := range drivers {
		described := l.Describe(ctx, d, all)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if described.Problem != nil {
			problems = append(problems, d.Name+": not available: "+described.Problem.Error())
		} else if !described.Built {
			unbuilt = append(unbuilt, d.Name)
		}
		listDriver(ctx, w, d, described.Target)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(unbuilt) > 0 {
		fmt.Fprintf(a.stdout, "\nNot built yet: %s. Run assay drivers --build to build and describe them.\n", strings.Join(unbuilt, ", "))
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
		columns[i] = cmp.Or(text, "-")
	}
	fmt.Fprintln(w, strings.Join(columns, "\t"))
}
